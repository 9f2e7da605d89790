"""The fact table equals its evidence after any history of what services write."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from uuid import uuid4

import pandas as pd
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from evaluations.facts.answer_facts import facts_version, rebuild_facts
from evaluations.facts.params import ReportParams
from evaluations.marking.arbitration.services import arbitrate, correct_final
from evaluations.marking.services.finalizing import newest_marks
from evaluations.marking.services.reopening import reopen_slots
from evaluations.models import (
    AnswerFact,
    BlindAnswer,
    LanguageModel,
    MarkingRound,
    ObjectiveScore,
    Response,
)
from evaluations.models.vocabulary import ArbitrationReason, SlotKind
from evaluations.reading.services import scoring
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.selectors.fact_groups import answer_groups
from evaluations.reports.selectors.fact_query import Detail, forget
from evaluations.reports.selectors.frames import frame_of
from evaluations.reports.selectors.group_counts import about_groups, counted, task_outcomes
from evaluations.reports.selectors.reports import build_report, report_params
from evaluations.reports.selectors.rows_behind import Cell, RowsBehind
from evaluations.reports.selectors.scored_answers import included, scored_answers
from evaluations.statistics.accuracy import converted_of, converted_report, rates, rates_of
from evaluations.statistics.figure import Report
from evaluations.statistics.ledger import ledger, ledger_of
from evaluations.statistics.policies import Policy
from evaluations.statistics.repeat_sums import repeats_of
from evaluations.statistics.repeats import repeats
from evaluations.statistics.rows import ScoredAnswer
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import Conflict, NotFound, Refusal
from questions.models import Question
from questions.rules.vocabulary import Decision, ItemStatus, ProblemCode, QuestionType
from questions.services.decisions import Repair, decide
from questions.services.gate import check_items
from questions.services.imports import import_questions
from tests.evaluations.check_world import check
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    held_slot,
    round_over,
    subjective_question,
)
from tests.evaluations.report_world import JUDGE, chosen, judged, mark, written
from tests.factories import make_question, make_response, make_run, make_task, make_user

pytestmark = pytest.mark.django_db
ITEM, TOTAL = st.integers(0, 2), st.integers(0, 5)


def stored() -> list[tuple[object, ...]]:
    return list(AnswerFact.objects.order_by("pk").values_list())


def same_rows(frame: pd.DataFrame, rows: list[ScoredAnswer]) -> None:
    """Assert that *frame*, of single responses, says what *rows* say."""
    names = ["response", "model", "condition", "question", "repeat", "outcome", "reason", "answer"]
    found = {
        tuple(row[:-3]) + ((row[-3],) if row[-2] else (None,)) + (row[-1],)
        for row in frame[[*names, "points", "scored", "full_each"]].itertuples(index=False)
    }
    assert found == {
        (*(getattr(row, name) for name in names), row.points, row.full) for row in rows
    }


CELLS = (Cell(), Cell(outcome="partial"), Cell(part="subjective", unscored=True))


def in_a_list(row: ScoredAnswer) -> tuple[object, ...]:
    return row.asked, row.task, row.question, row.repeat


def same(found: Report, expected: Report) -> None:
    """Both have the same rows; numbers differ by rounding only."""
    assert [row.key for row in found.rows] == [row.key for row in expected.rows]
    for one, other in zip(found.rows, expected.rows, strict=True):
        for name, figure in other.figures.items():
            assert one.figures[name].as_dict() == pytest.approx(figure.as_dict()), (one.key, name)


class History(RuleBasedStateMachine):
    """Three choices that rules score and three texts that two teachers, a lead and a judge mark."""

    choices: list[Response]
    written: list[Response]
    answers: list[BlindAnswer]
    people: list[User]

    @initialize()
    def begin(self) -> None:
        """Open a round in a transaction of this example."""
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.people = [make_user(Role.TEACHER) for _ in range(2)]
        self.lead, self.curator = make_user(Role.LEAD), make_user(Role.CURATOR)
        task = make_task(question_type=QuestionType.OPEN_ENDED)
        texts = [subjective_question((), "10", task=task) for _ in range(3)]
        run = make_run(task.dataset)
        self.written = [make_response(question, run, "so it is") for question in texts]
        items = [
            make_question(make_task(task.dataset), key=("A",), analysis="故选B。") for _ in range(3)
        ]
        self.choices = [
            make_response(question, run, text)
            for question, text in zip(items, ("【答案】A", "【答案】B", "B or C"), strict=True)
        ]
        self.rounds = 0
        self.dataset = task.dataset.slug
        self.open_round()
        self.before, self.version = stored(), facts_version(self.dataset)

    def teardown(self) -> None:
        """Undo the example."""
        if hasattr(self, "choices"):
            self.compare_reports()
        scoring.SCORER_VERSION = VERSION
        if hasattr(self, "atomic"):
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    @rule()
    def open_round(self) -> None:
        """Another round over the same responses: its final marks are the newer ones."""
        if self.rounds < 2:
            self.rounds += 1
            marked = [response.question_id for response in self.written]
            Question.objects.filter(pk__in=marked).update(status=ItemStatus.ACTIVE)
            made = round_over(self.written, self.people, name=f"Round {self.rounds}")
            self.answers = answers_of(made)

    @rule()
    def score(self) -> None:
        """Score what is not scored by the present rules."""
        score_responses(Response.objects.order_by("pk"))

    @rule(number=st.integers(1, 3))
    def rescore(self, number: int) -> None:
        """A later scorer scores everything anew, or an earlier one counts again."""
        scoring.SCORER_VERSION = f"{VERSION}-{number}"
        score_responses(Response.objects.order_by("pk"))

    @rule(item=ITEM, letter=st.sampled_from("ABC"))
    def read_by_person(self, item: int, letter: str) -> None:
        """A person reads another letter."""
        response = Response.objects.get(pk=self.choices[item].pk)
        if response.strict_score_id is not None:
            with suppress(Refusal):
                check(response, self.curator, letter)

    @rule(item=ITEM, takes_back=st.booleans())
    def repair(self, item: int, takes_back: bool) -> None:
        """A curator repairs a key: scores by the old one no longer count."""
        question = Question.objects.get(pk=self.choices[item].question_id)
        check_items([question.pk])
        problem = question.problems.filter(code=ProblemCode.KEY_AGAINST_ANALYSIS).first()
        if problem is None:
            return
        decision = Decision.KEEP if takes_back else Decision.REPAIR
        contents = None if takes_back else Repair(answer_key=("B",))
        try:
            decide(problem, decision, "as analysed", acting_user=self.curator, repair=contents)
        except Refusal:
            return

    @rule(item=ITEM, status=st.sampled_from(list(ItemStatus)))
    def put_aside(self, item: int, status: ItemStatus) -> None:
        """An item is quarantined, excluded or active again."""
        for response in (self.choices[item], self.written[item]):
            Question.objects.filter(pk=response.question_id).update(status=status)

    @rule(person=st.integers(0, 1), item=ITEM, total=TOTAL)
    def mark(self, person: int, item: int, total: int) -> None:
        """A teacher marks; two near marks are final, others wait for the lead."""
        slot = held_slot(self.answers[item], self.people[person])
        version = slot.marks.count() - slot.void_version if slot.marked else 0
        try:
            give(self.answers[item], self.people[person], str(total), based_on_version=version)
        except Conflict:
            return

    @rule(item=ITEM, totals=st.tuples(TOTAL, TOTAL))
    def mark_twice(self, item: int, totals: tuple[int, int]) -> None:
        """Both teachers mark."""
        for person, total in enumerate(totals):
            self.mark(person, item, total)

    @rule(item=ITEM, total=TOTAL)
    def decide_case(self, item: int, total: int) -> None:
        """The lead decides a case, or corrects a final mark."""
        blind = BlindAnswer.objects.select_related("final", "round").get(pk=self.answers[item].pk)
        seen = [mark.pk for mark in newest_marks(blind).values()]
        reason = ArbitrationReason.SLIP
        key, points = uuid4(), Decimal(total)
        try:
            if blind.final is None:
                arbitrate(
                    blind, self.lead, key=key, seen=seen, total=points, reason=reason, now=NOW
                )
            else:
                number = blind.final.number
                correct_final(
                    *(blind, self.lead),
                    key=key,
                    seen=seen,
                    number=number,
                    total=points,
                    reason=reason,
                    now=NOW,
                )
        except (Conflict, NotFound):
            return

    @rule(item=ITEM)
    def return_marks(self, item: int) -> None:
        """The first mark is returned for marking again: the final mark is withdrawn."""
        slot = self.answers[item].slots.get(kind=SlotKind.FIRST)
        if slot.marked:
            with transaction.atomic():
                reopen_slots([slot], {slot.pk: slot.planned_id}, now=NOW)

    @rule(item=ITEM, total=TOTAL, readable=st.booleans(), released=st.booleans())
    def judge(self, item: int, total: int, readable: bool, released: bool) -> None:
        """A judge marks again, perhaps without a total, perhaps with a released one."""
        response = self.written[item]
        number = response.judgements.count() + 1
        judged(
            response,
            str(total) if readable else None,
            "scored" if readable else "no_total",
            number=number,
            released=[total + 0.5, None] if released else [],
        )

    @invariant()
    def facts_equal_the_evidence(self) -> None:
        """No row differs, and no row changed without a new version."""
        if not hasattr(self, "choices"):
            return
        assert rebuild_facts(check=True)[1] == 0
        rows, version = stored(), facts_version(self.dataset)
        assert rows == self.before or version > self.version
        self.before, self.version = rows, version

    @rule()
    def compare_reports(self) -> None:
        """The sums of the facts give the reports that single answers give."""
        rounds = MarkingRound.objects.order_by("pk").values_list("public_id", flat=True)
        first, every = (str(rounds[0]),), tuple(map(str, rounds))
        for given in (
            {"policy": "strict"},
            {"policy": "published", "rounds": first},
            {"policy": "strict", "rounds": every},
            *({"marker": f"judge:{JUDGE}", "policy": one} for one in Policy),
        ):
            params = ReportParams(self.dataset, **{"marker": "teachers", **given})
            rows = scored_answers(params)
            kept = list(included(rows))
            groups = answer_groups(params)
            frame = frame_of(counted(groups), params)
            assert about_groups(groups).items() <= report_params(params, rows).items()
            same(rates_of(frame), rates(kept))
            outcomes = answer_groups(params, Detail.LEDGER)
            same(ledger_of(task_outcomes(outcomes)), ledger(rows))
            whose = params.marker
            answers = answer_groups(params, Detail.ANSWERS)
            assert about_groups(answers) == about_groups(groups)
            same(repeats_of(counted(answers)), repeats(kept))
            same_rows(answer_groups(params, Detail.RESPONSES), rows)
            for cell in CELLS if given == {"policy": "strict"} else ():
                of_cell = sorted(filter(cell.holds, rows), key=in_a_list)
                behind = RowsBehind(params, cell)
                assert (behind[0:99], len(behind)) == (of_cell, len(of_cell))
                assert behind[1:2] == of_cell[1:2]
            same(converted_of([frame], marker=whose), converted_report(kept, marker=whose))


VERSION = scoring.SCORER_VERSION


def test_facts_equal_their_evidence_after_any_history() -> None:
    bounded = settings(
        max_examples=20 if os.environ.get("GRADEAPP_FULL") == "yes" else 2,
        stateful_step_count=12,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
    )
    run_state_machine_as_test(History, settings=bounded)  # type: ignore[no-untyped-call]


def test_a_rebuild_says_what_differed_and_repairs_it(capsys: pytest.CaptureFixture[str]) -> None:
    response = make_response(make_question(make_task()))
    score_responses([response])
    version = facts_version("exam")
    # Past the services, so the facts do not know it.
    ObjectiveScore.objects.filter(policy="strict").update(points=3)
    AnswerFact.objects.filter(policy="published").delete()
    with pytest.raises(SystemExit):
        call_command("rebuild_facts", check=True)
    assert "2 rows; 2 differed" in capsys.readouterr().out
    assert rebuild_facts() == (2, 2)
    assert facts_version("exam") > version
    assert rebuild_facts(check=True) == (2, 0)
    assert set(AnswerFact.objects.values_list("policy", "points")) == {
        ("strict", 3.0),
        ("published", 6.0),
    }


def test_an_import_that_moves_questions_to_the_other_part_writes_their_facts_anew(
    tmp_path: Path,
) -> None:
    same = {"dataset": "exam", "task": "T", "language": "en", "stem": "Why?\nA. so\nB. thus"}
    choice = {**same, "type": "single_choice", "letters": "AB", "answer": ["B"], "sub_marks": [4]}
    open_one = {**same, "type": "subjective", "sub_marks": [4]}
    open_one["rubric"] = [{"text": "states the law", "points": 4}]

    def imported(first: dict[str, object], second: dict[str, object]) -> None:
        lines = [json.dumps({**first, "id": "one"}), json.dumps({**second, "id": "two"})]
        file = tmp_path / "exam.jsonl"
        file.write_text("\n".join(lines), "utf-8")
        assert import_questions("jsonl", file).read == 2

    def facts() -> set[tuple[str, str, float | None]]:
        rows = AnswerFact.objects.values_list("question__external_id", "marker", "points")
        return set(rows)

    imported(choice, open_one)
    one, two = Question.objects.order_by("external_id")
    run = make_run(one.task.dataset)
    score_responses([make_response(one, run, "【答案】B")])
    judged(make_response(two, run, "so"), "3")
    before = facts_version("exam")
    assert facts() == {("one", "key", 4), ("two", "teachers", None), ("two", "judge", 3)}
    imported(open_one, choice)
    assert facts() == {("one", "teachers", None), ("two", "key", None)}
    assert rebuild_facts(check=True)[1] == 0
    assert facts_version("exam") > before
    imported(choice, open_one)
    assert facts() == {("one", "key", 4), ("two", "teachers", None), ("two", "judge", 3)}


def test_the_migration_fills_the_table_as_a_rebuild_does() -> None:
    run = make_run()
    chosen(run, "A", "B")
    unmarked, marked = written(run), written(run)
    mark(marked, "4", "6")
    judged(marked, "5", released=[4.0, 5.5])
    judged(unmarked, None, "no_total")
    AnswerFact.objects.all().delete()
    fill = import_module("evaluations.migrations.0063_fill_answer_facts").fill
    fill(apps, connection.schema_editor(atomic=False))
    assert rebuild_facts(check=True) == (10, 0)


@pytest.mark.django_db(transaction=True)
def test_a_report_is_kept_until_somebody_writes() -> None:
    """Outside of transactions the sums are kept; the writing transaction makes them old."""
    forget()
    run = make_run()
    params = ReportParams(run.dataset.slug, marker="teachers")
    mark(written(run), "4", "6")

    def points() -> list[float | None]:
        return [row.figures["points"].value for row in build_report("rates", params).rows]

    assert points() == points() == [5, 5]  # the subject and all
    with CaptureQueriesContext(connection) as again:
        points()
    assert "SUM(fact.points)" not in "".join(one["sql"] for one in again.captured_queries)
    mark(written(run), "8", "8")
    assert points() == [13, 13]
    # What the question bank owns is in no fact, and makes a kept report old all the same.
    Question.objects.update(status=ItemStatus.EXCLUDED)
    assert points() == []
    Question.objects.update(status=ItemStatus.ACTIVE)
    with suppress(ZeroDivisionError), transaction.atomic():
        Question.objects.update(status=ItemStatus.EXCLUDED)
        assert points() == []
        raise ZeroDivisionError
    assert points() == [13, 13]
    LanguageModel.objects.update(name="renamed")
    assert {row.key["model"] for row in build_report("rates", params).rows} == {"renamed"}
    forget()
