"""What the desk of checks shows and what it sends; which part of the queue an address means."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluations.models import AnswerCheck, Extraction, ModelReading, Response, Run
from evaluations.models.vocabulary import CheckSource
from evaluations.reading.rules.extraction.model_reader import Asked
from evaluations.reading.rules.extraction.reading import Statement
from evaluations.reading.selectors.answer_check_queue import QueueChoice
from evaluations.reading.selectors.answer_checks import looked_at, said_in
from evaluations.reading.selectors.model_reading import asked_of
from evaluations.reading.selectors.reading_labour import read_runs
from evaluations.reading.services.answer_checks import MOST_DRAWN
from evaluations.runs.forms.choices import RunChoice
from evaluations.statistics.outcomes import ReadingOutcome
from gradeapp.common import number_fields
from gradeapp.common.refusals import BadInput
from questions.rules.vocabulary import QuestionType

USUAL_SAMPLE = 50
LONGEST_ANSWER = 2000
# The key of each way to answer nothing; letters of the item come first.
OUTCOME_KEYS = {
    ReadingOutcome.READ: "",
    ReadingOutcome.NO_ANSWER: "n",
    ReadingOutcome.REFUSED: "r",
    ReadingOutcome.AMBIGUOUS: "m",
    ReadingOutcome.TRUNCATED: "t",
}


class SampleForm(forms.Form):
    """A random sample of a run to be drawn; the random seed may be one of an earlier sample."""

    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid.uuid4)
    run = RunChoice(queryset=Run.objects.none(), label=gettext_lazy("Run"), empty_label=None)
    size = number_fields.IntegerField(
        min_value=1,
        max_value=MOST_DRAWN,
        initial=USUAL_SAMPLE,
        label=gettext_lazy("Responses"),
    )
    random_seed = number_fields.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        label=gettext_lazy("Random seed"),
        help_text=gettext_lazy("Empty: a new seed, which is stored with the sample."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["run"].queryset = read_runs()  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Address:
    """Which readings come (``choice``), and how that stands in an address (``query``)."""

    choice: QueueChoice
    query: str


def read_address(data: Mapping[str, str]) -> Address:
    """Read which part of the queue *data* names; unknown values are ignored."""
    query = QueryDict(mutable=True)
    source = data.get("source", "")
    known = source in list(CheckSource)
    if known:
        query["source"] = source
    run = read_runs().filter(pk=int(number)).first() if (number := _digits(data, "run")) else None
    if run is not None:
        query["run"] = number
    return Address(QueueChoice(CheckSource(source) if known else None, run), query.urlencode())


def _digits(data: Mapping[str, str], name: str) -> str:
    text = data.get(name, "")
    return text if text.isdecimal() and len(text) < 16 else ""


def number(data: Mapping[str, str], name: str) -> int:
    """Return a whole number in *data*, 0 if there is none."""
    return int(_digits(data, name) or 0)


@dataclass(frozen=True, slots=True)
class PartChoice:
    """One sub-question at the desk: its number, and each letter with whether it is chosen.

    Without letters the answer is a text.
    """

    number: int
    letters: tuple[tuple[str, bool], ...]
    answer: str


@dataclass(frozen=True, slots=True)
class CheckPanel:
    """What the form of one check shows."""

    parts: tuple[PartChoice, ...]
    several: bool
    outcomes: tuple[tuple[str, str, bool], ...]
    seen: str
    key: str
    based_on: int


def check_panel(
    response: Response,
    reading: Extraction | ModelReading,
    own: AnswerCheck | None,
    sent: Any = None,
) -> CheckPanel:
    """Return the form of *response* with the sent values, else the own check, else the reading."""
    asked = asked_of(response.revision)
    said = said_in(own or reading)
    answers = [*said.answers, *[None] * asked.parts][: asked.parts]
    outcome = said.outcome
    if sent is not None:
        answers, outcome = sent_answers(sent, asked), sent.get("outcome", "")
    return CheckPanel(
        parts=tuple(_part(n, one or "", asked) for n, one in enumerate(answers, start=1)),
        several=asked.question_type == QuestionType.MULTIPLE_CHOICE,
        outcomes=tuple((one.value, key, one == outcome) for one, key in OUTCOME_KEYS.items()),
        seen=name_of(reading),
        key=str(uuid.uuid4()),
        based_on=own.number if own else 0,
    )


def _part(place: int, answer: str, asked: Asked) -> PartChoice:
    return PartChoice(place, tuple((one, one in answer) for one in asked.letters), answer)


def name_of(reading: Extraction | ModelReading) -> str:
    """Return the name of a reading in a form."""
    return f"{'e' if isinstance(reading, Extraction) else 'm'}{reading.pk}"


def reading_named(response: Response, name: str) -> Extraction | ModelReading:
    """Return the reading of *response* with the name *name*; raise BadInput without one."""
    key = int(name[1:]) if name[1:].isdecimal() and len(name) < 18 else 0
    rows = response.extractions if name[:1] == "e" else response.model_readings
    found: Extraction | ModelReading | None = rows.filter(pk=key).first()
    if found is None:
        raise BadInput(_("The page is out of date. Check the response again, then save."))
    return found


def sent_answers(sent: Any, asked: Asked) -> list[str | None]:
    """Return the sent answers, one per sub-question; None for a missing one."""
    found: list[str | None] = []
    for place in range(1, asked.parts + 1):
        if asked.letters:
            said = "".join(sorted(set("".join(sent.getlist(f"answer-{place}")).upper())))
        else:
            said = _on_one_line(sent.get(f"answer-{place}", "")) or ""
        found.append(said or None)
    return found


def _on_one_line(answer: str | None) -> str | None:
    return answer and " ".join(answer[:LONGEST_ANSWER].split())


@dataclass(frozen=True, slots=True)
class SentCheck:
    """A check as it was sent."""

    said: Statement
    seen: Extraction | ModelReading
    key: uuid.UUID
    based_on: int


def sent_check(response: Response, sent: Any) -> SentCheck:
    """Read the sent check; raise BadInput if it is none."""
    outcome = sent.get("outcome", "")
    answers = sent_answers(sent, asked_of(response.revision))
    seen = reading_named(response, sent.get("seen", ""))
    # Letters that were chosen before "no answer" was, are no answer.
    if outcome != ReadingOutcome.READ:
        answers = [None] * len(answers)
    elif list(map(_on_one_line, seen.answers)) == answers:
        answers = list(seen.answers)  # a field of text has one line, and the answer may have more
    try:
        key = uuid.UUID(sent.get("key", ""))
    except ValueError:
        raise BadInput(_("Use a new submission id for a new check."), code="no_key") from None
    return SentCheck(Statement(tuple(answers), outcome), seen, key, number(sent, "based_on"))


def shown_reading(own: AnswerCheck | None, reading: Extraction | ModelReading | None) -> Any:
    """Return the reading to show: that of the own check, if there is one."""
    return looked_at(own) if own else reading
