"""Reads the scoring points that a model proposes, or says why they cannot be taken.

What a draft may not be at all refuses the
reply; what a draft may be while it is unfinished (sums, steps) is left to the
person who reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
)

from evaluations.suggesting.rules.reply_json import ReplyFault, Unreadable, one_list
from gradeapp.common.plain_number import decimal_of, plain
from gradeapp.common.storable import storable
from questions.rules.rubric import (
    UNFINISHED,
    Finding,
    RubricLines,
    ScoringPoint,
    findings,
    in_order,
    step_for,
)

RUBRIC_READER_VERSION = "rubric-2"


def _written_out(number: object) -> object:
    """Refuse an exponent, by which a short reply is a number of gigabytes."""
    if isinstance(number, Decimal | str) and decimal_of(str(number)) is None:
        raise ValueError
    return number


_Number = BeforeValidator(_written_out)


class _Point(BaseModel):
    """A scoring point as a model writes it: a number may be a string, its range is not checked."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, AfterValidator(storable)]
    points: Annotated[Decimal, _Number]
    sub: Annotated[int, _Number] = 1
    group: Annotated[int | None, _Number] = None


_POINTS = TypeAdapter(list[_Point])


@dataclass(frozen=True, slots=True)
class RubricReading:
    """The rubric as proposed, or None with the *fault* and what its sentence names.

    *unfinished* are the faults that a person has to mend before accepting it.
    """

    rubric: RubricLines | None = None
    span: tuple[int, int] | None = None
    fault: str = ""
    params: Mapping[str, str | int] = field(default_factory=dict)
    unfinished: tuple[Finding, ...] = ()


def read_rubric_reply(
    reply: str,
    sub_marks: Sequence[Decimal],
    *,
    finish_reason: str = "stop",
    images: Collection[str] = (),
) -> RubricReading:
    """What *reply* proposes for an item of *sub_marks* (full marks of each sub-question).

    *images* are the names of the pictures that the item has.
    """
    try:
        found = one_list(reply, finish_reason)
        rubric = _rubric(found.value)
        wrong = findings(rubric, sub_marks, step_for(sub_marks), images)
        if bad := next((one for one in wrong if one.code not in UNFINISHED), None):
            raise Unreadable(bad.code, **_params(bad))
    except Unreadable as why:
        return RubricReading(fault=why.code, params=why.params)
    return RubricReading(in_order(rubric), found.span, unfinished=tuple(wrong))


def _rubric(rows: Sequence[Any]) -> RubricLines:
    try:
        points = _POINTS.validate_python(rows)
    except ValidationError as error:
        errors = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        name = errors[0]["loc"][-1]
        raise Unreadable(
            ReplyFault.NOT_A_POINT, name=name if isinstance(name, str) else "rubric"
        ) from None
    return RubricLines(tuple(ScoringPoint(**vars(point)) for point in points))


def _params(finding: Finding) -> dict[str, str | int]:
    return {
        name: plain(value) if isinstance(value, Decimal) else value
        for name, value in finding.params.items()
    }
