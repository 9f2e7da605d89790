"""The search on the released answers of gpt-4-0314 finds the benchmark's own format by itself."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

from evaluations.reading.rules.extraction.mined import (
    ReadingPattern,
    compiled,
    option_letters,
    read_by_patterns,
)
from evaluations.reading.rules.extraction.pattern_mining import (
    Output,
    Settings,
    cover,
    find_patterns,
)
from evaluations.reading.rules.extraction.source_text import plain_source
from tests.evaluations.published_files import objective_items

pytestmark = pytest.mark.shareddata

Texts = dict[str, list[tuple[str, int]]]
# What the benchmark's prompts call its types.
SEVERAL = "multi_choice"


@pytest.fixture
def texts(shared_data: Path) -> Texts:
    """Each released output with its number of questions, by question type."""
    found: Texts = defaultdict(list)
    for _, question_type, item in objective_items(shared_data):
        found[question_type].append((item["model_output"], len(item["standard_answer"])))
    return found


def outputs_of(texts: Texts, question_type: str) -> list[Output]:
    letters = option_letters(question_type, "")
    return [Output(plain_source(text).text, letters, n) for text, n in texts[question_type]]


def test_the_count_of_the_tagged_format_is_that_of_a_plain_look_at_the_files(texts: Texts) -> None:
    outputs = outputs_of(texts, "single_choice")
    counted = 0
    for text, _ in texts["single_choice"]:
        after = text.rpartition("【答案】")[2] if "【答案】" in text else ""
        one = re.match(r"[ :：]*([A-D])(?![A-Za-z0-9])(?! ?[,，、和或] ?[A-D])", after)
        counted += bool(one)
    expression = "【答案】(?: {0,3}:)? {0,3}<letters>"
    assert len(cover(outputs, expression, several=False).read) == counted > 1_300


def test_the_tagged_format_is_found_and_the_cover_is_what_the_reader_reads(texts: Texts) -> None:
    assert len(texts) == 4
    for question_type in texts:
        outputs, several = outputs_of(texts, question_type), question_type == SEVERAL
        search = find_patterns(outputs, Settings(), Random(1), several=several)
        tagged = [
            proposal.expression
            for proposal in search.final
            if compiled(proposal.expression, "ABCD").search("【答案】C")
        ]
        assert len(cover(outputs, tagged[0], several=several).read) > 0.9 * len(outputs)
        covered = {
            index
            for proposal in search.final
            for index in cover(outputs, proposal.expression, several=several).read
        }
        patterns = [
            ReadingPattern(str(proposal.number), question_type, proposal.expression)
            for proposal in search.final
        ]
        letters = option_letters(question_type, "")
        found = set()
        for index, (text, parts) in enumerate(texts[question_type]):
            for pattern in patterns:
                reading = read_by_patterns(plain_source(text), letters, [pattern], parts)
                if reading is None or reading.undecided:
                    continue
                if several or parts > 1 or len(set(reading.letters)) == 1:
                    found.add(index)
        assert found == covered
        assert sum(one.aside for one in search.iterations) == len(covered)
