"""The migration that gives runs of the version before their conditions."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from evaluations.conditions import ConditionOrigin, read_condition, read_sampling
from evaluations.judging.services import ensure_judge
from evaluations.models import Condition, LanguageModel, Run
from evaluations.models.vocabulary import RunPurpose, RunStatus
from tests.factories import make_dataset, make_endpoint, make_run

migration = import_module("evaluations.migrations.0051_conditions_of_earlier_runs")
OLD = {"model": "m-1", "top_p": 1.0, "max_tokens": 512, "prompt_version": "zero-shot-1"}


def asked(placeholder: Condition, temperature: float) -> Run:
    """A run as the version before stored it, apart from the condition that it must have now."""
    endpoint = make_endpoint(f"e-{Run.objects.count()}")
    endpoint.language_model = LanguageModel.objects.get_or_create(name="canary-asked")[0]
    return make_run(
        make_dataset("exam"),
        "canary-asked",
        condition=placeholder,
        endpoint=endpoint,
        status=RunStatus.FINISHED,
        run_settings=OLD | {"temperature": temperature, "setting": "zero_shot"},
        fingerprint="before",
    )


@pytest.mark.django_db
def test_runs_of_the_version_before_get_their_conditions() -> None:
    model = LanguageModel.objects.create(name="canary-asked")
    placeholder = Condition.objects.create(
        name="placeholder", language_model=model, origin="imported", fingerprint="p"
    )
    first, again, warm = (asked(placeholder, value) for value in (0.0, 0.0, 0.3))
    imported = make_run(make_dataset("exam"), "canary-asked", condition=placeholder)
    judge = ensure_judge(make_endpoint())
    judging = Run.objects.create(
        purpose=RunPurpose.JUDGE,
        language_model=judge.endpoint.language_model,  # type: ignore[union-attr]
        endpoint=judge.endpoint,
        dataset=first.dataset,
        judge=judge,
        judged_run=first,
        status=RunStatus.FINISHED,
        run_settings=OLD | {"temperature": 0.0, "prompt_version": "judge-1"},
        fingerprint="judge",
    )
    migration.forwards(apps, None)
    for run in (first, again, warm, imported, judging):
        run.refresh_from_db()
    assert first.condition == again.condition != warm.condition
    names = [run.condition.name for run in (first, warm, imported) if run.condition]
    assert names == ["zero-shot", "zero-shot (2)", "as published"]
    assert warm.condition is not None
    settings = read_condition(warm.condition.settings)
    assert (settings.model, settings.sampling.temperature) == ("m-1", 0.3)
    assert settings.fingerprint("canary-asked") == warm.fingerprint == warm.condition.fingerprint
    assert read_sampling(warm.run_settings["sampling"]).max_tokens == 512
    assert "temperature" not in warm.run_settings
    assert imported.condition is not None
    assert imported.condition.origin == ConditionOrigin.IMPORTED
    assert (judging.condition, judging.fingerprint) == (None, "judge")
    assert judging.run_settings["sampling"]["max_tokens"] == 512
    # a second time it changes nothing
    before = list(Run.objects.order_by("pk").values_list("condition", "run_settings"))
    migration.forwards(apps, None)
    assert list(Run.objects.order_by("pk").values_list("condition", "run_settings")) == before
