"""The forms of the monitors: a pause, limits, marks to return, a tolerance to try."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evaluations.marking.monitoring.rules.limits import LIMITS, Limit
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.monitoring import LONGEST_REASON
from evaluations.models import MarkingRound
from gradeapp.common import number_fields
from gradeapp.common.choices import choices_of
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput
from gradeapp.common.time_fields import LocalTimeField

LONGEST_ALIASES = 20_000
LONGEST_KEY = 19
LIMIT_NAMES = {
    "severity": _("Severity, % of full marks, at most"),
    "partner_share": _("More or less than the other teacher, % of full marks, at most"),
    "within_tolerance": _("Within the tolerance, %, at least"),
    "seed_hits": _("Seed answers hit, %, at least"),
    "self_consistency": _("Intra-rater checks within the tolerance, %, at least"),
    "safe_excess": _("Safe marks above the round’s share, %, at most"),
    "pace": _("Seconds relative to the round’s median, at least"),
}


class PauseForm(forms.Form):
    """Why a teacher is paused; the teacher reads it."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=LONGEST_REASON,
        help_text=_("The teacher can read this. Do not mention marks of other teachers."),
    )


class LimitsForm(forms.Form):
    """One number for each limit; an empty one means no limit."""

    def __init__(self, limits: Mapping[str, Limit], *args: Any) -> None:
        super().__init__(*args)
        for name, limit in LIMITS.items():
            stored = limits.get(name)
            scale = 100 if limit.percent else 1
            self.fields[name] = number_fields.DecimalField(
                label=LIMIT_NAMES[name],
                required=False,
                min_value=0,
                max_value=100 if limit.percent else None,
                decimal_places=2,
                initial=plain(stored.value * scale) if stored else None,
            )

    def show_stored(self) -> None:
        """Say at each field with another number than the stored one which is stored."""
        for name in LIMITS:
            initial = self.fields[name].initial
            stored = None if initial is None else Decimal(initial)
            if self.cleaned_data.get(name) != stored:
                now = gettext("none") if stored is None else initial
                self[name].help_text = gettext("Set now: %(value)s") % {"value": now}

    def limits(self) -> dict[str, Decimal | None]:
        """The limits as the service takes them."""
        given = self.cleaned_data
        return {
            name: None if given[name] is None else given[name] / (100 if limit.percent else 1)
            for name, limit in LIMITS.items()
        }


class AliasesInput(forms.TextInput):
    """A text of aliases; several fields of this name (ticked rows) are read as one text."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        """The text of all fields, separated by blanks."""
        return " ".join(data.getlist(name) if hasattr(data, "getlist") else [data.get(name, "")])


class ReturnForm(forms.Form):
    """Which marks of a teacher are returned, to whom, and whether decided responses too."""

    since = LocalTimeField(label=_("Marks saved since"), required=False)
    responses = forms.CharField(
        label=_("Only these responses"),
        required=False,
        max_length=LONGEST_ALIASES,
        widget=AliasesInput,
        help_text=_("For example R-0412, separated by spaces. Empty: all marks saved since then."),
    )
    to = forms.ChoiceField(
        label=_("Re-marked by"),
        choices=[("same", _("the same teacher")), ("others", _("other teachers of the round"))],
        widget=forms.RadioSelect,
        initial="same",
    )
    with_arbitrated = forms.BooleanField(
        label=_("Withdraw the lead’s decisions too"),
        required=False,
        help_text=_(
            "Otherwise a decision stays as the final mark. The teacher marks the response again in "
            "either case: a mark that stayed would show that the response was arbitrated."
        ),
    )
    # What the preview showed, and when: no more than that is returned.
    until = forms.CharField(required=False, max_length=40)
    shown = forms.CharField(required=False)

    def clean_responses(self) -> tuple[str, ...]:
        """The aliases, each once, in the order given."""
        return tuple(
            dict.fromkeys(re.split(r"[\s,，、;；]+", self.cleaned_data["responses"].strip()))
        )

    def clean_until(self) -> datetime | None:
        """The time of the preview; None without one."""
        if not (given := self.cleaned_data["until"]):
            return None
        try:
            at = datetime.fromisoformat(given)
            if at.tzinfo is not None:
                return at.astimezone(UTC)
        except (ValueError, OverflowError):  # no time, or none that UTC has
            pass
        raise BadInput(gettext("Preview the marks again."))

    def clean_shown(self) -> frozenset[int] | None:
        """The keys of the slots that the preview showed; None without one."""
        given = self.cleaned_data["shown"].split()
        if not all(one.isascii() and one.isdigit() and len(one) < LONGEST_KEY for one in given):
            raise BadInput(gettext("Preview the marks again."))
        return frozenset(map(int, given)) if given else None

    def clean(self) -> dict[str, Any]:
        """Require a start time where no responses are named."""
        given = super().clean() or {}
        named = tuple(alias for alias in given.get("responses", ()) if alias)
        if not named and not given.get("since") and "since" not in self.errors:
            self.add_error("since", _("Enter a start time or specify the responses."))
        return {**given, "responses": named}

    def choice(self) -> ReturnChoice:
        """What the selector of the preview and the service take."""
        given = self.cleaned_data
        return ReturnChoice(
            since=None if given["responses"] else given["since"],
            aliases=given["responses"],
            with_arbitrated=given["with_arbitrated"],
            until=given["until"],
            shown=given["shown"],
        )


class NewRubricForm(forms.Form):
    """Which responses to a question are marked again under its new rubric."""

    reach = forms.ChoiceField()
    version = number_fields.IntegerField(required=False)
    with_arbitrated = forms.BooleanField(required=False)

    def __init__(self, scopes: Collection[RemarkScope], *args: Any) -> None:
        super().__init__(*args)
        offered = [(value, label) for value, label in choices_of(RemarkScope) if value in scopes]
        self.fields["reach"].choices = offered  # type: ignore[attr-defined]


class ToleranceForm(forms.Form):
    """The grid of the simulator: in per cent with least points, or in points; one task or all."""

    unit = forms.ChoiceField(
        choices=[("percent", _("% of full marks")), ("points", _("points"))], required=False
    )
    least = number_fields.DecimalField(min_value=0, max_value=100, decimal_places=2, required=False)
    task = forms.ChoiceField(required=False)

    def __init__(
        self, data: Any, marking_round: MarkingRound, tasks: list[tuple[str, str]]
    ) -> None:
        super().__init__(data)
        self.marking_round = marking_round
        self.fields["task"].choices = [("", _("All tasks")), *tasks]  # type: ignore[attr-defined]

    @property
    def in_points(self) -> bool:
        """Whether the grid is one of points."""
        return self._given("unit") == "points"

    @property
    def least_points(self) -> Decimal:
        """The least points of a tolerance in per cent; the round's unless another is given."""
        given = self._given("least")
        return self.marking_round.tolerance_points if given is None else Decimal(given)

    @property
    def wanted_task(self) -> str:
        """The task that is looked at alone; empty for all."""
        return str(self._given("task") or "")

    def _given(self, name: str) -> Any:
        """What was asked for; None for nothing and for nonsense, as other filters do."""
        self.is_valid()
        return self.cleaned_data.get(name)
