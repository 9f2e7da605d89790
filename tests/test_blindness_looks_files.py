"""Looks at what files tell: their sums without the file, batches of calls, imports.

A person of two roles looks first, and is then given to a round over what they saw.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluations.facts.params import ReportParams
from evaluations.models import Export
from evaluations.reports.services import export_jobs
from evaluations.reports.services.exports import Asked
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from tests.conftest import logged_in
from tests.evaluations.marking_world import responses_to, subjective_question
from tests.test_blindness_looks import judged, planned
from tests.test_blindness_roles import also

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_folder(settings: Any, tmp_path: Path) -> None:
    """Files in a folder of their own."""
    settings.VAR_DIR = tmp_path


def test_the_sums_of_a_file_that_nobody_fetches_are_a_look_at_its_marks(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """The SHA-256 changes with a mark: whoever asked for the file reads it in its manifest."""
    chosen = responses_to(subjective_question(), 1)
    judged(chosen)
    others = responses_to(chosen[0].question, 1, "another-model")
    person = also(teacher, [Role.LEAD])
    slug = chosen[0].question.task.dataset.slug
    params = ReportParams(slug, models=(chosen[0].run.language_model.name,))
    work = export_jobs.start_export(Asked("scores", params), acting_user=person)
    assert not planned(chosen, [person, other_teacher], lead), "which no worker has begun"
    assert export_jobs.work_on_export(work.pk)
    assert Export.objects.get().sha256 in logged_in(person).get(f"/api/v1/exports/{work.pk}/").text
    assert planned(chosen, [person, other_teacher], lead) == "looked"
    assert not planned(others, [person, other_teacher], lead)
