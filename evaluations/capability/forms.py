"""The forms of a review: a new one, and what a reviewer says of one answer."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from evaluations.capability.rules.dimensions import Dimension
from evaluations.capability.rules.figures import NOT_APPLICABLE
from evaluations.capability.rules.weaknesses import BY_DIMENSION, KEYS, Weakness
from evaluations.capability.selectors.capability_desk import ReviewDesk, ReviewedAnswer
from evaluations.capability.selectors.capability_sample import reviewable_runs
from evaluations.capability.services.capability_judging import LONGEST_NOTE
from evaluations.capability.services.capability_review import MOST_PER_TASK
from evaluations.models import Run
from evaluations.runs.forms.choices import RunsField
from evaluations.statistics.policies import Policy
from gradeapp.accounts.markers import possible_markers
from gradeapp.accounts.models import User
from gradeapp.accounts.person_fields import PeopleField
from gradeapp.common import number_fields
from gradeapp.common.choices import choices_of
from gradeapp.common.desk_pages import DeskForm
from gradeapp.common.submission_keys import submission_key
from gradeapp.common.text_fields import LinesField

VALUES: dict[str, int | None] = {"1": 1, "0": 0, NOT_APPLICABLE: None}
TEXT_OF = {value: text for text, value in VALUES.items()}


class ReviewForm(forms.Form):
    """A new review. What cannot work is the service's to refuse."""

    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid.uuid4)
    name = forms.CharField(label=_("Name"), max_length=100)
    runs = RunsField(
        label=_("Runs whose wrong answers are reviewed"),
        queryset=Run.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one run.")},
    )
    reviewers = PeopleField(
        label=_("Reviewers"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one reviewer.")},
    )
    policy = forms.ChoiceField(
        label=_("Policy"),
        initial=Policy.STRICT.value,
        help_text=_("Determines which answers are wrong: those with less than full marks."),
    )
    per_task = number_fields.IntegerField(
        label=_("Wrong answers per task"),
        min_value=1,
        max_value=MOST_PER_TASK,
        initial=100,
        help_text=_("All of them if a task has fewer."),
    )
    reviewers_each = forms.TypedChoiceField(
        label=_("Reviewers per response"),
        choices=[("1", "1"), ("2", "2")],
        coerce=int,
        help_text=_("Two reviewers judge independently, so that agreement can be measured."),
    )
    random_seed = number_fields.IntegerField(
        label=_("Random seed"),
        min_value=0,
        max_value=2**62,
        help_text=_(
            "Determines the sample and the queues. The same seed draws the same responses."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["runs"].queryset = reviewable_runs()  # type: ignore[attr-defined]
        self.fields["reviewers"].queryset = possible_markers()  # type: ignore[attr-defined]
        self.fields["policy"].choices = choices_of(Policy)  # type: ignore[attr-defined]
        self.fields["random_seed"].initial = secrets.randbelow(2**53)

    def settings(self) -> dict[str, Any]:
        """The arguments of ``open_review``."""
        data = self.cleaned_data
        same = ("name", "per_task", "reviewers_each", "random_seed")
        return {name: data[name] for name in same} | {
            "runs": list(data["runs"]),
            "policy": Policy(data["policy"]),
            "reviewers": list(data["reviewers"]),
        }


@dataclass(frozen=True, slots=True)
class WeaknessChoice:
    """A weakness, its key, and whether it is named."""

    value: str
    label: str
    key: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class DimensionLine:
    """One dimension of the panel: its key (a digit), what is chosen, and its weaknesses."""

    name: str
    label: str
    key: int
    value: str
    weaknesses: tuple[WeaknessChoice, ...]


@dataclass(frozen=True, slots=True)
class JudgementPanel:
    """The panel of a reviewer as the template draws it: everything in it is text."""

    lines: tuple[DimensionLine, ...]
    note: str
    key: str
    version: int


class JudgementForm(DeskForm):
    """What the reviewer's desk sends. Which weaknesses a task has is the service's to say."""

    note = LinesField(required=False, max_length=LONGEST_NOTE)
    weaknesses = forms.MultipleChoiceField(choices=Weakness.choices(), required=False)

    def __init__(self, answer: ReviewedAnswer, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.reviewed, self.item_id = answer, answer.public_id
        for one in answer.asked:
            missing = _("Set every dimension to 1, 0 or “does not apply”.")
            self.fields[one.value] = forms.ChoiceField(
                choices=[(text, text) for text in VALUES], error_messages={"required": missing}
            )

    def as_judgement(self) -> dict[str, Any]:
        """The arguments of ``save_judgement``."""
        data = self.cleaned_data
        return {
            "key": data["key"],
            "based_on_version": data["version"],
            "values": {one: VALUES[data[one.value]] for one in self.reviewed.asked},
            "weaknesses": data["weaknesses"],
            "note": data["note"],
            "seconds": data["seconds"],
        }


def judgement_panel(desk: ReviewDesk, reviewer: UUID, sent: Any = None) -> JudgementPanel:
    """The panel filled with what was *sent* (a QueryDict), or with the own judgement.

    The key follows from reviewer, answer and version, so that the page is the same
    each time it is loaded, and a save repeated from it is one save.
    """
    if sent is not None:
        values = {one: sent.get(one.value, "") for one in desk.answer.asked}
        named, note = set(sent.getlist("weaknesses")), sent.get("note", "")
    elif desk.own:
        values = {one: TEXT_OF[getattr(desk.own, one.value)] for one in desk.answer.asked}
        named, note = set(desk.own.weaknesses), desk.own.note
    else:
        values, named, note = dict.fromkeys(desk.answer.asked, ""), set(), ""
    return JudgementPanel(
        lines=tuple(_line(one, values[one], named) for one in desk.answer.asked),
        note=note,
        key=str(submission_key(desk.answer.public_id, reviewer, desk.version)),
        version=desk.version,
    )


def _line(dimension: Dimension, value: str, named: set[str]) -> DimensionLine:
    language = get_language() or "en"
    return DimensionLine(
        name=dimension.value,
        label=dimension.label(language),
        key=list(Dimension).index(dimension) + 1,
        value=value,
        weaknesses=tuple(
            WeaknessChoice(one.value, one.label(language), KEYS[one], one.value in named)
            for one in BY_DIMENSION[dimension]
        ),
    )
