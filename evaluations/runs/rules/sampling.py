"""Read the sampling of a run as people give it, and check it against the limits of an endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluations.conditions import Sampling
from gradeapp.common.plain_number import decimal_of
from gradeapp.common.storable import storable
from gradeapp.common.strict_json import JsonRefusal, parse_object

# The temperatures that are offered beside half of the endpoint's maximum, which is AGIBench's;
# that of GAOKAO-Bench is 0.3, that of AGIEval 0.
PRESETS = (0.0, 0.3)
HALF = "half"
MOST_STOPS, LONGEST_STOP = 4, 100
MOST_SEED = 2**31 - 1
# A larger whole number is not exact as a float.
MOST_NUMBER = 2**53
LONGEST_EXTRA = 1000
REASONING_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
FIELDS = ("temperature", "top_p", "max_tokens", "stop", "seed", "reasoning_effort", "extra")


@dataclass(frozen=True)
class Extra:
    """A parameter of some endpoints: a value has the type of ``example``; why it is allowed."""

    example: Any
    reason: str


# All others are refused: model and messages are the run's own, stream and n change the form of the
# reply, tools let a model do more than answer, user is personal data.
ALLOWED_EXTRA: Mapping[str, Extra] = {
    "top_k": Extra(20, "sampling among the k likeliest tokens (vLLM, Qwen, Gemini)"),
    "min_p": Extra(0.05, "sampling among tokens above this share of the likeliest (vLLM)"),
    "repetition_penalty": Extra(1.05, "against loops of small models (vLLM, Qwen)"),
    "frequency_penalty": Extra(0.5, "part of the chat completions format"),
    "presence_penalty": Extra(0.5, "part of the chat completions format"),
    "do_sample": Extra(False, "GLM takes temperature 0 only as do_sample false"),
    "random_seed": Extra(1, "Mistral's name of seed"),
    "verbosity": Extra("low", "length of the answer of GPT-5"),
    "enable_thinking": Extra(True, "switches the reasoning of Qwen on or off"),
    "thinking_budget": Extra(4096, "the most tokens of that reasoning"),
    "thinking": Extra({"type": "disabled"}, "the same switch of GLM, Doubao and DeepSeek"),
    "chat_template_kwargs": Extra({"enable_thinking": False}, "the same switch of vLLM and SGLang"),
}


@dataclass(frozen=True)
class SamplingLimits:
    """What an endpoint allows: the most tokens of a reply, and the highest temperature."""

    max_tokens: int
    max_temperature: float = 2.0


class BadSampling(ValueError):
    """A value that is not taken: its ``field``, a stable ``code`` and what its sentence names."""

    def __init__(self, field: str, code: str = "", **values: object) -> None:
        super().__init__(f"{field}: {code or field} {values}")
        self.field, self.code, self.values = field, code or field, values


def temperature_presets(max_temperature: float) -> tuple[float, ...]:
    """Return the temperatures to offer: 0, 0.3 and half of *max_temperature*, each once."""
    return tuple(dict.fromkeys((*PRESETS, max_temperature / 2)))


def is_given(value: Any) -> bool:
    """Return whether a field was filled in."""
    return value not in (None, "", [], (), {}) and (
        not isinstance(value, str) or bool(value.strip())
    )


def sampling_of(fields: Mapping[str, Any], limits: SamplingLimits) -> Sampling:
    """Return the sampling in *fields*, which are named as in ``FIELDS``.

    Values are texts, as typed, or values of JSON; an empty one has the default: temperature 0,
    top_p 1, and as many tokens as the endpoint allows. The temperature may be ``half`` of the
    maximum. ``stop`` is a list, or a text with one stop text per line, in which ``\\n`` is a line
    break. ``extra`` is an object or its JSON. Raises BadSampling for the first bad value.
    """
    given = {name: value for name, value in fields.items() if is_given(value)}
    temperature, top_p, tokens, seed = 0.0, 1.0, limits.max_tokens, None
    if str(given.get("temperature", "")).strip().lower() == HALF:
        temperature = limits.max_temperature / 2
    elif "temperature" in given:
        temperature = _number(given["temperature"], _bad_temperature(limits))
    if "top_p" in given:
        top_p = _number(given["top_p"], BadSampling("top_p"))
    if "max_tokens" in given:
        tokens = _whole(given["max_tokens"], _bad_tokens(limits))
    if "seed" in given:
        seed = _whole(given["seed"], _bad_seed())
    _check(0 <= temperature <= 2, _bad_temperature(limits))
    _check(0 < top_p <= 1, BadSampling("top_p"))
    _check(tokens >= 1, _bad_tokens(limits))
    effort = str(given.get("reasoning_effort", "")).strip()
    sampling = Sampling(
        temperature, top_p, tokens, _stops(given.get("stop")), seed, effort, _extra(given)
    )
    check_sampling(sampling, limits)
    return sampling


def check_sampling(sampling: Sampling, limits: SamplingLimits) -> None:
    """Raise BadSampling for the first value that *limits* or the lists above do not allow."""
    _check(sampling.temperature <= limits.max_temperature, _bad_temperature(limits))
    _check(sampling.max_tokens <= limits.max_tokens, _bad_tokens(limits))
    stops = sampling.stop
    fitting = len(stops) <= MOST_STOPS and all(1 <= len(one) <= LONGEST_STOP for one in stops)
    _check(fitting, _bad_stops())
    _check(sampling.seed is None or 0 <= sampling.seed <= MOST_SEED, _bad_seed())
    known = ("", *REASONING_EFFORTS)
    bad_effort = BadSampling("reasoning_effort", allowed=", ".join(REASONING_EFFORTS))
    _check(sampling.reasoning_effort in known, bad_effort)
    _check_extra(sampling.extra)


def most_completion_tokens(sampling: Sampling) -> int:
    """Return the most tokens of a reply that are billed."""
    return tokens_asked(sampling.request_params())


def tokens_asked(params: Mapping[str, Any]) -> int:
    """Return the most tokens that a request with *params* asks for; 0 if they are not known.

    A ``thinking_budget`` is paid beside ``max_tokens``, which then bounds the answer alone.
    """
    most = params.get("max_tokens", params.get("max_completion_tokens", 0))
    thinks = params.get("enable_thinking", True)
    return int(most) + (params.get("thinking_budget", 0) if thinks else 0)


def sent_params(sampling: Sampling, *, max_completion_tokens: bool) -> dict[str, Any]:
    """Return the parameters of a request; an endpoint may refuse the older name ``max_tokens``."""
    params = sampling.request_params()
    if max_completion_tokens:
        params["max_completion_tokens"] = params.pop("max_tokens")
    return params


def _bad_temperature(limits: SamplingLimits) -> BadSampling:
    return BadSampling("temperature", most=f"{limits.max_temperature:g}")


def _bad_tokens(limits: SamplingLimits) -> BadSampling:
    return BadSampling("max_tokens", most=limits.max_tokens)


def _bad_stops() -> BadSampling:
    return BadSampling("stop", most=MOST_STOPS, longest=LONGEST_STOP)


def _bad_seed() -> BadSampling:
    return BadSampling("seed", most=MOST_SEED)


def _check(fits: bool, bad: BadSampling) -> None:
    if not fits:
        raise bad


def _number(value: Any, bad: BadSampling) -> float:
    read = decimal_of(value) if isinstance(value, str) else value
    if isinstance(read, bool) or not isinstance(read, int | float | Decimal):
        raise bad
    _check(-MOST_NUMBER <= read <= MOST_NUMBER, bad)
    return float(read)


def _whole(value: Any, bad: BadSampling) -> int:
    read = _number(value, bad)
    _check(read.is_integer(), bad)
    return int(read)


def _stops(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(line.replace("\\n", "\n") for line in value.splitlines() if line)
    listed = isinstance(value, Sequence) and all(isinstance(one, str) for one in value)
    _check(value is None or listed, _bad_stops())
    return tuple(value or ())


def _extra(given: Mapping[str, Any]) -> dict[str, Any]:
    value = given.get("extra", {})
    if isinstance(value, str):
        try:
            value = parse_object(value.encode())
        except JsonRefusal:
            raise BadSampling("extra", "extra_json") from None
    _check(isinstance(value, Mapping), BadSampling("extra", "extra_json"))
    _check_extra(value)
    return {name: _plain(one) for name, one in value.items()}


def _check_extra(extra: Mapping[str, Any]) -> None:
    allowed = ", ".join(ALLOWED_EXTRA)
    for name, value in extra.items():
        if name not in ALLOWED_EXTRA:
            raise BadSampling("extra", "extra_name", name=name[:40], allowed=allowed)
        example = ALLOWED_EXTRA[name].example
        bad = BadSampling("extra", "extra_value", name=name, example=json.dumps(example))
        _check(_is_like(value, example), bad)
    size = len(json.dumps(extra, default=str))
    _check(size <= LONGEST_EXTRA, BadSampling("extra", "extra_long", most=LONGEST_EXTRA))
    unbounded = extra.get("enable_thinking") is True and "thinking_budget" not in extra
    _check(not unbounded, BadSampling("extra", "thinking_unbounded"))


def _is_like(value: Any, example: Any) -> bool:
    """Return whether *value* has the type of *example*; numbers are finite, whole ones from 0."""
    if isinstance(example, bool) or isinstance(value, bool):
        return isinstance(example, bool) and isinstance(value, bool)
    if isinstance(example, int):
        return isinstance(value, int) and 0 <= int(value) <= MOST_SEED
    if isinstance(example, float):
        return isinstance(value, int | float | Decimal) and -1000 <= value <= 1000
    return _is_text(value) if isinstance(example, str) else _is_object(value)


def _is_text(value: Any) -> bool:
    """Return whether *value* is a text that every database stores."""
    return isinstance(value, str) and storable(value) == value


def _is_object(value: Any) -> bool:
    """Return whether *value* is a JSON object of texts, numbers and truth values."""
    numbers = (int, float, Decimal)
    return isinstance(value, Mapping) and all(
        isinstance(one, numbers) or _is_text(one) for one in value.values()
    )


def _plain(value: Any) -> Any:
    """Return *value* with floats in the place of decimals, as JSON stores it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return float(value) if isinstance(value, Decimal) else value
