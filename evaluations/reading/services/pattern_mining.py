"""The work of one search: read the responses, search them, store what was found.

Everything is stored at the end, in one transaction: a search whose worker was killed
starts again and gives the same patterns by the same random seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import F

from evaluations.models import Extraction, MinedPattern, PatternSearch, Response
from evaluations.reading.rules.extraction.mined import (
    ReadingPattern,
    option_letters,
    read_by_patterns,
)
from evaluations.reading.rules.extraction.pattern_mining import (
    Cover,
    Output,
    Proposal,
    Search,
    Settings,
    cover,
    find_patterns,
)
from evaluations.reading.rules.extraction.source_text import plain_source
from evaluations.statistics.outcomes import ReadingOutcome
from evaluations.statistics.policies import Policy
from gradeapp.common.background_work.services import held
from questions.rules.vocabulary import CHOICE_TYPES, Part, QuestionType

BATCH = 500
EXAMPLES, LEFT = 5, 20
# Readings by other methods than written rules are not compared.
NOT_BY_RULE = ("mined", "model", "person")

# Called with the number of steps done; raises if the search must end.
Steps = Callable[[int], None]


@dataclass(slots=True)
class Group:
    """The responses to questions of one type: their ids and what is searched of them."""

    question_type: str
    ids: list[int] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)

    @property
    def several(self) -> bool:
        """Return whether an answer may be a set of letters."""
        return self.question_type == QuestionType.MULTIPLE_CHOICE


@dataclass(frozen=True, slots=True)
class Mined:
    """What was found in one group, and what each version of each pattern reads of it."""

    group: Group
    search: Search
    covers: tuple[Cover, ...]

    @property
    def covered(self) -> set[int]:
        """Return the indices in the group that a final pattern reads."""
        final = set(self.search.final)
        pairs = zip(self.search.versions, self.covers, strict=True)
        return {index for version, one in pairs if version in final for index in one.read}


def search_run(search: PatternSearch, steps: Steps) -> list[Mined]:
    """Search the objective responses of the run, one question type after another."""
    ids = list(searched(search.run_id).values_list("pk", flat=True))
    types = searched(search.run_id).order_by().values("revision__question_type").distinct()
    total = -(-len(ids) // BATCH) + types.count() * (search.iterations + 1)
    PatternSearch.objects.filter(pk=search.pk).update(steps_total=total, steps_done=0)
    groups: dict[str, Group] = {}
    for at in range(0, len(ids), BATCH):
        _read(ids[at : at + BATCH], groups)
        steps(1)
    return [_mine(search, groups[name], steps) for name in sorted(groups)]


def searched(run: int) -> Any:
    """Return the responses of *run* to questions with option letters."""
    return Response.objects.filter(
        run=run, question__part=Part.OBJECTIVE, revision__question_type__in=CHOICE_TYPES
    ).order_by("pk")


def _read(ids: Sequence[int], groups: dict[str, Group]) -> None:
    """Add the responses *ids* to their groups, each with its newest reading by written rules."""
    strict = dict(
        Extraction.objects.filter(
            response__in=ids, policy=Policy.STRICT, outcome=ReadingOutcome.READ
        )
        .exclude(method__in=NOT_BY_RULE)
        .order_by("pk")
        .values_list("response_id", "answers")
    )
    rows = Response.objects.filter(pk__in=ids).order_by("pk")
    names = ("question_type", "letters", "answer_key")
    for pk, text, question_type, letters, key in rows.values_list(
        "pk", "text", *(f"revision__{name}" for name in names)
    ):
        group = groups.setdefault(question_type, Group(question_type))
        group.ids.append(pk)
        read = tuple(answer or "" for answer in strict[pk]) if pk in strict else None
        options = option_letters(question_type, letters)
        group.outputs.append(Output(plain_source(text).text, options, max(len(key), 1), read))


def _mine(search: PatternSearch, group: Group, steps: Steps) -> Mined:
    settings = Settings(search.iterations, search.sample_size, search.least_occurrences)
    random = Random(f"{search.random_seed}:{group.question_type}")
    found = find_patterns(
        group.outputs, settings, random, several=group.several, progress=lambda: steps(1)
    )
    covers = []
    for version in found.versions:
        covers.append(cover(group.outputs, version.expression, several=group.several))
        steps(0)
    steps(1)
    return Mined(group, found, tuple(covers))


@transaction.atomic
def keep(search: PatternSearch, found: Iterable[Mined]) -> bool:
    """Keep what was found and end the search; False where another worker has it by now."""
    mine = held(search)
    if not mine.update(steps_done=F("steps_total")):
        return False
    figures: dict[str, Any] = {}
    left: list[int] = []
    responses = covered = 0
    for one in found:
        _keep_patterns(search, one)
        group, read = one.group, one.covered
        responses, covered = responses + len(group.ids), covered + len(read)
        left += [pk for place, pk in enumerate(group.ids) if place not in read]
        figures[group.question_type] = {
            "responses": len(group.ids),
            "covered": len(read),
            "iterations": [asdict(iteration) for iteration in one.search.iterations],
        }
    some = Random(search.random_seed).sample(left, min(LEFT, len(left)))
    return bool(
        mine.update(responses=responses, covered=covered, figures=figures, left=sorted(some))
    )


def _keep_patterns(search: PatternSearch, one: Mined) -> None:
    """Store every version of every pattern; a patch points to the row it replaces."""
    rows: dict[int, MinedPattern] = {}
    for version, covered in zip(one.search.versions, one.covers, strict=True):
        name = f"hre{search.pk}.{one.group.question_type}.{version.number}.{version.version}"
        rows[version.number] = MinedPattern.objects.create(
            search=search,
            question_type=one.group.question_type,
            number=version.number,
            version=version.version,
            replaces=rows.get(version.number),
            name=name,
            expression=version.expression,
            iteration=version.iteration,
            matched=len(covered.read),
            added=version.added,
            compared=covered.compared,
            agreed=covered.agreed,
            examples=_examples(search, one.group, version, covered, name),
        )


def _examples(
    search: PatternSearch, group: Group, version: Proposal, covered: Cover, name: str
) -> list[dict[str, Any]]:
    """Return some of the responses that a pattern reads, with the place of the answer."""
    random = Random(f"{search.random_seed}:{name.partition('.')[2]}")
    places = random.sample(covered.read, min(EXAMPLES, len(covered.read)))
    by_id = {group.ids[place]: group.outputs[place] for place in sorted(places)}
    pattern = ReadingPattern(name, group.question_type, version.expression)
    found: dict[int, dict[str, Any]] = defaultdict(dict)
    for pk, text in Response.objects.filter(pk__in=by_id).order_by("pk").values_list("pk", "text"):
        output = by_id[pk]
        reading = read_by_patterns(plain_source(text), output.letters, [pattern], output.parts)
        if reading is not None:
            found[pk] = {
                "response": pk,
                "span": list(reading.span),
                "letters": list(reading.letters),
            }
    return list(found.values())
