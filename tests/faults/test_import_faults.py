"""R43: the process of an import is killed in the middle of a file; the next ones bring it once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from evaluations.imports.services.answer_imports import import_answers
from evaluations.models import AnswerFact, ObjectiveScore, Response
from questions.services.imports import import_questions
from tests.faults.site import ROOT, Site
from tests.faults.table import FaultRow
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
ITEMS = 400
CHOICE = "2010-2022_Biology_MCQs"
# It stops at half of the file, in the transaction, until it is killed.
HALFWAY = """
import sys, time
from pathlib import Path
import django
django.setup()
from django.db.models.query import QuerySet
from evaluations.imports.services import published_answers
from evaluations.imports.services.answer_imports import import_answers
from evaluations.models import Response

create = QuerySet.bulk_create

def half(self, objs, *args, **kwargs):
    objs = list(objs)
    if self.model is not Response:
        return create(self, objs, *args, **kwargs)
    create(self, objs[: len(objs) // 2], *args, **kwargs)
    Path(sys.argv[2]).touch()
    time.sleep(600)

QuerySet.bulk_create = half
import_answers("gaokao-bench", Path(sys.argv[1]))
"""


def written(folder: Path) -> tuple[Path, Path]:
    """The folder of a paper and that of the answers to it."""
    bank, answers = folder / "bank", folder / "answers"
    bank.mkdir()
    answers.mkdir()
    item = {"year": "2015", "category": "（新课标ⅰ）", "question": "Q", "analysis": "because"}
    items = [item | {"answer": ["B"], "score": 6, "index": n} for n in range(ITEMS)]
    (bank / f"{CHOICE}.json").write_text(json.dumps({"keywords": CHOICE, "example": items}))
    rows = [
        {"index": n, "model_output": "【答案】B<eoa>", "model_answer": ["B"]} for n in range(ITEMS)
    ]
    document = {"keyword": CHOICE, "model_name": "gpt-x", "example": rows}
    (answers / f"gpt-x_{CHOICE}.json").write_text(json.dumps(document))
    return bank, answers


def test_an_import_of_answers_that_is_killed_leaves_nothing(
    site: Site, tmp_path: Path, fault_row: FaultRow
) -> None:
    """Nothing is visible; the second import brings all, the third one nothing."""
    bank, answers = written(tmp_path)
    import_questions("gaokao-bench", bank)
    connection.close()
    halfway = tmp_path / "halfway"
    command = [sys.executable, "-c", HALFWAY, str(answers), str(halfway)]
    process = subprocess.Popen(command, cwd=ROOT, env=site.environment)
    try:
        wait_until(lambda: halfway.exists() or process.poll() is not None, 120)
        assert process.poll() is None
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    after_kill = Response.objects.count()
    second = import_answers("gaokao-bench", answers)
    stored = Response.objects.count()
    third = import_answers("gaokao-bench", answers)
    fault_row(
        "R43",
        f"kill -9 of an import of {ITEMS} answers when half of them were written; imported again, "
        "and once more",
        database=f"{after_kill} answers after the kill, {stored} after the second import, "
        f"{Response.objects.count()} after the third",
    )
    assert (after_kill, second.responses, third.responses) == (0, ITEMS, 0)
    assert Response.objects.count() == ITEMS
    assert ObjectiveScore.objects.count() == 2 * ITEMS, "under each policy"
    assert AnswerFact.objects.count() == 2 * ITEMS
