"""The rows of one mark: what was sent, checked against the item, written with its points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluations.marking.desk.services.drafts import LONGEST_COMMENT
from evaluations.marking.rules.point_marks import MarkError, MarkFault, check_mark
from evaluations.models import BlindAnswer, Mark, PointMark, Slot
from evaluations.models.vocabulary import ArbitrationReason, Flag
from gradeapp.accounts.models import User
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput
from questions.rules.rubric import RubricLines, given_total
from questions.selectors.rubrics import frozen

NOT_A_NUMBER = Decimal("NaN")
LONGEST_SECONDS = 24 * 3600
SENTENCES: Mapping[MarkFault, object] = {
    MarkFault.NOT_A_NUMBER: gettext_lazy("The mark is not a number."),
    MarkFault.BELOW_ZERO: gettext_lazy("The mark %(mark)s is below 0."),
    MarkFault.ABOVE_FULL: gettext_lazy("The mark %(mark)s is above the full marks, %(full)s."),
    MarkFault.NOT_A_STEP: gettext_lazy("The mark %(mark)s is not a multiple of %(step)s."),
    MarkFault.POINT_COUNT: gettext_lazy("Scoring points: %(expected)s. Marked: %(given)s."),
    MarkFault.POINT_NOT_A_NUMBER: gettext_lazy("Scoring point %(point)s has no number."),
    MarkFault.POINT_BELOW_ZERO: gettext_lazy("Scoring point %(point)s: %(mark)s is below 0."),
    MarkFault.POINT_ABOVE_FULL: gettext_lazy(
        "Scoring point %(point)s: %(mark)s is above its maximum of %(full)s."
    ),
    MarkFault.POINT_NOT_A_STEP: gettext_lazy(
        "Scoring point %(point)s: %(mark)s is not a multiple of %(step)s."
    ),
    MarkFault.SUM_DIFFERS: gettext_lazy(
        "The total %(mark)s differs from the sum of the scoring points, %(sum)s."
    ),
}


@dataclass(frozen=True, slots=True)
class GivenMark:
    """What a marker sends: points per scoring point, or one total where there is no rubric."""

    points: tuple[Decimal, ...] = ()
    total: Decimal | None = None
    comment: str = ""
    flags: tuple[Flag, ...] = ()
    seconds: int | None = None
    reason: ArbitrationReason | None = None

    def under(self, rubric: RubricLines) -> Decimal:
        """The total: as given, or what the points come to in *rubric*; NaN where they do not."""
        if self.total is not None:
            return self.total
        if not self.points or not all(value.is_finite() for value in self.points):
            return NOT_A_NUMBER
        if len(self.points) != len(rubric.points):
            return sum(self.points, Decimal(0))  # refused for its number of points
        return given_total(self.points, rubric.points, rubric.groups)

    @property
    def known_seconds(self) -> int | None:
        """Seconds that can be true; anything else is unknown."""
        possible = self.seconds is not None and 0 <= self.seconds <= LONGEST_SECONDS
        return self.seconds if possible else None

    def as_draft(self) -> dict[str, object]:
        """The same as the content of a draft."""
        return {
            "points": [str(value) for value in self.points],
            "total": "" if self.total is None else str(self.total),
            "comment": self.comment,
            "flags": [flag.value for flag in self.flags],
        }


def check_given(answer: BlindAnswer, given: GivenMark) -> None:
    """Raise BadInput with one sentence unless *given* fits the item as it was that day."""
    if len(given.comment) > LONGEST_COMMENT:
        most = {"most": LONGEST_COMMENT}
        raise BadInput(_("The comment is longer than %(most)s characters.") % most)
    rubric = frozen_rubric(answer)
    try:
        check_mark(
            given.under(rubric),
            given.points,
            full_marks=answer.full_marks,
            step=answer.round.mark_step,
            rubric=rubric,
        )
    except MarkError as error:
        sentence = str(SENTENCES[error.code]) % {k: _written(v) for k, v in error.params.items()}
        raise BadInput(sentence, code=error.code.value) from error


def frozen_rubric(answer: BlindAnswer) -> RubricLines:
    """The rubric that the round froze for the item; empty where it has none."""
    if answer.rubric is None:
        return RubricLines()
    return frozen(answer.rubric).lines


def current_mark(slot: Slot) -> Mark | None:
    """The version that counts, with its points."""
    marks = Mark.objects.counting().filter(slot=slot).prefetch_related("points")
    return marks.order_by("-version").first()


def write_mark(
    slot: Slot,
    teacher: User,
    given: GivenMark,
    *,
    version: int,
    stale: bool,
    key: UUID,
    entered_by: User | None = None,
) -> Mark:
    """Store a checked mark; each scoring point keeps its wording of that day."""
    answer = slot.answer
    mark = Mark.objects.create(
        slot=slot,
        version=version,
        stale=stale,
        key=key,
        teacher=teacher,
        entered_by=entered_by,
        rubric=answer.rubric,
        total=given.under(frozen_rubric(answer)),
        full=answer.full_marks,
        comment=given.comment,
        flags=[flag.value for flag in given.flags],
        reason=given.reason or "",
        seconds=given.known_seconds,
    )
    rubric = frozen(answer.rubric).points if answer.rubric else ()
    PointMark.objects.bulk_create(
        PointMark(mark=mark, scoring_point=line, wording=line.text, points=value, full=line.points)
        for line, value in zip(rubric, given.points, strict=True)
    )
    return mark


def as_details(mark: Mark) -> dict[str, object]:
    """A mark as its own marker may see it: in a conflict, and in the API."""
    return {
        "version": mark.own_version,
        "total": plain(mark.total),
        "points": [plain(point.points) for point in mark.points.all()],
        "comment": mark.comment,
        "flags": list(mark.flags),
    }


def same_content(mark: Mark, given: GivenMark) -> bool:
    """Whether a stored mark says what *given* says; the time it took does not count."""
    stored = tuple(point.points for point in mark.points.all())
    flags = [flag.value for flag in given.flags]
    same_total = given.total == mark.total if given.total is not None else bool(given.points)
    return (
        given.points == stored
        and same_total
        and (given.comment, flags) == (mark.comment, mark.flags)
    )


def _written(value: Decimal | int) -> str:
    return plain(value) if isinstance(value, Decimal) else str(value)
