"""HRE, the heuristic search for regular expressions of AGIBench (Algorithm 1).

The paper: in each of N iterations (10), sample M of all responses (100). While the most
frequent way of giving the answer occurs often enough in the sample, write an
expression, merge it into the first known one that can include it or add it, and remove
what it matches from the sample. Algorithm 1 requires more than two occurrences, the
paper's text two.

Differences: a sample is drawn from the responses that no pattern reads yet, so that no
iteration proposes known patterns again; two occurrences are enough; and the
expressions are only proposed, for a person to accept.

The rule of proposals is ours. It uses no key and no answer of another reader. A shape
(see pattern_mining_shapes) is proposed if every response with it gives one answer by it
(a list of options gives several), if the text before the letters is mostly followed by
letters, and if the responses do not all name the same letter.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random

from evaluations.reading.rules.extraction.mined import LETTERS, answer_of, compiled, matches
from evaluations.reading.rules.extraction.pattern_mining_shapes import Shape, merged, occurrences

# The least share of the responses with a shape that give one answer by it.
LEAST_AGREEMENT = 0.9
# The least share of the occurrences of the text before the letters that letters follow.
LEAST_AFFINITY = 0.5
# From this number of responses on, a shape with the same letter in all of them is rejected.
ENOUGH_FOR_VARIETY = 4
# The number of shapes that are tested in one iteration, the most frequent first.
MOST_SHAPES = 200

Progress = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """N, M and the least occurrences of Algorithm 1; the paper's are the defaults."""

    iterations: int = 10
    sample_size: int = 100
    least_occurrences: int = 2

    def __post_init__(self) -> None:
        if min(self.iterations, self.sample_size) < 1 or self.least_occurrences < 2:
            raise ValueError("at least one iteration, one response, and two occurrences")


@dataclass(frozen=True, slots=True)
class Output:
    """One response to be searched: its plain text, the options and the number of questions.

    ``strict`` is the strict reading, only for comparison: one set of letters per
    question, None if nothing was read.
    """

    text: str
    letters: str
    parts: int = 1
    strict: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """One version of a pattern: the shape, the iteration (from 1), the responses it added.

    ``number`` counts the patterns of a search from 1. A patch has the number of the
    pattern that it replaces and the next version.
    """

    number: int
    version: int
    shape: Shape
    iteration: int
    added: int

    @property
    def expression(self) -> str:
        """Return the expression with ``<letters>`` in the place of the answer."""
        return self.shape.expression


@dataclass(frozen=True, slots=True)
class Iteration:
    """The result of an iteration: open responses before, new patterns, patches, responses read."""

    open: int
    new: int
    patched: int
    aside: int


@dataclass(slots=True)
class _State:
    outputs: Sequence[Output]
    several: bool
    settings: Settings
    open: list[int]
    versions: list[Proposal] = field(default_factory=list)
    iterations: list[Iteration] = field(default_factory=list)

    def newest(self) -> list[Proposal]:
        """Return the last version of each pattern."""
        return list({proposal.number: proposal for proposal in self.versions}.values())


@dataclass(frozen=True, slots=True)
class Search:
    """All versions in order of creation, and the results of the iterations."""

    versions: tuple[Proposal, ...]
    iterations: tuple[Iteration, ...]

    @property
    def final(self) -> tuple[Proposal, ...]:
        """Return the patterns that no patch replaced."""
        return tuple({proposal.number: proposal for proposal in self.versions}.values())


def answer(output: Output, expression: str, *, several: bool) -> tuple[str, ...] | None:
    """Return what *expression* reads in *output*: one sorted set of letters per question, or None.

    Without *several*, more than one letter per question is no reading.
    """
    chosen = answer_of(matches(expression, output.text, output.letters), output.parts)
    if not chosen or any(match.undecided for match in chosen):
        return None
    if output.parts > 1:
        return tuple("".join(match.letters for match in chosen))
    letters = "".join(sorted(set(chosen[-1].letters)))
    return (letters,) if several or len(letters) == 1 else None


def find_patterns(
    outputs: Sequence[Output],
    settings: Settings,
    random: Random,
    *,
    several: bool = False,
    progress: Progress = lambda: None,
) -> Search:
    """Search *outputs*, all of one question type, for patterns; the result is deterministic.

    *several*: an answer may be a set of letters. *progress* is called after each
    iteration. The time per pattern is linear in the length of the outputs.
    """
    state = _State(outputs, several, settings, list(range(len(outputs))))
    for number in range(1, settings.iterations + 1):
        if state.open:
            state.iterations.append(_iterate(state, number, random))
        progress()
    return Search(tuple(state.versions), tuple(state.iterations))


def _iterate(state: _State, iteration: int, random: Random) -> Iteration:
    """Draw a sample, propose patterns from it, and remove the responses that they read."""
    before, known = len(state.open), len(state.newest())
    drawn = random.sample(state.open, min(state.settings.sample_size, before))
    sample = _Sample(state.outputs, sorted(drawn), several=state.several)
    found: list[Proposal] = []
    while shape := sample.best(state.settings.least_occurrences):
        proposal = _placed(state, found, shape, sample, iteration)
        sample.set_aside(proposal.expression)
        found.append(proposal)
    _set_aside(state, found)
    new = len(state.newest()) - known
    return Iteration(before, new, len(found) - new, before - len(state.open))


def _placed(
    state: _State, found: Sequence[Proposal], shape: Shape, sample: _Sample, iteration: int
) -> Proposal:
    """Return *shape* as a patch of the newest pattern that can include it, or as a new one."""
    newest = {p.number: p for p in (*state.versions, *found)}
    for old in reversed(newest.values()):
        together = merged(old.shape, shape)
        if together and sample.bears_out(together):
            return Proposal(old.number, old.version + 1, together, iteration, 0)
    return Proposal(len(newest) + 1, 1, shape, iteration, 0)


def _set_aside(state: _State, found: Sequence[Proposal]) -> None:
    """Remove the responses that the proposals of an iteration read."""
    for proposal in found:
        aside = {
            index
            for index in state.open
            if (
                answer(state.outputs[index], proposal.expression, several=state.several) is not None
            )
        }
        state.open = [index for index in state.open if index not in aside]
        state.versions.append(replace(proposal, added=len(aside)))


class _Sample:
    """The responses of one iteration, and their shapes."""

    def __init__(self, outputs: Sequence[Output], drawn: Sequence[int], *, several: bool) -> None:
        self._outputs = {index: outputs[index] for index in drawn}
        self._several = several
        self._open = set(drawn)
        self._named: dict[Shape, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        self._refused: set[Shape] = set()
        for index, output in self._outputs.items():
            for occurrence in occurrences(output.text, output.letters):
                for shape in occurrence.shapes():
                    self._named[shape][index].append(occurrence.letters)

    def best(self, least: int) -> Shape | None:
        """Return the shape that gives the answer of most open responses, at least *least*.

        Of equal shapes the one with less text after the letters, then the one with more
        text before them.
        """
        counted = []
        for shape, by_output in self._named.items():
            if shape in self._refused:
                continue
            count = sum(1 for index in by_output if index in self._open)
            if count >= least:
                counted.append((-count, len(shape.right), -len(shape.left), shape))
        for _, _, _, shape in sorted(counted)[:MOST_SHAPES]:
            self._refused.add(shape)
            if self._agrees(shape, least) and self.bears_out(shape) and self._reads(shape, least):
                return shape
        return None

    def set_aside(self, expression: str) -> None:
        """Remove the responses that *expression* reads from the open ones of the sample."""
        self._open -= self._read(expression)

    def _reads(self, shape: Shape, least: int) -> bool:
        return len(self._read(shape.expression)) >= least

    def _read(self, expression: str) -> set[int]:
        return {
            index
            for index in self._open
            if answer(self._outputs[index], expression, several=self._several)
        }

    def _agrees(self, shape: Shape, least: int) -> bool:
        """Return whether the open responses with *shape* give one answer each, not all the same."""
        named = {i: names for i, names in self._named[shape].items() if i in self._open}
        given = [self._one_answer(self._outputs[i], names) for i, names in named.items()]
        answers = [one for one in given if one]
        if len(answers) < max(least, LEAST_AGREEMENT * len(named)):
            return False
        return len(answers) < ENOUGH_FOR_VARIETY or len(set(answers)) > 1

    def _one_answer(self, output: Output, names: Sequence[str]) -> str:
        if output.parts > 1:
            joined = "".join(names)
            return joined if len(joined) == output.parts else ""
        sets = {"".join(sorted(set(name))) for name in names}
        only = sets.pop()
        return only if not sets and (self._several or len(only) == 1) else ""

    def bears_out(self, shape: Shape) -> bool:
        """Return whether the text before the letters is mostly followed by letters."""
        if shape.is_anchored:
            return True
        before = with_letters = 0
        for output in self._outputs.values():
            here = sum(1 for _ in _left(shape).finditer(output.text))
            if here:
                full = compiled(shape.left_expression + LETTERS, output.letters)
                before += here
                with_letters += sum(1 for _ in full.finditer(output.text))
        return with_letters >= LEAST_AFFINITY * before


@lru_cache(maxsize=4096)
def _left(shape: Shape) -> re.Pattern[str]:
    return re.compile(shape.left_expression)


@dataclass(frozen=True, slots=True)
class Cover:
    """The outputs that one expression reads, by index, and the agreement with strict readings."""

    read: tuple[int, ...]
    compared: int
    agreed: int


def cover(outputs: Sequence[Output], expression: str, *, several: bool) -> Cover:
    """Return which of *outputs* *expression* reads, and the agreement with strict readings."""
    read = []
    compared = agreed = 0
    for index, output in enumerate(outputs):
        given = answer(output, expression, several=several)
        if given is None:
            continue
        read.append(index)
        if output.strict is not None:
            compared += 1
            agreed += given == output.strict
    return Cover(tuple(read), compared, agreed)
