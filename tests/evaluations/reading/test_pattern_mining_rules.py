"""The search for patterns: what it proposes by itself, sets aside, patches and leaves alone."""

from __future__ import annotations

from random import Random

import pytest

from evaluations.reading.rules.extraction.mined import ReadingPattern, read_by_patterns
from evaluations.reading.rules.extraction.pattern_mining import (
    Output,
    Settings,
    answer,
    cover,
    find_patterns,
)
from evaluations.reading.rules.extraction.source_text import plain_source

LETTERS = "ABCD"


def outputs(template: str, count: int, *, letters: str = LETTERS) -> list[Output]:
    """*count* outputs of one wording whose answers go through the letters."""
    texts = (template.format(n=n, x=letters[n % len(letters)]) for n in range(count))
    return [Output(plain_source(text).text, letters) for text in texts]


def found(given: list[Output], settings: Settings | None = None, *, seed: int = 1) -> list[str]:
    search = find_patterns(given, settings or Settings(), Random(seed))
    return [proposal.expression for proposal in search.final]


def test_a_wording_of_the_outputs_becomes_a_pattern() -> None:
    given = outputs("这是第{n}题的思路。【答案】{x}", 20)
    (expression,) = found(given)
    assert [answer(one, expression, several=False) for one in given] == [
        (LETTERS[n % 4],) for n in range(20)
    ]
    assert "答案" in expression


def test_two_occurrences_are_the_least() -> None:
    assert found(outputs("我要交的是：{x}。", 2))
    assert not found(outputs("我要交的是：{x}。", 1))
    assert not found(outputs("我要交的是：{x}。", 2), Settings(least_occurrences=3))


@pytest.mark.parametrize(
    "text",
    [
        "选项A太长，选项B太短，选项C跑题，选项D重复。第{n}题",  # a list of the options
        "维生素A对视力有好处，第{n}题与它有关。",  # always the same letter
        "第{n}题我不能选{x}。",  # ruled out
        "第{n}题的甲和选项{x}相近。",  # the rest of a list
    ],
)
def test_what_is_no_answer_becomes_no_pattern(text: str) -> None:
    assert not found(outputs(text, 30))


def test_words_that_are_mostly_followed_by_something_else_are_no_pattern() -> None:
    given = outputs("的确的确的确的确的确的确这是的{x}第{n}题", 30)
    for expression in found(given):
        assert not expression.startswith("的")


def test_what_a_pattern_reads_is_set_aside_and_the_rest_searched_again() -> None:
    given = outputs("【答案】{x}", 40) + outputs("So I would tick box {x} here", 3)
    search = find_patterns(given, Settings(), Random(1))
    (only,) = search.iterations
    assert (only.open, only.aside) == (43, 43)
    assert sorted(proposal.added for proposal in search.final) == [3, 40]


def test_each_iteration_draws_from_what_is_left() -> None:
    given = outputs("【答案】{x}", 300) + outputs("So I would tick box {x} here", 4)
    search = find_patterns(given, Settings(sample_size=10), Random(7))
    assert search.iterations[0].open == 304
    assert search.iterations[1].open == 304 - search.iterations[0].aside
    assert sum(one.aside for one in search.iterations) == 304


def test_a_wording_close_to_one_that_is_there_patches_it() -> None:
    given = outputs("【答案】{x}", 40) + outputs("【答案】：{x}", 20)
    search = find_patterns(given, Settings(), Random(1))
    (final,) = search.final
    assert (final.number, final.version) == (1, 2)
    assert [proposal.version for proposal in search.versions] == [1, 2]
    assert len(cover(given, final.expression, several=False).read) == 60
    assert search.iterations[0].patched == 1


def test_equal_random_seeds_give_equal_patterns() -> None:
    given = [
        *outputs("【答案】{x}", 90),
        *outputs("综上，故选{x}。", 60),
        *outputs("The answer is {x}.", 50),
        *outputs("{x}", 30),
    ]
    settings = Settings(sample_size=20)
    assert found(given, settings, seed=3) == found(given, settings, seed=3)
    for seed in range(4):
        read = {
            index
            for expression in found(given, settings, seed=seed)
            for index in cover(given, expression, several=False).read
        }
        assert len(read) == 230


def test_no_key_and_no_other_reading_goes_into_a_proposal() -> None:
    plain = outputs("综上，故选{x}。", 30)
    told = [Output(one.text, one.letters, strict=("B",)) for one in plain]
    assert found(told) == found(plain)


def test_several_questions_are_one_answer_each() -> None:
    texts = [f"11.{a} 12.{b} 13.{c}" for a, b, c in ("ABC", "DDA", "CAB", "BCD")]
    given = [Output(text, LETTERS, 3) for text in texts]
    (expression,) = found(given)
    assert answer(given[1], expression, several=False) == ("D", "D", "A")


def test_a_set_is_one_answer_where_several_letters_are_asked_for() -> None:
    texts = ["【答案】AC", "【答案】BD", "【答案】A、B", "【答案】D"]
    given = [Output(text, LETTERS) for text in texts]
    search = find_patterns(given, Settings(), Random(1), several=True)
    (final,) = search.final
    assert [answer(one, final.expression, several=True) for one in given] == [
        *(("AC",), ("BD",), ("AB",), ("D",)),
    ]
    assert answer(given[0], final.expression, several=False) is None


def test_the_cover_says_how_often_the_strict_reading_agrees() -> None:
    given = [
        Output("【答案】A", LETTERS, strict=("A",)),
        Output("【答案】B", LETTERS, strict=("C",)),
        Output("【答案】C", LETTERS),
        Output("没有", LETTERS, strict=("D",)),
    ]
    covered = cover(given, "【答案】<letters>", several=False)
    assert (covered.read, covered.compared, covered.agreed) == ((0, 1, 2), 2, 1)


def test_a_proposal_reads_by_the_reader_what_it_counts() -> None:
    given = outputs("Therefore, my final pick is ({x}).", 12)
    (expression,) = found(given)
    pattern = ReadingPattern("one", "single_choice", expression)
    reading = read_by_patterns(
        plain_source("Therefore, my final pick is (**D**)."), LETTERS, [pattern]
    )
    assert reading is not None
    assert reading.letters == ("D",)


def test_nothing_to_search_finds_nothing() -> None:
    assert find_patterns([], Settings(), Random(1)).versions == ()
    with pytest.raises(ValueError, match="two occurrences"):
        Settings(least_occurrences=1)
