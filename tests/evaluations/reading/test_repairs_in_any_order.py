"""Repairs, exclusions and imports of an item in any order: its content, and the key that scores."""

from __future__ import annotations

from random import Random

import pytest

from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from questions.models import QuestionRevision
from questions.rules.vocabulary import Decision
from questions.services.decisions import Repair, decide
from tests.factories import make_response
from tests.questions.test_decisions import RECORD, imported, of_two_problems

pytestmark = pytest.mark.django_db
KEEP, REPAIR, EXCLUDE = Decision.KEEP, Decision.REPAIR, Decision.EXCLUDE


@pytest.mark.parametrize("seed", range(25))
def test_any_sequence_of_decisions_and_imports(seed: int, curator: User) -> None:
    """The item is its source with the repairs in force, and so are answers to its first text."""
    random = Random(seed)
    question, *problems = of_two_problems()
    answer = make_response(question, text="【答案】A")
    source = {"stem": RECORD.stem, "answer_key": "A", "analysis": "故选D。"}
    repairs: list[tuple[int, str, str]] = []  # problem (-1: confirmed), field, value
    newest = {0: KEEP, 1: KEEP}
    key_repaired = False
    for _step in range(14):
        if random.random() < 0.25:
            name = random.choice(["stem", "answer_key", "analysis"])
            new = random.choice("ABD" if name == "answer_key" else ["甲？", RECORD.stem])
            if source[name] != new and name != "analysis":
                repairs.clear()
            source[name] = new
            given = {**source, "answer_key": (source["answer_key"],)}
            imported(options=("1", "2", "2", "1"), **given)
        else:
            which = random.randrange(2)
            decision = random.choice([REPAIR, REPAIR, KEEP, EXCLUDE])
            change = None
            if decision is REPAIR:
                now = QuestionRevision.objects.get(current_of=question)
                name, value = random.choice(
                    [("answer_key", random.choice("ABCD")), ("stem", random.choice("乙丙"))]
                )
                if value == "".join(getattr(now, name)):
                    continue
                change = Repair(**{name: (value,) if name == "answer_key" else value})
                repairs.append((which, name, value))
                key_repaired |= name == "answer_key"
            elif decision is KEEP:
                undoes = newest[which] is REPAIR
                repairs = [
                    (-1 if one[0] == which else one[0], *one[1:])
                    for one in repairs
                    if one[0] != which or not undoes
                ]
            newest[which] = decision
            decide(problems[which], decision, "so", acting_user=curator, repair=change)
        expected = dict(source) | {name: value for _problem, name, value in repairs}
        now = QuestionRevision.objects.get(current_of=question)
        assert {name: "".join(getattr(now, name)) for name in expected} == expected
        # Without a repair of the key, answers keep the one that they were asked with.
        if now.stem == RECORD.stem and key_repaired:
            score_responses([answer])
            answer.refresh_from_db()
            assert answer.strict_score is not None
            assert answer.strict_score.points == 4 * (now.answer_key == ["A"])
