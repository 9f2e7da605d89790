"""What gradeapp itself says of a failed call, in the reader's language.

A failure is stored with one English sentence, ours or the endpoint's. A page finds ours here and
says it again in its own language; what the endpoint said stays as it came.
``tests/evaluations/runs/test_endpoint_sentences.py`` holds the patterns to what is said.
"""

from __future__ import annotations

import re
from functools import cache

from django.utils import translation
from django.utils.translation import gettext_noop as _

# Each value is a name or a number, or of VALUES.
PATTERNS = (
    _("the endpoint sent no error message in a known format"),
    _("the endpoint sent no error message in a known format: %(found)s"),
    _("the endpoint answered with a redirect, which is never followed"),
    _("the call passed its deadline"),
    _("the reply broke off before its end"),
    _("the body is not JSON: %(found)s"),
    _("the body is JSON, but not an object"),
    _("the body has no choice with a message"),
    _("the compressed body is broken"),
    _("the answer is larger than %(n)s bytes"),
    _("the answer came in an encoding that was not asked for: %(found)s"),
    _("not valid HTTP: %(found)s"),
    _("not the reply of a batch API: %(found)s"),
    _("the list of batches takes too long"),
    _("the list of batches has no end"),
    _("the address is not spelled in full"),
    _("there are no trusted CA certificates; %(found)s"),
    _("given up while in flight"),
    _("the client broke: %(found)s"),
    _("never sent"),
    _("not sent"),
    _("perhaps created"),
    _("the endpoint sent no reply to this request of a batch"),
    _("the batch ended as %(found)s"),
)
VALUES = frozenset({_("it is empty"), _("it is a page of HTML"), _("it is not in its format")})
_PLACEHOLDER = re.compile(r"%\(\w+\)s")


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((one, _expression(one)) for one in PATTERNS)


def _expression(pattern: str) -> re.Pattern[str]:
    name = "n" if "%(n)s" in pattern else "found"
    literals = [re.escape(part) for part in _PLACEHOLDER.split(pattern)]
    return re.compile(f"(?P<{name}>[^\\n]{{1,300}})".join(literals))


def endpoint_sentence(text: str) -> str:
    """*text* in the reader's language if it is a sentence of ours, else unchanged."""
    for pattern, expression in _compiled():
        if match := expression.fullmatch(text):
            values = {
                key: translation.gettext(value) if value in VALUES else value
                for key, value in match.groupdict().items()
            }
            return translation.gettext(pattern) % values
    return text
