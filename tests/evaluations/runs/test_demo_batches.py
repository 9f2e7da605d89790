"""A run by batch through the endpoint of the demo, which is a process of its own."""

from __future__ import annotations

import pytest
import requests

from evaluations.models import Batch, Response
from evaluations.models.vocabulary import RunStatus
from evaluations.runs.services.batch_work import runs_with_batch_work, work_on_batches
from evaluations.runs.services.endpoints import save_endpoint
from gradeapp.common.database_clock import database_now
from tests.evaluations.llm.processes import serving
from tests.evaluations.run_world import planned


@pytest.mark.django_db
def test_the_scripted_endpoint_answers_batches() -> None:
    with serving("evaluations.llm.scripted") as base_url:
        endpoint = save_endpoint(
            name="demo", base_url=base_url, model="scripted-demo", acting_user=None
        )
        run = planned(endpoint, 3, batch_api=True)
        states = []
        for _time in range(3):
            Batch.objects.filter(next_at__isnull=False).update(next_at=database_now())
            for key in runs_with_batch_work(database_now()):
                work_on_batches(key)
            states.append(Batch.objects.get().remote_state)
        run.refresh_from_db()
        assert states == ["validating", "in_progress", "completed"]
        assert (run.status, Response.objects.filter(run=run).count()) == (RunStatus.FINISHED, 3)
        for body in (b"", b"[]", b'{"input_file_id": "file-9"}'):
            refused = requests.post(f"{base_url}/batches", timeout=10, data=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_request")
        assert requests.post(f"{base_url}/files", timeout=10, data=b"x").status_code == 400
        assert requests.get(f"{base_url}/batches/no/such", timeout=10).status_code == 404
