"""A process that is killed in the middle of a file leaves nothing of that file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gradeapp.audit.models import AuditEntry
from questions.models import (
    FewShotExample,
    HumanRate,
    ImportBatch,
    ItemProblem,
    LabelRevision,
    Question,
    QuestionRevision,
    Task,
)
from questions.services.imports import import_questions
from tests.questions.test_importer_agieval import ITEM, write, write_examples
from tests.worker_processes import database_url

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parent.parent.parent
# The process kills itself right after one step of the second file; SIGKILL leaves no time.
DIES_AFTER = """
import os, signal, sys
from pathlib import Path
import django
django.setup()
from questions.services import bank, import_log, imports

calls = 0

def dying(step):
    def wrapped(*args, **kwargs):
        global calls
        calls += 1
        result = step(*args, **kwargs)
        if calls == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapped

owner, name = {
    "revisions": (bank, "store_rubrics"),
    "labels": (bank, "store_labels_and_rates"),
    "the gate": (bank, "check_items"),
    "facts of the task": (imports, "store_task_facts"),
    "the log": (import_log.ImportLog, "wrote"),
}[sys.argv[1]]
setattr(owner, name, dying(getattr(owner, name)))
imports.import_questions("agieval", Path(sys.argv[2]))
"""
STEPS = ["revisions", "labels", "the gate", "facts of the task", "the log"]
ITEMS = 40


def rows_of(task: str) -> int:
    """How many rows of any table belong to *task*."""
    by_question = (QuestionRevision, LabelRevision, ItemProblem)
    found = [model.objects.filter(question__task__slug=task).count() for model in by_question]
    by_task = (Question, HumanRate, FewShotExample)
    found += [model.objects.filter(task__slug=task).count() for model in by_task]
    return sum(found) + Task.objects.filter(slug=task).count()


@pytest.mark.parametrize("step", STEPS)
def test_nothing_of_the_file_is_left_and_the_next_import_brings_it(
    tmp_path: Path, step: str
) -> None:
    write_examples(tmp_path, ["", "lsat-lr"], ["sample 1", repr(ITEM)])
    items = [ITEM | {"question": f"Question {number}?"} for number in range(ITEMS)]
    write(tmp_path, *items, ITEM | {"label": "E"}, task="lsat-lr")  # one more for the gate
    own = {
        "DATABASE_URL": database_url(),
        "GRADEAPP_VAR": str(tmp_path / "var"),
        "DJANGO_SETTINGS_MODULE": "gradeapp.settings",
    }
    killed = subprocess.run(
        [sys.executable, "-c", DIES_AFTER, step, str(tmp_path)],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    assert rows_of("lsat-ar") > 0
    assert rows_of("lsat-lr") == 0
    assert [batch.counts["new"] for batch in ImportBatch.objects.all()] == [1]
    assert AuditEntry.objects.filter(tag="questions.imported").count() == 1

    report = import_questions("agieval", tmp_path)
    assert (report.new, report.same, report.changed) == (ITEMS + 1, 1, 0)
    task = Task.objects.get(slug="lsat-lr")
    assert (task.questions.count(), task.human_rates.count()) == (ITEMS + 1, 2)
    assert task.few_shot_examples.count() == 1
    assert not task.questions.filter(current=None).exists()
    assert not task.questions.filter(label=None).exists()
