"""What a judge costs: with the replies that are asked for again, and their room."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.judging.services import ensure_judge, most_cost_of_judging, start_judge_run
from evaluations.judging.services.judge_costs import AGAIN_READS, JUDGE_READS, estimate_judging
from evaluations.models import Endpoint
from questions.rules.vocabulary import QuestionType
from tests.evaluations.judging.test_canaries import judge_that
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_response, make_run, make_task
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db
MILLION = Decimal(1_000_000)


def test_the_most_has_three_replies_with_more_room_each(server: ScriptedServer) -> None:
    judge = scripted_endpoint(server, price_input=Decimal(2), price_output=Decimal(8))
    task = make_task(make_dataset(), question_type=QuestionType.OPEN_ENDED)
    items = [make_question(task) for _ in range(4)]
    cost = estimate_judging(judge, items, 2, max_tokens=100)
    # 4 questions twice, and three canaries of each of nine classes.
    assert cost.calls == 8 + 27
    read = 35 * (3 * JUDGE_READS + 2 * AGAIN_READS)
    written = 35 * (100 + 200 + 400)
    assert cost.most_tokens == read + written
    assert cost.at_most == (2 * read + 8 * written) / MILLION
    assert cost.expected < cost.at_most
    most = estimate_judging(judge, items, 2, max_tokens=32_768).most_tokens
    assert most == read + 35 * 3 * 32_768  # no reply has more room than that
    assert estimate_judging(judge, [], 1).at_most == 0
    run = make_run(task.dataset)
    make_response(items[0], run=run)
    found = most_cost_of_judging(run, judge, max_tokens=100)
    assert found == estimate_judging(judge, items[:1], 1, max_tokens=100).at_most
    assert found < most_cost_of_judging(run, judge)
    assert most_cost_of_judging(run, judge, Decimal("0.01")) == Decimal("0.01")
    long = estimate_judging(judge, items * 38, 1)
    assert long.calls == 152 + 9 * 5, "a long run has more canaries"


def test_earlier_replies_say_how_often_a_judge_is_asked_again(server: ScriptedServer) -> None:
    judge: Endpoint = scripted_endpoint(server)
    task = make_task(make_dataset(), question_type=QuestionType.OPEN_ENDED)
    run = make_run(task.dataset)
    for _ in range(20):
        make_response(make_question(task), run=run, text="my answer")
    replies = iter(["no total"] * 10)
    server.endpoint.faults = judge_that(lambda key, response: next(replies, "【总分】1分"))
    judging = start_judge_run(run, ensure_judge(judge), acting_user=None, canaries=0)
    assert worked(judging).status == "finished"
    assert len(server.requests) == 30
    cost = estimate_judging(judge, [make_question(task)], 3)
    assert cost.calls == 45  # 30 jobs, 1.5 replies each
