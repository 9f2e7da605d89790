"""The settings of a marking round, and what is refused before a round is planned."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from evaluations.marking.rounds.selectors.round_choice import NO_SEEDS, ResponseChoice, SeedWish
from evaluations.marking.rounds.services.marking_notes import check_length
from evaluations.marking.rules.blinding import names_model
from evaluations.marking.rules.seed_answers import DEFAULT_CADENCE, Cadence
from evaluations.marking.rules.tolerance import tolerance
from evaluations.marking.services.telling import check_names_no_model
from evaluations.models import MarkingRound, Response, Run
from evaluations.schemes import (
    DEFAULT_REPEAT_SHARE,
    DEFAULT_SCHEME,
    DEFAULT_SHEET_DAYS,
    DEFAULT_SHEET_RESPONSES,
    DEFAULT_STEP,
    DEFAULT_TOLERANCE_POINTS,
    DEFAULT_TOLERANCE_SHARE,
    DEFAULT_WINDOW_MINUTES,
    MARK_STEPS,
    Scheme,
)
from gradeapp.accounts.markers import check_markers
from gradeapp.accounts.models import User
from gradeapp.common.name_checks import check_name_is_plain
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput
from questions.models import Rubric
from questions.rules.rubric import reachable
from questions.selectors.rubrics import lines_of

LONGEST_NAME = 100
LONGEST_LEASE = 24 * 60
LONGEST_WINDOW = 24 * 60
LONGEST_DEADLINE = timedelta(days=36525)
MOST_SEEDS = 20
MOST_ON_SHEETS = (1000, 90)  # responses that one teacher holds, days
LARGEST_TOLERANCE = Decimal("999.99")  # what its column holds


@dataclass(frozen=True, slots=True)
class RoundSettings:
    """Everything of a round but its responses and its teachers (docs/marking-protocol.md).

    ``tolerance_points`` are points, ``tolerance_share`` is a share of full marks
    from 0 to 1; ``task_tolerances`` are points by the key of a task's row and come
    in place of both. ``point_tolerance`` is in points, None where only totals are
    compared. ``mark_step`` is one of MARK_STEPS, ``repeat_share`` from 0 to 1. A saved mark can be
    revised for ``window_minutes``, with ``window_ends_with_block`` at most until its
    teacher marks another question. The marks of a ``practice`` round reach no report.
    ``judge_check_share`` is a share of full marks from 0 to 1: where all judges are farther from
    the teachers' mark, one more teacher is asked; None for never. For the two seeds see
    ``MarkingRound``.
    """

    name: str
    random_seed: int
    scheme: Scheme = DEFAULT_SCHEME
    tolerance_points: Decimal = DEFAULT_TOLERANCE_POINTS
    tolerance_share: Decimal = DEFAULT_TOLERANCE_SHARE
    task_tolerances: Mapping[int, Decimal] = field(default_factory=dict)
    point_tolerance: Decimal | None = None
    mark_step: Decimal = DEFAULT_STEP
    lease_minutes: int = 30
    window_minutes: int = DEFAULT_WINDOW_MINUTES
    window_ends_with_block: bool = True
    sheet_responses: int = DEFAULT_SHEET_RESPONSES
    sheet_days: int = DEFAULT_SHEET_DAYS
    arbiter_marks_first: bool = False
    judge_check_share: Decimal | None = None
    deadline: datetime | None = None
    seeds: SeedWish = NO_SEEDS
    cadence: Cadence = DEFAULT_CADENCE
    repeat_share: Decimal = DEFAULT_REPEAT_SHARE
    marking_notes: str = ""
    notes_to_judge: bool = False
    practice: bool = False
    hidden_seed: int | None = None

    def columns(self) -> dict[str, object]:
        """The settings as the round's row holds them."""
        return {
            "name": self.name.strip(),
            "random_seed": self.random_seed,
            "hidden_seed": self.hidden_seed,
            "scheme": self.scheme,
            "tolerance_points": self.tolerance_points,
            "tolerance_share": self.tolerance_share,
            "task_tolerances": {str(key): str(own) for key, own in self.task_tolerances.items()},
            "point_tolerance": self.point_tolerance,
            "mark_step": self.mark_step,
            "lease_minutes": self.lease_minutes,
            "window_minutes": self.window_minutes,
            "window_ends_with_block": self.window_ends_with_block,
            "sheet_responses": self.sheet_responses,
            "sheet_days": self.sheet_days,
            "arbiter_marks_first": self.arbiter_marks_first,
            "judge_check_share": self.judge_check_share,
            "deadline": self.deadline,
            "seed_first": self.cadence.first,
            "seed_first_every": self.cadence.first_every,
            "seed_later_every": self.cadence.later_every,
            "repeat_share": self.repeat_share,
            "marking_notes": self.marking_notes.strip(),
            "notes_to_judge": self.notes_to_judge,
            "practice": self.practice,
        }

    def noted(self) -> dict[str, object]:
        """What the audit trail keeps of the settings: those that decide how marks become final."""
        point, share = self.point_tolerance, self.judge_check_share
        return {
            "scheme": self.scheme.value,
            "tolerance_points": plain(self.tolerance_points),
            "tolerance_share": plain(self.tolerance_share),
            "task_tolerances": {
                str(key): plain(own) for key, own in sorted(self.task_tolerances.items())
            },
            "point_tolerance": None if point is None else plain(point),
            "mark_step": plain(self.mark_step),
            "window_minutes": self.window_minutes,
            "judge_check_share": None if share is None else plain(share),
        }


def tolerance_of(made: MarkingRound, task: int, full_marks: Decimal) -> Decimal:
    """The tolerance of an item of *task* in the round, in points: the task's own or the usual."""
    own = made.task_tolerances.get(str(task))
    if own is not None:
        return tolerance(full_marks, made.mark_step, points=Decimal(own), share=Decimal(0))
    points, share = made.tolerance_points, made.tolerance_share
    return tolerance(full_marks, made.mark_step, points=points, share=share)


def check_settings(settings: RoundSettings, now: datetime | None) -> None:
    """Raise BadInput with one sentence where a round could not work like this."""
    if not 0 < len(settings.name.strip()) <= LONGEST_NAME:
        raise BadInput(_("Enter a name of 1 to 100 characters for the round."))
    check_name_is_plain(settings.name.strip())
    check_length(settings.marking_notes.strip())
    check_names_no_model(settings.marking_notes)
    _check_numbers(settings)
    every = (settings.cadence.first_every, settings.cadence.later_every)
    wished = (settings.seeds.taken, settings.seeds.premarked)
    fits = min(every) >= 2 and settings.cadence.first >= 0 and min(wished) >= 0
    if not fits or max(wished) > MOST_SEEDS or not 0 <= settings.repeat_share <= 1:
        raise BadInput(
            _(
                "Allowed values: 0 to %(most)s seed answers of each kind per "
                "question, at most half of the responses as seed answers, and 0 to "
                "100 %% intra-rater checks."
            )
            % {"most": MOST_SEEDS}
        )
    check_deadline(settings.deadline, now)


def check_deadline(deadline: datetime | None, now: datetime | None) -> None:
    """Raise BadInput for a deadline that is over at *now*, or too far ahead for pages to show."""
    if deadline is None:
        return
    if now is not None and deadline <= now:
        raise BadInput(_("The deadline has already passed."), code="deadline_over")
    if deadline > (now or timezone.now()) + LONGEST_DEADLINE:
        years = LONGEST_DEADLINE.days // 365
        sentence = _("The deadline must be within the next %(most)d years.") % {"most": years}
        raise BadInput(sentence, code="deadline_over")


def check_name(name: str, choice: ResponseChoice) -> None:
    """Raise BadInput where the *name*, which teachers read, names a model that is chosen."""
    chosen = Run.objects.filter(pk__in=choice.runs).order_by("language_model__name")
    for model in chosen.values_list("language_model__name", flat=True).distinct():
        if names_model(name, model):
            raise BadInput(
                _(
                    "Teachers can read the name of the round, and it contains the "
                    "name of the model %(model)s. Choose another name."
                )
                % {"model": model},
                code="name_names_model",
            )


def check_people(teachers: Sequence[User], scheme: Scheme, *, one_more: bool = False) -> None:
    """Raise BadInput unless *teachers* are different markers, enough for *scheme*.

    With *one_more* a response may need one mark more than planned.
    """
    if len({teacher.pk for teacher in teachers}) != len(teachers):
        raise BadInput(_("A teacher is listed twice."))
    if one_more and len(teachers) <= scheme.planned_marks:
        raise BadInput(
            _(
                "One more mark where judge models are far off needs at least %(needed)s teachers "
                "under this scheme."
            )
            % {"needed": scheme.planned_marks + 1},
            code="too_few_teachers",
        )
    if sentence := too_few_teachers(len(teachers), scheme):
        raise BadInput(sentence, code="too_few_teachers")
    check_markers(teachers)


def check_planner(planner: User | None, known: Collection[int], responses: int) -> None:
    """Raise BadInput if *planner*, who would mark, knows the model of some of all *responses*.

    *known* are those of ``responses_of_known_models``.
    """
    if not known:
        return
    if len(known) < responses:
        words = _(
            "%(name)s plans this round and can tell the model of %(known)s of its %(number)s"
            " responses, because one model gave more than half of those to a question, so cannot"
            " mark in it. Choose as many runs of each model, over the same questions, other"
            " teachers, or a practice round."
        )
    else:
        words = _(
            "%(name)s plans this round and can tell the model of all its responses, so cannot"
            " mark in it. Choose as many runs of each of several models, other teachers, or a"
            " practice round."
        )
    values = {"name": planner, "known": len(known), "number": responses}
    raise BadInput(words % values, code="planned")


def too_few_teachers(teachers: int, scheme: Scheme) -> str:
    """The sentence that says that so many *teachers* cannot carry *scheme*; empty if they can."""
    if teachers >= scheme.most_marks:
        return ""
    language = get_language() or "en"
    return _(
        "The scheme “%(scheme)s” needs at least %(needed)s teachers, and %(given)s "
        "selected. Add teachers, or use the scheme “%(fits)s”."
    ) % {
        "scheme": scheme.label(language),
        "needed": scheme.most_marks,
        "given": teachers,
        "fits": Scheme.fitting(teachers).label(language),
    }


def check_responses(
    chosen: Sequence[Response], rubrics: Mapping[int, Rubric], choice: ResponseChoice
) -> None:
    """Raise BadInput unless the *chosen* responses can be marked in one round."""
    if not chosen:
        raise BadInput(_("No subjective response matches this selection."), code="no_responses")
    datasets = Run.objects.filter(pk__in=choice.runs).values_list("dataset", flat=True)
    if len(set(datasets)) > 1:
        raise BadInput(_("A round covers one dataset. Select runs of that dataset only."))
    reached = {question: reachable(lines_of(rubric)) for question, rubric in rubrics.items()}
    for response in chosen:
        full = response.revision.full_marks
        if reached.get(response.question_id, full) != full:
            raise BadInput(
                _("The rubric of %(question)s does not add up to the full marks of %(full)s.")
                % {"question": response.question, "full": full},
                code="rubric_does_not_add_up",
            )


def _check_numbers(settings: RoundSettings) -> None:
    if not 0 <= settings.window_minutes <= LONGEST_WINDOW:
        raise BadInput(
            _("Marks can be changed for 0 to %(most)s minutes.") % {"most": LONGEST_WINDOW}
        )
    sheets = (settings.sheet_responses, settings.sheet_days)
    if not all(1 <= number <= most for number, most in zip(sheets, MOST_ON_SHEETS, strict=True)):
        raise BadInput(
            _("A teacher can hold 1 to %(most)s responses on sheets, for 1 to %(days)s days.")
            % {"most": MOST_ON_SHEETS[0], "days": MOST_ON_SHEETS[1]}
        )
    given = [settings.tolerance_points, *settings.task_tolerances.values()]
    if settings.point_tolerance is not None:
        given.append(settings.point_tolerance)
    check = settings.judge_check_share
    if check is not None and not (check.is_finite() and 0 <= check <= 1):
        raise BadInput(
            _("How far judge models may be must be from 0 to 100 percent of full marks.")
        )
    if settings.mark_step not in MARK_STEPS:
        raise BadInput(_("The mark step must be 0.25, 0.5 or 1."))
    numbers = (settings.tolerance_share, settings.repeat_share, *given)
    fits = all(number.is_finite() for number in numbers)
    fits = fits and all(0 <= points <= LARGEST_TOLERANCE for points in given)
    if not fits or not 0 <= settings.tolerance_share <= 1 or not _lease_fits(settings):
        raise BadInput(
            _(
                "The tolerance must be at least 0 points and between 0 and 100 percent of "
                "full marks, and the time limit between 1 minute and 24 hours."
            )
        )


def _lease_fits(settings: RoundSettings) -> bool:
    return 1 <= settings.lease_minutes <= LONGEST_LEASE
