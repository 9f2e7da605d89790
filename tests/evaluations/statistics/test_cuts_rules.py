"""The report cuts: rates by labels of questions, people, macro averages, and what is missing."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest
from scipy.stats import t as student

from evaluations.statistics.cuts import TaskRates, cuts, in_order
from evaluations.statistics.figure import Figure, Report
from tests.evaluations.statistics.statistics_frames import asked, frame

pytestmark = pytest.mark.once


def by_key(report: Report) -> dict[str, dict[str, Figure]]:
    """The figures of the rows, by the values of the keys."""
    names = [name for name in report.rows[0].key if name not in ("model", "condition")]
    return {"/".join(row.key[name] for name in names): row.figures for row in report.rows}


def bounds(figure: Figure) -> tuple[float | None, ...]:
    return tuple(None if end is None else round(end, 6) for end in (figure.low, figure.high))


def test_rows_pool_questions_and_macro_is_the_mean_over_rows() -> None:
    tens = [asked(n, points, 10.0) for n, points in enumerate((5.0, 6.0, 7.0, 6.0, 6.0))]
    twos = [asked(n, points, 2.0, n=2, task="math") for n, points in ((10, 2.0), (11, 1.0))]
    rows = by_key(cuts(frame(*tens, *twos), ["task"]))
    assert list(rows) == ["lsat-ar", "math", "ALL", "MACRO"]
    # R = 30/50; the residuals are -1, 0, 1, 0, 0; variance 5 x 2 / (4 x 50^2) = 0.001.
    half = student.ppf(0.975, 4) * 0.001**0.5
    assert rows["lsat-ar"]["rate"].value == 0.6
    assert bounds(rows["lsat-ar"]["rate"]) == (round(0.6 - half, 6), round(0.6 + half, 6))
    assert (rows["math"]["rate"].value, rows["math"]["rate"].n) == (0.75, 4)
    assert rows["ALL"]["rate"].value == pytest.approx(33 / 54)
    assert (rows["MACRO"]["rate"].value, rows["MACRO"]["rate"].n) == (pytest.approx(0.675), 2)
    # The variance of the mean of two rows is a quarter of the sum of theirs, 0.001 and for math
    # 2 x 0.5 / (1 x 4^2) = 0.0625; so few degrees of freedom that the bounds are those of a share.
    assert bounds(rows["MACRO"]["rate"]) == (0.0, 1.0)
    flat = [asked(n, n % 2 + 5.0, 10.0, task=f"t{n // 20}") for n in range(40)]
    macro = by_key(cuts(frame(*flat), ["task"]))["MACRO"]["rate"]
    # Each row: 20 residuals of +-0.5, variance 20 x 5 / (19 x 200^2); Satterthwaite gives 38.
    half = student.ppf(0.975, 38) * (2 * 100 / (19 * 200**2) / 4) ** 0.5
    assert (macro.value, bounds(macro)) == (0.55, (round(0.55 - half, 6), round(0.55 + half, 6)))


def test_people_are_weighted_as_the_rate_and_the_gap_is_over_questions() -> None:
    made = frame(
        asked(1, 6.0, 10.0, human=0.5, difficulty=1),
        asked(2, 8.0, 10.0, human=0.6, difficulty=1),
        asked(3, 1.0, 5.0, human=0.9, difficulty=2),
        asked(4, 5.0, 5.0, difficulty=2),
        asked(5, None, 5.0, human=0.1, difficulty=2),
    )
    rows = by_key(cuts(made, ["difficulty"]))
    one = rows["1"]
    assert (one["human"].value, one["human"].n) == (0.55, 2)
    assert one["gap"].value == pytest.approx(0.15)
    # Residuals of points less people's: 1 - 1.5 and 2 - 1.5; variance 2 x 0.5 / (1 x 20^2).
    half = student.ppf(0.975, 1) * 0.0025**0.5
    assert bounds(one["gap"]) == (round(0.15 - half, 6), round(0.15 + half, 6))
    # The rate has both scored questions, people and the gap the one that has a rate of people.
    two = rows["2"]
    assert (two["rate"].value, two["human"].value, two["gap"].value) == (
        0.6,
        0.9,
        pytest.approx(-0.7),
    )
    assert (two["unscored"].value, two["unscored"].n) == (1, 3)
    assert rows["ALL"]["human"].value == pytest.approx((5 + 6 + 4.5) / 25)
    assert rows["MACRO"]["human"].value == pytest.approx((0.55 + 0.9) / 2)
    assert rows["MACRO"]["gap"].value == pytest.approx((0.15 - 0.7) / 2)
    assert "human_top" not in one


def test_a_question_has_its_accuracy_over_repeats() -> None:
    made = frame(asked(1, 2.0, 3.0, n=3), asked(2, 3.0, 3.0, n=3), asked(10, 0.0, 3.0, n=3))
    rows = by_key(cuts(made, ["question"]))
    assert list(rows) == ["lsat-ar/1", "lsat-ar/2", "lsat-ar/10", "ALL", "MACRO"]
    rate = rows["lsat-ar/1"]["rate"]
    wilson = binomtest(2, 3).proportion_ci(method="wilson")
    assert (rate.value, rate.n) == (pytest.approx(2 / 3), 3)
    assert bounds(rate) == (round(wilson.low, 6), round(wilson.high, 6))
    # Questions are the sample of the mean: sd of 2/3, 1, 0 over the root of 3.
    assert bounds(rows["MACRO"]["rate"]) == (0.0, 1.0)
    assert bounds(rows["ALL"]["rate"]) == (0.0, 1.0)


def test_one_rate_of_people_keeps_its_digits() -> None:
    made = frame(*(asked(n, 1.0, human=0.73) for n in range(351)))
    assert by_key(cuts(made, ["modal"]))["text"]["human"].value == 0.73


def test_one_question_of_a_kind_says_less_of_it_than_two() -> None:
    """Questions are the sample of a kind, however often each was asked."""
    made = frame(
        asked(1, 3.0, 3.0, n=3, modal="text"), asked(2, 2.0, 3.0, n=3, modal="image"),
        asked(3, 3.0, 3.0, n=3, modal="table"), asked(4, 3.0, 3.0, n=3, modal="table"),
    )  # fmt: skip
    rows = by_key(cuts(made, ["modal"]))
    for name, questions in (("text", 1), ("table", 2)):
        wilson = binomtest(questions, questions).proportion_ci(method="wilson")
        assert bounds(rows[name]["rate"]) == (round(wilson.low, 6), 1.0), name
    assert bounds(rows["image"]["rate"]) == (None, None)


def test_questions_of_one_answer_have_the_interval_of_wilson() -> None:
    made = frame(*(asked(n, float(n < 7)) for n in range(10)))
    wilson = binomtest(7, 10).proportion_ci(method="wilson")
    rate = by_key(cuts(made, ["modal"]))["text"]["rate"]
    assert bounds(rate) == (round(wilson.low, 6), round(wilson.high, 6))


def test_two_keys_cross_with_margins() -> None:
    made = frame(
        asked(1, 1.0, modal="image", year=2021),
        asked(2, 0.0, modal="text", year=2021),
        asked(3, 1.0, modal="text", year=2022),
        asked(4, 0.0, modal="", year=None),
    )
    rates = {key: row["rate"].value for key, row in by_key(cuts(made, ["year", "modal"])).items()}
    assert rates == {
        **{"2021/text": 0.0, "2021/image": 1.0, "2021/ALL": 0.5},
        **{"2022/text": 1.0, "2022/ALL": 1.0, "/": 0.0, "/ALL": 0.0},
        **{"ALL/text": 0.5, "ALL/image": 1.0, "ALL/": 0.0, "ALL/ALL": 0.5, "MACRO/MACRO": 0.5},
    }
    assert list(rates)[:3] == ["2021/text", "2021/image", "2021/ALL"]


def test_rates_of_tasks_count_where_rows_are_whole_tasks() -> None:
    tasks = TaskRates(average={"lsat-ar": 0.56, "math": 0.4}, top={"lsat-ar": 0.91, "math": 0.9})
    made = frame(
        *(asked(n, 1.0, year=2020 + n) for n in (1, 2, 3)),
        asked(4, 0.0, task="math", year=2021),
    )
    by_task = by_key(cuts(made, ["task"], tasks=tasks))
    assert (by_task["math"]["human"].value, by_task["math"]["human_top"].value) == (0.4, 0.9)
    assert by_task["math"]["gap"].value == -0.4
    assert by_task["MACRO"]["human"].value == pytest.approx(0.48)
    assert by_task["ALL"]["human"].value == pytest.approx((3 * 0.56 + 0.4) / 4)
    # lsat-ar is spread over three years, so its rate says nothing of one of them.
    by_year = by_key(cuts(made, ["year"], tasks=tasks))
    assert by_year["2022"]["human"].reason == "no_human_rate"
    assert by_year["2021"]["human"].value == 0.4
    assert by_year["MACRO"]["human"].reason == "missing_rows"


def test_exact_answers_have_their_own_figures() -> None:
    exact = {"exact_n": 2, "exact_sum": 1.0, "f1_sum": 1.5, "n": 2}
    made = frame(asked(1, 1.0, 2.0, task="math", **exact), asked(2, 1.0))
    rows = by_key(cuts(made, ["task"]))
    assert (rows["math"]["exact_match"].value, rows["math"]["f1"].value) == (0.5, 0.75)
    assert "f1" not in rows["lsat-ar"]
    assert (rows["MACRO"]["f1"].value, rows["MACRO"]["f1"].n) == (0.75, 1)


def test_what_is_not_scored_has_words_and_no_lower_mean() -> None:
    made = frame(asked(1, 1.0, human=0.5), asked(2, None, task="math", human=0.5))
    rows = by_key(cuts(made, ["task"]))
    assert {name: one.reason for name, one in rows["math"].items() if one.value is None} == {
        **{"rate": "no_data", "human": "no_data", "gap": "no_data"}
    }
    assert rows["ALL"]["rate"].value == 1.0
    assert rows["MACRO"]["rate"].reason == "missing_rows"
    assert rows["MACRO"]["unscored"].value == 1
    assert cuts(frame(), ["task"]).rows == []


@pytest.mark.parametrize("points", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 3])
def test_all_or_none_right_is_a_value(points: float, n: int) -> None:
    rows = [asked(one, n * points, float(n), n=n, task=f"t{one}", human=0.5) for one in (1, 2)]
    for figures in by_key(cuts(frame(*rows), ["task", "modal"])).values():
        assert figures["rate"].value == points
        assert figures["gap"].value == points - 0.5


@pytest.mark.parametrize("right", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 3])
def test_all_or_none_right_is_no_certainty(right: float, n: int) -> None:
    """People differ by question; that says nothing of how far the model is known."""
    people = (0.145, 0.148, 0.147, 0.144)
    made = frame(
        *(asked(one, n * right, float(n), n=n, human=rate) for one, rate in enumerate(people))
    )
    wilson = binomtest(int(4 * right), 4).proportion_ci(method="wilson")
    rows = by_key(cuts(made, ["task"]))
    for key in ("lsat-ar", "ALL"):
        rate, gap = rows[key]["rate"], rows[key]["gap"]
        assert bounds(rate) == (round(wilson.low, 6), round(wilson.high, 6))
        assert gap.value == pytest.approx(right - 0.146)
        assert bounds(gap) == (round(wilson.low - 0.146, 6), round(wilson.high - 0.146, 6))
    # The mean over one row, or over questions as rows, is known as well as the rate of them all.
    for by in ("task", "question"):
        mean = by_key(cuts(made, [by]))["MACRO"]
        assert bounds(mean["rate"]) == (round(wilson.low, 6), round(wilson.high, 6))
        assert bounds(mean["gap"]) == (round(wilson.low - 0.146, 6), round(wilson.high - 0.146, 6))


def test_a_mean_over_rows_has_an_interval_where_one_is_all_right() -> None:
    right = [asked(n, 1.0, human=0.7) for n in range(4)]
    half_right = [asked(10 + n, n % 2, 1.0, task="math", human=0.5) for n in range(8)]
    mean = by_key(cuts(frame(*right, *half_right), ["task"]))["MACRO"]
    # 4 of 4, one of two rates: (4 + 1) of (4 + 2) observations. 4 of 8: 8 x 2 / (7 x 8^2) = 1/28.
    variances = [5 / 6 * 1 / 6 / 6, 1 / 28]
    degrees = sum(variances) ** 2 / (variances[0] ** 2 / 3 + variances[1] ** 2 / 7)
    half = student.ppf(0.975, degrees) * sum(variances) ** 0.5 / 2
    assert (mean["rate"].value, mean["gap"].value) == (0.75, pytest.approx(0.15))
    assert bounds(mean["rate"]) == (round(0.75 - half, 6), min(1.0, round(0.75 + half, 6)))
    assert bounds(mean["gap"]) == (round(0.15 - half, 6), round(0.15 + half, 6))


def test_a_mean_over_one_row_has_the_interval_of_the_row() -> None:
    made = frame(*(asked(n, float(n < 2), human=0.1 * n) for n in range(8)))
    rows = by_key(cuts(made, ["task"]))
    for name in ("rate", "gap"):
        assert bounds(rows["MACRO"][name]) == bounds(rows["lsat-ar"][name])


def test_a_mean_over_questions_of_one_share_has_no_interval() -> None:
    made = frame(*(asked(n, 1.0, 2.0, human=0.1 * n) for n in range(4)))
    mean = by_key(cuts(made, ["question"]))["MACRO"]
    assert bounds(mean["rate"]) == bounds(mean["gap"]) == (None, None)


def test_one_share_in_all_questions_gives_the_gap_no_interval() -> None:
    made = frame(asked(1, 1.0, 2.0, n=2, human=0.5), asked(2, 1.0, 2.0, n=2, human=0.6))
    row = by_key(cuts(made, ["task"]))["lsat-ar"]
    assert (row["rate"].value, row["gap"].value) == (0.5, pytest.approx(-0.05))
    assert bounds(row["rate"]) == bounds(row["gap"]) == (None, None)


def test_two_markers_and_unknown_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="one marker"):
        cuts(frame(asked(1, 1.0), asked(1, 0.0)), ["task"])
    for by in (["colour"], [], ["task", "task"], ["task", "year", "modal"]):
        with pytest.raises(ValueError, match="cut by one or two"):
            cuts(frame(), by)


def test_values_come_in_the_order_of_their_list() -> None:
    assert in_order("subject", ["MACRO", "ALL", "", "Physics", "Chinese"]) == [
        *("Chinese", "Physics", "", "ALL", "MACRO")
    ]
    assert in_order("difficulty", ["10", "9", "ALL"]) == ["9", "10", "ALL"]
    assert in_order("modal", ["image", "text"]) == ["text", "image"]
