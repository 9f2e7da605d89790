"""The tables of the report page: the report's figures, in the reader's order."""

from __future__ import annotations

from evaluations.reports.rules.page_tables import Gap, by_condition, model_lines, ranked, rate_lines
from evaluations.statistics.accuracy import converted_report, rates
from evaluations.statistics.rows import ScoredAnswer
from questions.rules.vocabulary import Subject
from tests.evaluations.statistics.statistics_rows import answered, marked, under


def paper(model: str, points: float, policy: str = "strict") -> list[ScoredAnswer]:
    """A model's whole paper: two items of each part in each subject, each of 6 points."""
    return [
        make(model=model, subject=subject.value, points=points, full=6.0, policy=policy)
        for subject in Subject
        for make in (answered, answered, marked, marked)
    ]


def test_a_line_has_totals_rates_and_subjects() -> None:
    rows = paper("a", 3.0)
    (line,) = model_lines(converted_report(rows), rates(rows), [under("a")])
    assert {stream: figures["total"].value for stream, figures in line.totals.items()} == {
        "sciences": 375.0,
        "humanities": 375.0,
    }
    assert line.objective is not None
    assert line.objective.value == 0.5
    assert line.subjective is not None
    assert line.subjective.n == 20
    assert list(line.subjects) == [subject.value for subject in Subject]
    assert line.subjects["Physics"].value == 55.0
    assert not line.best, "one model has nobody to be better than"


def test_the_best_of_several_has_the_most_points() -> None:
    rows = paper("a", 3.0) + paper("b", 4.0) + [answered(model="c", points=6.0)]
    lines = model_lines(converted_report(rows), rates(rows), [under("a"), under("b"), under("c")])
    assert [(line.asked.model, line.best) for line in lines] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]


def test_models_are_ranked_by_points_and_those_without_come_last() -> None:
    rows = paper("a", 3.0) + paper("b", 4.0) + [answered(model="0"), answered(model="z")]
    assert ranked(converted_report(rows), [under("z"), under("a"), under("b"), under("0")]) == [
        under(model) for model in ("b", "a", "0", "z")
    ]


def test_a_missing_total_has_its_reason() -> None:
    rows = [row for row in paper("a", 3.0) if (row.subject, row.part) != ("Physics", "subjective")]
    (line,) = model_lines(converted_report(rows), rates(rows), [under("a")])
    assert line.totals["sciences"]["total"].reason == "missing:Physics/subjective"
    assert line.totals["humanities"]["total"].value == 375.0


def test_a_total_of_few_marked_answers_says_of_how_many() -> None:
    """Sciences have two items of each part in six subjects; two of Physics are not marked yet."""
    rows = paper("a", 3.0) + paper("b", 4.0)
    rows += [marked(model="b", subject="Physics", points=None, full=6.0) for _ in range(2)]
    one, other = model_lines(converted_report(rows), rates(rows), [under("a"), under("b")])
    assert not one.gaps
    assert other.gaps["Physics"] == [Gap("subjective", 2, 4)]
    assert other.gaps["sciences"] == [Gap("subjective", 12, 14)]
    assert "humanities" not in other.gaps
    assert other.totals["sciences"]["total"].value == 500.0
    assert not one.best, "a total that is not finished is no rival"
    assert not other.best


def test_published_has_both_precisions() -> None:
    rows = paper("a", 3.0, policy="published")
    (line,) = model_lines(converted_report(rows), rates(rows), [under("a")])
    assert set(line.totals["sciences"]) >= {"total", "total_full_precision"}


def test_both_parts_of_a_subject_stand_side_by_side() -> None:
    rows = [answered(points=3.0), marked(points=None), marked(subject="History")]
    lines = rate_lines(rates(rows), [under("m")])
    assert [(line.subject) for line in lines] == ["Biology", "History", "ALL"]
    biology, history, overall = lines
    assert biology.objective is not None
    assert biology.objective["rate"].value == 0.5
    assert biology.subjective is not None
    assert biology.subjective["rate"].reason == "no_data"
    assert biology.subjective["unscored"].value == 1
    assert history.objective is None
    assert overall.subjective is not None
    assert overall.subjective["points"].value == 3.0


def test_groups_follow_the_order_of_the_models() -> None:
    report = rates([answered(model="a"), answered(model="b")])
    groups = by_condition(report, [under("b"), under("a"), under("none")])
    assert [group.asked.model for group in groups] == ["b", "a"]
    assert [row.key["model"] for row in groups[0].rows] == ["b", "b"]
