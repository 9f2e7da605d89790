"""The form of a new round: which responses, who marks them, and under which settings."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from evaluations.marking.rounds.selectors.round_choice import (
    Offers,
    ResponseChoice,
    SeedWish,
    markable_runs,
    offers,
)
from evaluations.marking.rounds.services.marking_notes import LONGEST_NOTES
from evaluations.marking.rounds.services.round_settings import MOST_SEEDS, RoundSettings
from evaluations.models import Run
from evaluations.runs.forms.choices import RunsField
from evaluations.schemes import (
    DEFAULT_REPEAT_SHARE,
    DEFAULT_SHEET_DAYS,
    DEFAULT_SHEET_RESPONSES,
    DEFAULT_STEP,
    DEFAULT_TOLERANCE_POINTS,
    DEFAULT_TOLERANCE_SHARE,
    DEFAULT_WINDOW_MINUTES,
    MARK_STEPS,
    Scheme,
)
from gradeapp.accounts.markers import possible_markers
from gradeapp.accounts.models import User
from gradeapp.accounts.person_fields import PeopleField
from gradeapp.common import number_fields
from gradeapp.common.choices import choices_of
from gradeapp.common.named import Named
from gradeapp.common.random_seeds import new_seed
from gradeapp.common.text_fields import LinesField
from gradeapp.common.time_fields import LocalTimeField
from questions.forms.filters import difficulty_choices
from questions.models import Task
from questions.rules.vocabulary import AbilityBranch, Modal, Subject
from questions.templatetags.names import task_name

# What a choice can be narrowed by, in the order of the page.
NARROWING = ("subjects", "tasks", "years", "branches", "knowledge", "difficulties", "modals")


class PointsField(number_fields.DecimalField):
    """Points that may stay empty."""

    def __init__(self, label: Any, **options: Any) -> None:
        super().__init__(label=label, required=False, min_value=0, max_value=999, **options)


class DatasetBoxes(forms.CheckboxSelectMultiple):
    """Boxes that name the dataset of each value, so that the page shows those of chosen runs."""

    def __init__(self) -> None:
        super().__init__()
        self.datasets: dict[int, int] = {}

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The option with ``data-dataset``: the key of the dataset's row."""
        option = super().create_option(name, value, *args, **kwargs)
        dataset = self.datasets.get(int(str(value)))
        return option | {"attrs": option["attrs"] | {"data-dataset": dataset}}


def boxes(label: Any, coerce: Any = str) -> forms.TypedMultipleChoiceField:
    """Values to tick; none ticked narrows nothing."""
    widget = forms.CheckboxSelectMultiple
    return forms.TypedMultipleChoiceField(label=label, required=False, widget=widget, coerce=coerce)


class PlanForm(forms.Form):
    """A round to be. What cannot work is the service's to refuse."""

    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid.uuid4)
    name = forms.CharField(label=_("Name"), max_length=100)
    runs = RunsField(
        label=_("Runs to be marked"),
        queryset=Run.objects.none(),
        widget=DatasetBoxes,
        error_messages={"required": _("Choose at least one run.")},
    )
    subjects = boxes(_("Subjects"))
    tasks = forms.TypedMultipleChoiceField(
        label=_("Tasks"), required=False, widget=DatasetBoxes, coerce=int
    )
    years = boxes(_("Years"), int)
    branches = boxes(_("Ability branch"))
    knowledge = boxes(_("Knowledge"), int)
    difficulties = boxes(_("Difficulty"), int)
    modals = boxes(_("Modality"))
    per_task = number_fields.IntegerField(
        label=_("Questions per task"),
        required=False,
        min_value=1,
        help_text=_("A sample with the same questions for every run. Empty: all questions."),
    )
    teachers = PeopleField(
        label=_("Teachers"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one teacher.")},
    )
    scheme = forms.ChoiceField(label=_("Scheme"))
    tolerance_points = number_fields.DecimalField(
        label=_("Tolerance in points"), min_value=0, max_value=999, initial=DEFAULT_TOLERANCE_POINTS
    )
    tolerance_percent = number_fields.DecimalField(
        label=_("or in percent of full marks"),
        min_value=0,
        max_value=100,
        initial=int(DEFAULT_TOLERANCE_SHARE * 100),
        help_text=_(
            "The larger of the two, rounded down to the mark step. A difference "
            "equal to the tolerance is accepted."
        ),
    )
    point_tolerance = PointsField(
        _("Tolerance of each scoring point"),
        help_text=_("Empty: only totals are compared, and opposite differences cancel out."),
    )
    mark_step = forms.TypedChoiceField(
        label=_("Mark step"),
        choices=[(str(step), str(step)) for step in MARK_STEPS],
        coerce=Decimal,
        initial=str(DEFAULT_STEP),
    )
    lease_minutes = number_fields.IntegerField(
        label=_("Time limit per response (minutes)"),
        min_value=1,
        initial=30,
        help_text=_("A response without activity for this long returns to the queue."),
    )
    window_minutes = number_fields.IntegerField(
        label=_("Time for changing a saved mark (minutes)"),
        required=False,
        min_value=0,
        initial=DEFAULT_WINDOW_MINUTES,
        help_text=_("A final mark is made when this time is over for all marks of a response."),
    )
    window_ends_with_block = forms.BooleanField(
        label=_("This time ends when the teacher goes on to another question"),
        required=False,
        initial=True,
    )
    sheet_responses = number_fields.IntegerField(
        label=_("Responses that a teacher can hold on sheets"),
        required=False,
        min_value=1,
        initial=DEFAULT_SHEET_RESPONSES,
    )
    sheet_days = number_fields.IntegerField(
        label=_("Days that a sheet can be held"),
        required=False,
        min_value=1,
        initial=DEFAULT_SHEET_DAYS,
    )
    arbiter_marks_first = forms.BooleanField(
        label=_("The lead who arbitrates gives a mark before seeing the other marks"),
        required=False,
    )
    judge_check_percent = number_fields.DecimalField(
        label=_("One more mark where judge models differ by more than (% of full marks)"),
        required=False,
        min_value=0,
        max_value=100,
        decimal_places=1,
        help_text=_(
            "Another teacher is asked where every judge model is farther than this from a single "
            "mark or the mean of two. A judge model's mark never counts. Empty: never."
        ),
    )
    deadline = LocalTimeField(
        label=_("Deadline"),
        required=False,
        help_text=_("A warning appears after the deadline. The round is not closed automatically."),
    )
    seeds_taken = number_fields.IntegerField(
        label=_("Seed answers per question, from closed rounds"),
        required=False,
        min_value=0,
        max_value=MOST_SEEDS,
        initial=0,
        help_text=_("Their final mark becomes the reference mark."),
    )
    seeds_premarked = number_fields.IntegerField(
        label=_("Seed answers per question, marked by you"),
        required=False,
        min_value=0,
        max_value=MOST_SEEDS,
        initial=0,
        help_text=_("Taken from this selection. You mark them before the start."),
    )
    repeat_percent = number_fields.DecimalField(
        label=_("Intra-rater checks in %"),
        min_value=0,
        max_value=100,
        initial=int(DEFAULT_REPEAT_SHARE * 100),
        help_text=_(
            "Share of a teacher's own responses that are shown again; at "
            "least one from 30 responses on."
        ),
    )
    marking_notes = LinesField(
        label=_("Marking notes"),
        required=False,
        max_length=LONGEST_NOTES,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_(
            "How to handle cases that the rubric does not cover. Shown at the marking desk."
        ),
    )
    notes_to_judge = forms.BooleanField(
        label=_("Include the marking notes in the judge prompt"), required=False
    )
    practice = forms.BooleanField(
        label=_("Practice round"),
        required=False,
        help_text=_(
            "Its marks are not used in reports, exports or comparisons. This cannot "
            "be changed later."
        ),
    )
    random_seed = number_fields.IntegerField(
        label=_("Random seed"),
        min_value=0,
        max_value=2**62,
        help_text=_(
            "Determines which questions of each task are drawn. Aliases, queues and checks are "
            "drawn by a number that nobody sees."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["runs"].queryset = markable_runs()
        fields["teachers"].queryset = possible_markers()
        fields["scheme"].choices = choices_of(Scheme)
        fields["scheme"].initial = Scheme.fitting(fields["teachers"].queryset.count()).value
        fields["random_seed"].initial = new_seed()
        found = offers()
        runs: Any = fields["runs"].queryset
        fields["runs"].widget.datasets = dict(runs.values_list("pk", "dataset"))
        fields["tasks"].widget.datasets = {task.pk: task.dataset_id for task in found.tasks}
        for name, choices in narrowing_choices(found).items():
            fields[name].choices = choices
        self.own_tolerances = [self._own_tolerance(task) for task in found.tasks]

    def _own_tolerance(self, task: Task) -> str:
        """The name of the field for the tolerance of *task*."""
        name = f"tolerance-{task.pk}"
        field = self.fields[name] = PointsField(task_name(task.slug))
        field.widget.attrs["data-dataset"] = task.dataset_id
        return name

    @property
    def narrowing(self) -> list[forms.BoundField]:
        """The fields that narrow the choice, where there is something to choose."""
        fields: dict[str, Any] = self.fields
        return [self[name] for name in NARROWING if len(fields[name].choices) > 1]

    @property
    def tolerances(self) -> list[forms.BoundField]:
        """A field for the tolerance of each task."""
        return [self[name] for name in self.own_tolerances]

    def clean_window_minutes(self) -> int:
        """The usual time where none is given."""
        given: int | None = self.cleaned_data["window_minutes"]
        return DEFAULT_WINDOW_MINUTES if given is None else given

    def clean_sheet_responses(self) -> int:
        """The usual number where none is given."""
        given: int | None = self.cleaned_data["sheet_responses"]
        return DEFAULT_SHEET_RESPONSES if given is None else given

    def clean_sheet_days(self) -> int:
        """The usual number where none is given."""
        given: int | None = self.cleaned_data["sheet_days"]
        return DEFAULT_SHEET_DAYS if given is None else given

    def choice(self) -> ResponseChoice:
        """Which responses the form asks for, as far as it can be read."""
        data = self.cleaned_data
        chosen = {name: tuple(data.get(name) or ()) for name in NARROWING}
        runs = tuple(run.pk for run in data["runs"])
        return ResponseChoice(runs=runs, per_task=data["per_task"], **chosen)

    def seeds(self) -> SeedWish:
        """How many seed answers are wished for."""
        data = self.cleaned_data
        return SeedWish(data.get("seeds_taken") or 0, data.get("seeds_premarked") or 0)

    def settings(self) -> RoundSettings:
        """The settings that the service plans a round by."""
        data = self.cleaned_data
        same = (
            *("name", "random_seed", "tolerance_points", "point_tolerance", "mark_step"),
            *("lease_minutes", "deadline", "marking_notes", "notes_to_judge", "practice"),
            *("window_minutes", "window_ends_with_block"),
            *("sheet_responses", "sheet_days", "arbiter_marks_first"),
        )
        percent = data["judge_check_percent"]
        own = {name: data[name] for name in self.own_tolerances if data[name] is not None}
        return RoundSettings(
            **{name: data[name] for name in same},
            hidden_seed=new_seed(),
            scheme=Scheme(data["scheme"]),  # type: ignore[call-arg]
            tolerance_share=data["tolerance_percent"] / 100,
            task_tolerances={int(name.split("-")[1]): points for name, points in own.items()},
            judge_check_share=None if percent is None else percent / 100,
            seeds=self.seeds(),
            repeat_share=data["repeat_percent"] / 100,
        )


def narrowing_choices(found: Offers) -> dict[str, list[tuple[Any, str]]]:
    """What each narrowing field offers, in the language of the page."""
    levels = dict(difficulty_choices())
    language = get_language() or "en"
    return {
        "subjects": named(Subject, found.subjects),
        "tasks": [(task.pk, task_name(task.slug)) for task in found.tasks],
        "years": [(year, str(year)) for year in found.years],
        "branches": named(AbilityBranch, found.branches),
        "knowledge": [(row.pk, row.label(language)) for row in found.knowledge],
        "difficulties": [(level, levels[str(level)]) for level in found.difficulties],
        "modals": named(Modal, found.modals),
    }


def named(names: type[Named], found: Iterable[str]) -> list[tuple[Any, str]]:
    """Those of a closed list that were found, in its order."""
    known = set(found)
    return [(value, label) for value, label in choices_of(names) if value in known]
