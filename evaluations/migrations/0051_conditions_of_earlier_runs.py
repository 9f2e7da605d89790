"""Give the runs that answered before conditions existed the condition that they had."""

import hashlib
import json

from django.db import migrations

SAMPLING = ("temperature", "top_p", "max_tokens")


def fingerprint(settings):
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def nested(settings):
    """Return run settings with the sampling in a dict of its own."""
    kept = {name: value for name, value in settings.items() if name not in SAMPLING}
    sampling = {name: settings[name] for name in SAMPLING}
    sampling |= {"stop": [], "seed": None, "reasoning_effort": "", "extra": {}}
    if "setting" in kept:
        kept["setting"] = kept["setting"].replace("_", "-")
    return {**kept, "sampling": sampling}


def own_prompts(apps):
    """Return the version of our own prompts from before prompt sets were stored."""
    prompt_sets = apps.get_model("evaluations", "PromptSet")
    own, created = prompt_sets.objects.get_or_create(slug="gradeapp")
    content = {"name": "gradeapp", "answer_format": "tags", "prompt_version": "zero-shot-1"}
    versions = apps.get_model("evaluations", "PromptSetVersion").objects
    return versions.get_or_create(
        prompt_set=own, content_hash=fingerprint(content), defaults={"number": 1, "content": content, "source": "shipped"}
    )[0]


def asked_condition(apps, run, prompts):
    conditions = apps.get_model("evaluations", "Condition").objects
    settings = {
        "model": run.run_settings["model"],
        "prompt_set": "gradeapp",
        "prompt_hash": prompts.content_hash,
        "answer_format": "tags",
        "setting": run.run_settings.get("setting", "zero-shot"),
        "sampling": run.run_settings["sampling"],
        "max_prompt_tokens": 2048,
        "images": "omit",
        "largest_side": 2048,
        "option_order": "printed",
        "random_seed": 0,
    }
    key = fingerprint({**settings, "model_in_reports": run.language_model.name})
    found = conditions.filter(fingerprint=key).first()
    if found is not None:
        return found
    name, number = settings["setting"], 1
    while conditions.filter(language_model=run.language_model, name=name).exists():
        number += 1
        name = f"{settings['setting']} ({number})"
    return conditions.create(
        name=name,
        language_model=run.language_model,
        origin="asked",
        setting=settings["setting"],
        prompts=prompts,
        settings=settings,
        fingerprint=key,
    )


def imported_condition(apps, model):
    conditions = apps.get_model("evaluations", "Condition").objects
    given = {"name": "as published", "language_model": model, "origin": "imported"}
    return conditions.get_or_create(
        fingerprint=fingerprint({"imported": model.name}), defaults=given
    )[0]


def forwards(apps, schema_editor):
    runs = apps.get_model("evaluations", "Run").objects.select_related("language_model")
    for run in runs.order_by("pk"):
        if "temperature" in run.run_settings:
            run.run_settings = nested(run.run_settings)
        if run.purpose == "answer" and run.status == "imported":
            run.condition = imported_condition(apps, run.language_model)
        elif run.purpose == "answer":
            run.condition = asked_condition(apps, run, own_prompts(apps))
            run.fingerprint = run.condition.fingerprint
        run.save(update_fields=["run_settings", "condition", "fingerprint"])


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0050_conditions")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
