"""Which reader read the answers of a run: patterns, mined patterns, a model, people, none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, QuerySet

from evaluations.models import AnswerCheck, CheckSample, Extraction, ModelReading, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reading.rules.extraction.model_reader import METHOD
from evaluations.reading.rules.extraction.reading import Statement
from evaluations.reading.selectors.answer_checks import (
    PERSON,
    corrects,
    decided_readings,
    newest_checks,
    said_in,
)
from evaluations.statistics.figure import Figure
from evaluations.statistics.intervals import share
from evaluations.statistics.outcomes import ReadingOutcome

PATTERN, MINED, UNREAD = "pattern", "mined", "unread"
READERS = (PATTERN, MINED, METHOD, PERSON, UNREAD)


@dataclass(frozen=True, slots=True)
class Labour:
    """Of how many answers of *run* which reader gave the reading that counts.

    A reading that people only confirmed is its reader's; what they corrected or
    found where nobody had read anything is theirs. ``checked`` of them were looked
    at by a person, ``corrected`` of these were read otherwise before.
    """

    run: Run
    by: Counter[str]
    checked: int
    corrected: int

    @property
    def total(self) -> int:
        """Return the number of answers that were read by rule."""
        return self.by.total()

    def share(self, reader: str) -> float | None:
        """Return the share of one of ``READERS``, 0 to 1; None without answers."""
        return self.by[reader] / self.total if self.total else None


def read_runs() -> QuerySet[Run]:
    """Return the runs with answers that were read by rule, the newest first."""
    read = Response.objects.filter(run=OuterRef("pk"), rule_reading__isnull=False)
    return (
        Run.objects.filter(Exists(read), purpose=RunPurpose.ANSWER)
        .select_related("language_model", "dataset")
        .order_by("-pk")
    )


def labour(runs: Sequence[Run]) -> list[Labour]:
    """Return the counts of each of *runs*, in their order."""
    return [_labour(run) for run in runs]


def _labour(run: Run) -> Labour:
    answers = Response.objects.filter(run=run, rule_reading__isnull=False).order_by()
    grouped = answers.values_list("rule_reading__outcome", "rule_reading__method")
    by: Counter[str] = Counter()
    for outcome, method, n in grouped.annotate(n=Count("pk")):
        by[_reader(outcome, method)] += n
    checks = AnswerCheck.objects.filter(response__run=run, followed_by__isnull=True)
    read = ModelReading.objects.filter(response__run=run)
    worked_on = {
        *checks.values_list("response", flat=True),
        *read.values_list("response", flat=True),
    }
    looked_at = answers.select_related("rule_reading", "model_reading").in_bulk(worked_on)
    for pk, decided in decided_readings(worked_on).items():
        if pk not in looked_at or (row := looked_at[pk].rule_reading) is None:
            continue
        by_model = looked_at[pk].model_reading
        by[_reader(row.outcome, row.method)] -= 1
        said = Statement(decided.answers, decided.outcome)
        by[_decider(said, row, said_in(by_model) if by_model else None)] += 1
    by_people = newest_checks(worked_on)
    corrected = sum(corrects(own) is True for own in by_people.values())
    return Labour(run, +by, len(by_people), corrected)


def _reader(outcome: str, method: str) -> str:
    if outcome != ReadingOutcome.READ:
        return UNREAD
    return MINED if method == MINED else PATTERN


def _decider(said: Statement, pattern: Extraction, model: Statement | None) -> str:
    """Return the first reader of the reading that counts."""
    if said.outcome != ReadingOutcome.READ:
        return UNREAD
    if said == said_in(pattern):
        return _reader(pattern.outcome, pattern.method)
    return METHOD if said == model else PERSON


@dataclass(frozen=True, slots=True)
class SampleFound:
    """What people found in a random sample: how often the pattern's reading was wrong.

    ``checked`` leaves out answers on which as many people say one thing as another.
    """

    sample: CheckSample
    checked: int
    wrong: int

    @property
    def rate(self) -> Figure:
        """Return the share of wrong readings among those checked, with Wilson's interval."""
        return share(self.wrong, self.checked)


def samples(runs: Sequence[Run]) -> list[SampleFound]:
    """Return the samples drawn from *runs*, the newest first."""
    rows = list(
        CheckSample.objects.filter(run__in=runs).select_related("run__language_model", "created_by")
    )
    drawn = CheckSample.responses.through.objects.filter(checksample__in=rows)
    found: dict[int, Counter[bool]] = defaultdict(Counter)
    pairs = list(drawn.values_list("checksample", "response"))
    checks = newest_checks({response for _sample, response in pairs})
    for sample, response in pairs:
        if response in checks and (wrong := corrects(checks[response])) is not None:
            found[sample][wrong] += 1
    return [SampleFound(row, found[row.pk].total(), found[row.pk][True]) for row in rows]
