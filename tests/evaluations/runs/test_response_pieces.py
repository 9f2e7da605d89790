"""What a page shows of a response: cut at its evidence, and of very long ones both ends."""

from __future__ import annotations

from evaluations.runs.selectors.responses import MOST_PIECES, SHOWN, Piece, for_page, pieces_of


def test_a_short_response_is_shown_whole() -> None:
    pieces = pieces_of("so C and D.", [(3, 4), (9, 10)])
    assert for_page(pieces) == pieces
    assert [(one.text, one.number) for one in pieces] == [
        ("so ", ""),
        ("C", "1"),
        (" and ", ""),
        ("D", "2"),
        (".", ""),
    ]


def test_of_a_long_stretch_both_ends_are_shown_and_the_rest_is_counted() -> None:
    text = "a" * SHOWN + "b" * 10 + "c" * SHOWN + "D"
    shown = for_page(pieces_of(text, [(len(text) - 1, len(text))]))
    assert shown == [
        Piece("a" * SHOWN),
        Piece("", omitted=10),
        Piece("c" * SHOWN),
        Piece("D", "1"),
    ]


def test_of_very_many_stretches_the_first_and_the_last_are_shown() -> None:
    text = "A " * 5000
    spans = [(at, at + 1) for at in range(0, len(text), 2)]
    shown = for_page(pieces_of(text, spans))
    assert len(shown) == MOST_PIECES + 1
    assert sum(len(one.text) + one.omitted for one in shown) == len(text)
