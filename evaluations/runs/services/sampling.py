"""The sampling of a run on an endpoint, with the sentence for each bad value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import Sampling
from evaluations.models import Endpoint
from evaluations.runs.rules import sampling as rules
from evaluations.runs.rules.sampling import FIELDS, BadSampling, SamplingLimits
from gradeapp.common.refusals import BadInput

SENTENCES: Mapping[str, str | Promise] = {
    "temperature": _("The temperature must be a number from 0 to %(most)s, or “half”."),
    "top_p": _("top_p must be a number above 0, and 1 at most."),
    "max_tokens": _(
        "The maximum tokens per reply must be a whole number from 1 to %(most)s, the limit of "
        "the endpoint."
    ),
    "stop": _("There may be up to %(most)s stop texts of up to %(longest)s characters each."),
    "seed": _("The seed must be a whole number from 0 to %(most)s."),
    "reasoning_effort": _("The reasoning effort must be one of these: %(allowed)s."),
    "extra_json": _('The extra parameters must be a JSON object such as {"top_k": 20}.'),
    "extra_name": _("The extra parameter %(name)s is not allowed. Allowed are: %(allowed)s."),
    "extra_value": _("The extra parameter %(name)s needs a value such as %(example)s."),
    "extra_long": _("The extra parameters are longer than %(most)s characters."),
    "thinking_unbounded": _(
        "enable_thinking needs a thinking_budget beside it, because the tokens of its reasoning "
        "are paid and max_tokens does not limit them."
    ),
}


def sampling_for(endpoint: Endpoint, fields: Mapping[str, Any]) -> Sampling | None:
    """Return the sampling in *fields* for a run on *endpoint*; None if all of them are empty.

    The fields are those of ``rules.sampling_of``; others are ignored. Raises BadInput with one
    sentence, and the ``field`` among its details.
    """
    given = {name: fields[name] for name in FIELDS if rules.is_given(fields.get(name))}
    if not given:
        return None
    try:
        return rules.sampling_of(given, limits_of(endpoint))
    except BadSampling as bad:
        raise _refusal(bad) from None


def check_sampling(endpoint: Endpoint, sampling: Sampling) -> None:
    """Raise BadInput if *endpoint* does not allow *sampling*."""
    try:
        rules.check_sampling(sampling, limits_of(endpoint))
    except BadSampling as bad:
        raise _refusal(bad) from None


def limits_of(endpoint: Endpoint) -> SamplingLimits:
    """Return what *endpoint* allows."""
    return SamplingLimits(endpoint.max_tokens, endpoint.max_temperature)


def _refusal(bad: BadSampling) -> BadInput:
    return BadInput(SENTENCES[bad.code] % bad.values, field=bad.field)
