"""What a run froze at its start: settings that shape the answers, the address, the prices."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluations.judging.rules.judge_prompt import JUDGE_PROMPT_VERSION
from evaluations.llm.budget import Price
from evaluations.models import Endpoint, Run
from evaluations.reading.rules.extraction.llm_fallback import FALLBACK_PROMPT_VERSION
from evaluations.runs.rules.prompting.run_settings import RunSettings
from evaluations.suggesting.rules.asks import Asks
from evaluations.suggesting.rules.label_prompt import LABEL_PROMPT_VERSION, label_instructions
from evaluations.suggesting.rules.rubric_prompt import RUBRIC_PROMPT_VERSION, rubric_instructions
from questions.rules.vocabulary import Language

PROMPTS = {
    Asks.LABELS: (LABEL_PROMPT_VERSION, label_instructions),
    Asks.RUBRIC: (RUBRIC_PROMPT_VERSION, rubric_instructions),
}


@dataclass(frozen=True)
class Frozen:
    """``settings`` as stored with the run; ``fingerprint`` of those that shape the answers."""

    settings: dict[str, Any]
    fingerprint: str


def freeze_answering(endpoint: Endpoint, setting: str) -> Frozen:
    """The settings of a run that sits an exam."""
    return _frozen(RunSettings(setting=setting, max_tokens=endpoint.max_tokens), endpoint)


def freeze_judging(endpoint: Endpoint) -> Frozen:
    """The settings of a judge: zero-shot, temperature 0."""
    settings = RunSettings(prompt_version=JUDGE_PROMPT_VERSION, max_tokens=endpoint.max_tokens)
    return _frozen(settings, endpoint)


def freeze_reading(endpoint: Endpoint) -> Frozen:
    """The settings of a model that reads answers: zero-shot, temperature 0."""
    settings = RunSettings(prompt_version=FALLBACK_PROMPT_VERSION, max_tokens=endpoint.max_tokens)
    return _frozen(settings, endpoint)


def freeze_suggesting(endpoint: Endpoint, asks: Asks) -> Frozen:
    """The settings of a model that suggests, with its instructions in both languages."""
    version, told = PROMPTS[asks]
    settings = RunSettings(prompt_version=version, max_tokens=endpoint.max_tokens)
    frozen = _frozen(settings, endpoint)
    prompt = {language.value: told(language) for language in Language}
    return Frozen({**frozen.settings, "asks": asks.value, "prompt": prompt}, frozen.fingerprint)


def _frozen(settings: RunSettings, endpoint: Endpoint) -> Frozen:
    facts = {
        "model": endpoint.model,
        "base_url": endpoint.base_url,
        "price_input": str(endpoint.price_input),
        "price_output": str(endpoint.price_output),
        "currency": endpoint.currency,
    }
    return Frozen({**facts, **settings.as_dict()}, settings.fingerprint())


def settings_of(run: Run) -> RunSettings:
    """The settings that *run* was started with."""
    names = RunSettings.__dataclass_fields__
    return RunSettings(**{name: run.run_settings[name] for name in names})


def is_still_the_same(run: Run, endpoint: Endpoint) -> bool:
    """Whether *endpoint* is the model and the address that the run was started with."""
    facts = run.run_settings
    return (facts["model"], facts["base_url"]) == (endpoint.model, endpoint.base_url)


def price_of(run: Run) -> Price:
    """The prices of the day the run was started."""
    facts = run.run_settings
    return Price(Decimal(facts["price_input"]), Decimal(facts["price_output"]))
