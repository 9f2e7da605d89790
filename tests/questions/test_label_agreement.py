"""Cohen's kappa against published and hand-worked tables; pinyin initials."""

from __future__ import annotations

import pytest

from questions.rules.label_agreement import NO_PAIRS, ONE_VALUE, label_agreement, pinyin_initials


def pairs(rows: list[list[int]]) -> list[tuple[int, int]]:
    """A table of counts as pairs: the row is the first's value, the column the second's."""
    return [
        (a, b) for a, row in enumerate(rows) for b, count in enumerate(row) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("rows", "kappa", "raw"),
    [
        # Cohen 1960, table 1: p_o = 140/200, p_e = (120*100 + 60*60 + 20*40) / 200^2 = 0.41
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.29 / 0.59, 0.7),
        # p_o = 35/50, p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5
        ([[20, 5], [10, 15]], 0.4, 0.7),
        # always the other value: p_o = 0, p_e = 0.5
        ([[0, 5], [5, 0]], -1.0, 0.0),
        # the first never varies, the second does: p_o = p_e = 0.9
        ([[9, 1], [0, 0]], 0.0, 0.9),
        # each one value, and another one: p_o = p_e = 0
        ([[0, 7], [0, 0]], 0.0, 0.0),
        ([[4, 0], [0, 6]], 1.0, 1.0),
    ],
)
def test_kappa_is_what_the_tables_give(rows: list[list[int]], kappa: float, raw: float) -> None:
    found = label_agreement(pairs(rows))
    assert found.kappa == pytest.approx(kappa, abs=1e-12)
    assert found.raw == pytest.approx(raw)
    assert (found.n, found.reason) == (sum(map(sum, rows)), "")


def test_without_items_and_without_variation_there_is_a_reason() -> None:
    nothing, same = label_agreement([]), label_agreement([("text", "text")] * 3)
    assert (nothing.kappa, nothing.raw, nothing.reason) == (None, None, NO_PAIRS)
    assert (same.kappa, same.raw, same.reason, same.n) == (None, 1.0, ONE_VALUE, 3)


def test_what_differs_is_listed_by_how_often() -> None:
    found = label_agreement(pairs([[3, 1, 2], [0, 1, 0], [0, 0, 0]]))
    assert found.apart == [(0, 2, 2), (0, 1, 1)]
    assert found.agreed == 4


@pytest.mark.parametrize(
    ("name", "initials"),
    [
        ("力学", "lx"),
        ("中国历史", "zgls"),
        ("逻辑推理", "ljtl"),
        ("言语理解", "yylj"),
        ("DNA 结构", "dnajg"),
        ("啊座", "az"),
        ("（鼗）", ""),
    ],
)
def test_initials_of_pinyin(name: str, initials: str) -> None:
    assert pinyin_initials(name) == initials
