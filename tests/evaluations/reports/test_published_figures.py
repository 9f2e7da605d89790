"""The published figures come out of the published files, digit for digit.

The benchmark is imported once for all of them, which only a test class can do.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections import Counter
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.test import TestCase
from django.urls import reverse

from evaluations.facts.params import ReportParams
from evaluations.imports.services.answer_imports import AnswerImportReport, import_answers
from evaluations.marking.monitoring.rules.tolerance_simulator import Setting, simulate
from evaluations.marking.monitoring.selectors.tolerance_simulator import marked_twice
from evaluations.models import (
    Extraction,
    FinalMark,
    Judgement,
    Mark,
    MarkingRound,
    ObjectiveScore,
    Response,
    Run,
)
from evaluations.reading.selectors.ablation import ablation
from evaluations.reading.services.gold_check import check_golds
from evaluations.reports.selectors.export_tables import export_table
from evaluations.reports.selectors.reports import build_report
from evaluations.schemes import Scheme
from evaluations.statistics.figure import Figure, Report
from evaluations.statistics.gaokao_750 import STREAMS, WEIGHTS
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import BadInput
from questions.models import ImportBatch, ItemProblem, Question, QuestionRevision
from questions.rules.vocabulary import Part, ProblemCode
from questions.services.imports import ImportReport, import_questions
from tests.conftest import SHARED_DATA, logged_in
from tests.factories import make_user

pytestmark = [
    pytest.mark.shareddata,
    pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="no published benchmarks beside us"),
]

BENCH = SHARED_DATA / "gaokao-bench"
JUDGE = "judge:gpt-4-1106-preview"
GPT4, GPT35 = "gpt-4-0314", "gpt-3.5-turbo"


def figures(report: Report, **key: str) -> dict[str, Figure]:
    (row,) = [row for row in report.rows if key.items() <= row.key.items()]
    return row.figures


def made(name: str, **params: Any) -> Report:
    return build_report(name, ReportParams("gaokao-bench", **params))


def flat(value: dict[str, Any], at: str = "") -> dict[str, Any]:
    """The leaves of a JSON object by their path."""
    found = {}
    for name, one in value.items():
        inner = flat(one, f"{at}{name}/") if isinstance(one, dict) else {at + name: one}
        found |= inner
    return found


def released(name: str) -> dict[str, Any]:
    return json.loads(next((BENCH / "Results").rglob(name)).read_text(encoding="utf-8"))


def released_items() -> pd.DataFrame:
    """The points of GPT-4's released answers, as the released programs count them."""
    of_task = dict(Question.objects.values_list("task__slug", "subject"))
    rows = []
    for file in sorted((BENCH / "Results" / "gpt_4_0314_obj").glob("gpt-4-0314_*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        half = "Physics" in file.name  # a part of the right letters earns half
        for item in document["example"]:
            keys, full = item["standard_answer"], float(item["score"])
            pairs = itertools.zip_longest(item["model_answer"][: len(keys)], keys, fillvalue="")
            shares = [
                1.0 if given == key else 0.5 * (half and bool(given) and set(given) < set(key))
                for given, key in pairs
            ]
            where = (item["year"], of_task[document["keyword"]], "objective")
            rows.append((*where, full * sum(shares), full * len(keys), len(keys)))
    for file in sorted((BENCH / "Results" / "gpt_4_0314_sub").glob("*wo_marking*/gpt-4*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        for item in document["example"]:
            totals = [total for total in item["model_correction_score"] if total is not None]
            where = (item["year"], of_task[document["keyword"]], "subjective")
            rows.append((*where, round(sum(totals) / len(totals), 2), float(item["score"]), 1))
    return pd.DataFrame(rows, columns=["year", "subject", "part", "points", "full", "n"])


# The released objective summary has one Math, the sum of both streams' files.
OBJECTIVE_SUBJECTS = {
    "English": ["English"],
    "Math": ["Sciences Mathematics", "Humanities Mathematics"],
    "Chinese": ["Chinese"],
    "Physics": ["Physics"],
    "Chemistry": ["Chemistry"],
    "Biology": ["Biology"],
    "History": ["History"],
    "Geography": ["Geography"],
    "Politics": ["Politics"],
}


JUDGED_SUBJECTS = {
    "English": "English",
    "Math_1": "Sciences Mathematics",
    "Math_2": "Humanities Mathematics",
    "Chinese": "Chinese",
    "Physics": "Physics",
    "Chemistry": "Chemistry",
    "Biology": "Biology",
    "History": "History",
    "Geography": "Geography",
    "Politics": "Politics",
}


MERGED_SUBJECTS = {
    "English": "English",
    "Science-Math": "Sciences Mathematics",
    "Liberal-Arts-Math": "Humanities Mathematics",
    "Chinese": "Chinese",
    "Physics": "Physics",
    "Chemistry": "Chemistry",
    "Biology": "Biology",
    "History": "History",
    "Geography": "Geography",
    "Politics": "Politics",
}


PER_CENT = {
    "Chinese": 34.86,
    "English": 73.14,
    "Sciences Mathematics": 15.97,
    "Humanities Mathematics": 16.82,
    "Physics": 17.65,
    "Chemistry": 20.77,
    "Biology": 36.17,
    "Politics": 42.52,
    "History": 58.64,
    "Geography": 66.43,
}


TOTALS = [
    ("sciences", 466.1, 465.998, "Science_Total_score"),
    ("humanities", 548.3, 548.322, "Liberal-Arts_Total_score"),
]


def published_pairs() -> list[tuple[float, float, float]]:
    """Both marks and the full marks of each answer that two teachers marked, once an index."""
    pairs = {}
    for file in sorted((SHARED_DATA / "human-marks").glob("*.json")):
        for row in json.loads(file.read_text("utf-8"))["example"]:
            marks = row["correction_score"]
            if len(marks) == 2 and None not in marks:
                pairs.setdefault((file.name, row["index"]), (*marks, row["score"]))
    return list(pairs.values())


class PublishedFigures(TestCase):
    questions: ImportReport
    results: AnswerImportReport
    marks: AnswerImportReport

    @classmethod
    def setUpTestData(cls) -> None:
        cls.questions = import_questions("gaokao-bench", BENCH)
        cls.results = import_answers("gaokao-bench", BENCH / "Results")
        cls.marks = import_answers("gaokao-bench", SHARED_DATA / "human-marks")

    def test_the_reasons_lead_from_the_published_rate_to_the_strict_one(self) -> None:
        """7,000 of 9,702 as released; each step away from it has a reason, and they add up."""
        moves = ablation(Run.objects.get(language_model__name=GPT4))
        assert moves.published == (7000, 9702)
        report = figures(self.strict_rates(), subject="ALL", part="objective")
        assert moves.strict == (report["points"].value, report["full"].value)
        moved = [one.change for one in moves.movements if one.change is not None]
        assert moves.published_rate is not None
        assert moves.published_rate + sum(moved) == moves.strict_rate
        for movement in moves.movements:
            own = moves.because_of(movement.reason)
            steps = [s for one in own for s in one.steps if s.reason is movement.reason]
            assert movement.points == sum(step.points for step in steps)
            assert movement.items == len(own)

    def strict_rates(self) -> Report:
        return made("rates", models=(GPT4,), policy="strict")

    def test_every_published_item_is_in_the_bank(self) -> None:
        assert (self.questions.read, self.questions.new) == (2811, 2811)
        assert not self.questions.problems
        parts = Counter(Question.objects.values_list("part", flat=True))
        assert parts == {"objective": 1781, "subjective": 1030}
        keys = QuestionRevision.objects.filter(question__part="objective")
        assert sum(len(key) for key in keys.values_list("answer_key", flat=True)) == 2944

    def test_every_published_answer_is_there_once(self) -> None:
        results, marks = self.results, self.marks
        assert (results.responses, results.judgements, results.marks) == (2811, 1030, 0)
        assert (results.unmatched, results.skipped) == (0, 3)
        # 862 items with two marks and 167 with one
        assert (marks.responses, marks.marks, marks.judgements) == (1030, 862 * 2 + 167, 0)
        assert Response.objects.count() == 2811 + 1030
        assert ObjectiveScore.objects.count() == Extraction.objects.count() == 2 * 1781

    def test_what_is_impossible_or_missing_is_named(self) -> None:
        codes = Counter(problem.code for problem in self.results.problems)
        assert codes == {"summary_file": 3, "over_full_marks": 2, "several_totals": 1}
        marks = [(problem.code, problem.row) for problem in self.marks.problems]
        assert marks == [("unmarked", 25), ("repeated_row", 124), ("repeated_row", 125)]

    def test_a_second_import_of_everything_changes_nothing(self) -> None:
        tables = (Question, QuestionRevision, Response, ObjectiveScore, Mark, FinalMark)
        tables += (Judgement, ImportBatch)
        before = [table.objects.count() for table in tables]
        questions = import_questions("gaokao-bench", BENCH)
        assert (questions.read, questions.new, questions.changed) == (2811, 0, 0)
        for path in (BENCH / "Results", SHARED_DATA / "human-marks"):
            again = import_answers("gaokao-bench", path)
            assert (again.responses, again.marks, again.judgements, again.unmatched) == (0, 0, 0, 0)
        assert [table.objects.count() for table in tables] == before

    def test_the_marks_replayed_ask_for_the_third_marks_that_the_data_say(self) -> None:
        """Counted in the files apart from our code: pairs whose difference is above tolerance."""
        made = MarkingRound.objects.get(published=True)
        responses = marked_twice(made)
        pairs = published_pairs()
        assert len(responses) == len(pairs) == 862
        share = Setting(share=D("0.1"), step=D("0.5"))
        found = simulate(responses, Scheme.MEAN, share)
        assert found.beyond == sum(abs(a - b) > full / 10 for a, b, full in pairs)
        at_least_one = Setting(share=D("0.1"), points=D(1), step=D("0.5"))
        found = simulate(responses, Scheme.MEAN, at_least_one)
        assert found.beyond == sum(abs(a - b) > max(1, full / 10) for a, b, full in pairs)
        assert found.beyond == simulate(responses, Scheme.MEAN, Setting(own=True)).beyond
        assert found.known == found.pairs - found.beyond
        page = logged_in(make_user(Role.LEAD)).get(
            reverse("monitoring:tolerance", args=[made.public_id]), {"at": "10"}
        )
        assert page.context["chosen"].outcome == found

    def test_every_published_key_scores(self) -> None:
        (found,) = check_golds("gaokao-bench").datasets
        assert found.items == 1781
        assert not found.failed
        assert not ItemProblem.objects.filter(code=ProblemCode.GOLD_UNREAD).exists()

    def test_files_under_each_others_names_are_refused_whole(self) -> None:
        """As objects that name their task, and as lists of the first release, which do not."""
        biology, chemistry = "2010-2022_Biology_MCQs", "2010-2022_Chemistry_MCQs"
        poetry = "2010-2022_Chinese_Language_Ancient_Poetry_Reading"
        reading = "2010-2022_Chinese_Language_Practical_Text_Reading"
        before = Response.objects.count()
        with tempfile.TemporaryDirectory() as folder:
            for pair in ((biology, chemistry), (poetry, reading)):
                for name, other in (pair, pair[::-1]):
                    document = released(f"gpt-4-0314_{other}.json") | {"keyword": name}
                    as_list = document["example"] if other == biology else document
                    text = json.dumps(as_list, ensure_ascii=False)
                    (Path(folder) / f"gpt-9_{name}.json").write_text(text, encoding="utf-8")
            with pytest.raises(BadInput, match=r"gpt-9_.* rows hold other questions than the bank"):
                import_answers("gaokao-bench", Path(folder), model="gpt-9")
            right = Path(folder) / f"gpt-9_{biology}.json"
            items = released(f"gpt-4-0314_{biology}.json")["example"]
            right.write_text(json.dumps(items, ensure_ascii=False), encoding="utf-8")
            report = import_answers("gaokao-bench", Path(folder))
        assert Response.objects.count() == before + 150
        codes = Counter(problem.code for problem in report.problems)
        assert (report.responses, codes) == (150, {"other_task": 3})

    def test_objective_rates_are_those_of_the_released_summary(self) -> None:
        report = made("rates", policy="published", models=(GPT4,))
        everything = figures(report, subject="ALL", part="objective")
        assert (everything["points"].value, everything["full"].value) == (7000, 9702)
        assert everything["rate"].n == 2944
        assert round(everything["rate"].value or 0, 3) == 0.722
        summary = released("correction_score.json")["subject"]
        assert set(summary) == set(OBJECTIVE_SUBJECTS)
        for name, subjects in OBJECTIVE_SUBJECTS.items():
            parts = [figures(report, subject=subject, part="objective") for subject in subjects]
            assert (
                sum(part["points"].value or 0 for part in parts) == summary[name]["correct_score"]
            )
            assert sum(part["full"].value or 0 for part in parts) == summary[name]["total_score"]
            assert sum(part["rate"].n for part in parts) == summary[name]["question_num"]

    def test_judged_rates_are_those_of_the_released_summary(self) -> None:
        report = made("rates", policy="published", marker=JUDGE, models=(GPT4,))
        summary = released("model_score.json")["subject"]
        assert set(summary) == set(JUDGED_SUBJECTS)
        for name, subject in JUDGED_SUBJECTS.items():
            part = figures(report, subject=subject, part="subjective")
            assert part["points"].value == pytest.approx(summary[name]["correct_score"], abs=1e-9)
            assert part["full"].value == summary[name]["total_score"]
            assert part["rate"].n == summary[name]["question_num"]
            assert part["unscored"].value == 0

    def test_strict_leaves_the_three_impossible_totals_unscored_and_says_so(self) -> None:
        report = made("rates", marker=JUDGE, models=(GPT4,))
        part = figures(report, subject="ALL", part="subjective")
        assert (part["unscored"].value, part["unscored"].n, part["rate"].n) == (3, 1030, 1027)
        # 11839 full marks of 1,030 items, less those of the three: 11, 5 and 12
        assert part["full"].value == 11839 - 11 - 5 - 12
        assert report.params["unscored"] == {"over_full_marks": 2, "several_totals": 1}
        for subject in ("Biology", "Chinese", "Humanities Mathematics"):
            assert figures(report, subject=subject, part="subjective")["unscored"].value == 1

    def test_converted_totals_are_the_released_ones(self) -> None:
        report = made("converted", policy="published", marker=JUDGE, models=(GPT4,))
        merged = released("merge_score.json")
        for stream, total, precise, name in TOTALS:
            found = figures(report, stream=stream, subject="ALL")
            assert found["total"].value == total == merged[name]
            assert found["total_full_precision"].value == pytest.approx(precise, abs=5e-4)

    def test_the_exported_summaries_are_the_released_files(self) -> None:
        """Of the sums of marks, whose order in the released files is not known, to 9 decimals."""
        for name, file in (
            ("gaokao-objective", "correction_score.json"),
            ("gaokao-subjective", "model_score.json"),
            ("gaokao-merged", "merge_score.json"),
        ):
            params = ReportParams("gaokao-bench", (GPT4,), JUDGE, "published")
            content = export_table(name, params).content
            assert flat(json.loads(json.dumps(content))) == pytest.approx(flat(released(file)))

    def test_each_subject_converts_as_released(self) -> None:
        report = made("converted", policy="published", marker=JUDGE, models=(GPT4,))
        merged = released("merge_score.json")
        for name, subject in MERGED_SUBJECTS.items():
            row = next(row for row in report.rows if row.key["subject"] == subject)
            assert row.figures["objective"].value == merged[name]["Objective_score"]
            assert row.figures["subjective"].value == merged[name]["Subjective_score"]
            assert row.figures["total"].value == merged[name]["total_score"]

    def test_without_a_marker_every_marker_has_its_rows(self) -> None:
        report = made("converted", models=(GPT4,))
        assert {row.key["marker"] for row in report.rows} == {"teachers", JUDGE}
        by_teachers = figures(report, stream="sciences", subject="ALL", marker="teachers")["total"]
        assert by_teachers.value is None
        assert (by_teachers.reason or "").startswith("missing:Chinese/subjective")

    def test_the_teachers_marks_pool_as_known(self) -> None:
        report = made("rates", models=(GPT35,))
        part = figures(report, subject="ALL", part="subjective")
        assert (part["points"].value, part["full"].value) == (4289, 11824)
        assert round(100 * (part["rate"].value or 0), 2) == 36.27
        assert (part["rate"].n, part["unscored"].value) == (1029, 1)
        assert report.params["unscored"] == {"unmarked": 1}
        for subject, per_cent in PER_CENT.items():
            rate = figures(report, subject=subject, part="subjective")["rate"]
            assert round(100 * (rate.value or 0), 2) == per_cent

    def test_the_teachers_pairs_are_the_items_with_two_marks(self) -> None:
        report = made("agreement")
        pairs = figures(report, model=GPT35, subject="ALL", pair="teacher-teacher")["pairs"]
        assert pairs.value == 862
        assert {row.key["pair"] for row in report.rows} == {"teacher-teacher"}

    def test_the_ledger_counts_every_answer(self) -> None:
        report = made("ledger", marker=JUDGE)
        assert len(report.rows) == 32 + 18
        for row in report.rows:
            counts = [figure.value or 0 for figure in row.figures.values()]
            assert {sum(counts)} == {figure.n for figure in row.figures.values()}
        of_gpt4 = [row.figures for row in report.rows if row.key["model"] == GPT4]
        assert sum(f["not_scored"].value or 0 for f in of_gpt4) == 3

    def test_years_are_those_of_the_released_files(self) -> None:
        """Cuts and trend against sums made with pandas from the released answers and gradings."""
        items = released_items()
        by_year = items[items["part"] == "objective"].groupby("year")[["points", "full", "n"]].sum()
        assert by_year.sum().tolist() == [7000, 9702, 2944]
        params: dict[str, Any] = {"policy": "published", "marker": JUDGE, "models": (GPT4,)}
        report = made("cuts", by="part,year", **params)
        for year, sums in by_year.iterrows():
            rate = figures(report, part="objective", year=year)["rate"]
            assert (rate.value, rate.n) == (pytest.approx(sums["points"] / sums["full"]), sums["n"])
        pooled = items["points"].sum() / items["full"].sum()
        assert figures(report, part="ALL", year="ALL")["rate"].value == pytest.approx(pooled)
        # The total of a year from its rates; a stream that lacks a part has none.
        rates = items.groupby(["year", "subject", "part"])[["points", "full"]].sum()
        rates = (rates["points"] / rates["full"]).to_dict()
        totals = made("trend", **params)
        for year in by_year.index:
            for stream, subjects in STREAMS.items():
                parts = [(subject, part) for subject in subjects for part in Part]
                lacking = [where for where in parts if (year, *where) not in rates]
                total = figures(totals, year=year, stream=stream)["total_full_precision"]
                if lacking:
                    names = ",".join(f"{subject}/{part}" for subject, part in lacking)
                    assert (total.value, total.reason) == (None, f"missing:{names}")
                else:
                    points = sum(WEIGHTS[s].of(p) * rates[year, s, p] for s, p in parts)
                    assert total.value == pytest.approx(points)

    def test_leakage_compares_2022_with_the_years_before(self) -> None:
        items = released_items()
        sums = items[items["part"] == "objective"].groupby(items["year"] == "2022")
        base, newest = sums["points"].sum() / sums["full"].sum()
        report = made("leakage", policy="published", marker=JUDGE, models=(GPT4,))
        row = figures(report, part="objective")
        assert (row["base"].value, row["newest"].value) == pytest.approx((base, newest))
        difference = row["difference"]
        assert difference.value == pytest.approx(newest - base)
        assert difference.low < difference.value < difference.high

    def test_one_year_is_one_year(self) -> None:
        report = made("rates", policy="published", models=(GPT4,), year=2022)
        (everything,) = [
            row.figures["rate"].n
            for row in report.rows
            if (row.key["subject"], row.key["part"]) == ("ALL", "objective")
        ]
        files = (BENCH / "Data" / "Objective_Questions").glob("*.json")
        items = [item for file in files for item in json.loads(file.read_text())["example"]]
        assert everything == sum(len(item["answer"]) for item in items if item["year"] == "2022")

    def test_the_tables_of_the_paper_come_out_as_printed_or_say_why_not(self) -> None:
        report = made("paper-tables", policy="published", paper="gaokao-bench")
        assert report.params["models"] == {"GPT-4-0314": GPT4, "GPT-3.5-turbo-0301": GPT35}
        cells: Any = report.params["cells"]
        equal = {table: (n["equal"], n["rebuilt"]) for table, n in cells.items() if n["rebuilt"]}
        assert equal == {
            "table-1": (11, 11),
            "table-2": (0, 11),  # one run, and the paper has the mean of three
            "table-3": (13, 14),  # 1,418 of 2,811 is 50.4, printed as 50.5
            "released-totals": (2, 2),
            "table-5": (1, 1),
            "table-7": (30, 30),
            "table-8": (62, 62),
        }
        for row in report.rows:
            if row.key["table"] == "table-1" and row.figures["difference"].value is not None:
                assert (row.key["row"], row.key["model"]) == ("GPT-4-0314", GPT4)
        unlike = {
            (row.key["table"], row.key["row"]): row.figures["difference"].reason
            for row in report.rows
            if row.figures["difference"].value
        }
        assert unlike == {
            ("table-2", "GPT-3.5-turbo-0301"): "note:G15",
            ("table-3", "objective/Single Choice"): "note:G02",
        }
        why = {
            ("table-1", "GPT-3.5-turbo-0301", "Physics"): "no_objective_answers",
            ("table-1", "LLaMA-7b", "Physics"): "not_loaded",
            ("table-2", "GPT-4-0314", "Overall"): "no_teacher_marks",
            ("table-3", "objective/Single Choice", "percentage"): "note:G02",
            ("table-4", "GPT-4-0314", "sciences:GPT-4-turbo"): "judge_without_criterion",
            ("table-4", "GPT-3.5-turbo-0301", "kendall-tau"): "no_judge",
            ("table-5", "GPT-4-0314", "GAOKAO-Bench-2023"): "no_later_questions",
            ("table-6", "without/spearman", "GPT-4-0314"): "no_pairs",
        }
        for place, reason in why.items():
            cell = dict(zip(("table", "row", "column"), place, strict=True))
            assert figures(report, **cell)["difference"].reason == reason
        known = {
            ("table-1", "Physics"): "note:G05,G15",
            ("table-1", "Overall"): "note:G05b,G15",
            ("table-2", "Politics"): "note:G15,G06",
            ("table-4", "humanities:human"): "note:G07",
        }
        for (table, column), notes in known.items():
            cell = {"table": table, "row": "GPT-3.5-turbo-0301", "column": column}
            assert figures(report, **cell)["published"].reason == notes
        year = figures(report, row="GPT-4-0314/2022", column=f"sciences:{JUDGE}")["ours"]
        assert (year.value, (year.reason or "").split(":")[0]) == (None, "no_questions_in")

    def test_table_2_of_the_paper_is_no_single_run(self) -> None:
        """Ours is the released run; chemistry as printed is no possible rate of one run.

        The released marks are in steps of half a point, the mean of two in steps of a quarter.
        """
        of_task = dict(Question.objects.values_list("task__slug", "subject"))
        rows = {}
        for file in sorted((SHARED_DATA / "human-marks").glob("*.json")):
            document = json.loads(file.read_text(encoding="utf-8"))
            for item in document["example"]:
                marks = [mark for mark in item["correction_score"] if mark is not None]
                assert all(2 * mark == int(2 * mark) for mark in marks)
                if marks:
                    where = (document["keyword"], item["index"])
                    mean = sum(marks) / len(marks)
                    rows[where] = (of_task[where[0]], mean, float(item["score"]))
        marked = pd.DataFrame(list(rows.values()), columns=["subject", "points", "full"])
        sums = marked.groupby("subject")[["points", "full"]].sum()
        sums.loc["Overall"] = sums.sum()
        report = made("paper-tables", policy="published", paper="gaokao-bench")
        for subject, points, full in sums.itertuples():
            cell = figures(report, table="table-2", row="GPT-3.5-turbo-0301", column=subject)
            assert cell["ours"].value == pytest.approx(100 * points / full)
        full = sums.loc["Chemistry", "full"]
        assert full == 130
        for runs, possible in ((1, False), (3, True)):
            rates = [100 * quarters / 4 / (full * runs) for quarters in range(4 * 130 * runs)]
            assert any(abs(rate - 21.4) <= 0.05 + 1e-9 for rate in rates) == possible
