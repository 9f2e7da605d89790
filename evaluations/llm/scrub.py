"""Take keys out of what a provider says, before anything is stored, logged or shown.

Providers echo parts of the key in the body of a 401 and proxies echo the whole
request. The text is other people's: it is masked, cut and never trusted.
"""

from __future__ import annotations

import re

LONGEST_TEXT = 2048
MASK = "***"

# A body may be 20 MB: look only at the start. More is read than is kept, so that
# a secret halved by this limit lies beyond what is kept.
_READ_AT_MOST = 4 * LONGEST_TEXT

_PATTERNS = (
    re.compile(r"(?i)\b(bearer\s+)[^\s\"',;<>]+"),
    re.compile(r"(?i)\b(basic\s+)[A-Za-z0-9+/=]{8,}"),
    re.compile(r"(?i)(\bx?-?api[-_ ]?key[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&<>]+"),
    re.compile(r"(://)[^/\s@]+(?=@)"),
    re.compile(r"\b(sk-)[^\s\"',;<>]+"),
)


def scrub(text: str, secret: str | None = None) -> str:
    """*text* with keys masked, NUL removed and cut to 2 kB of UTF-8.

    Masks ``sk-...``, ``Bearer ...``, ``Basic ...``, ``api_key=...``, the user
    part of a URL, and *secret* itself wherever it stands.
    """
    text = text[:_READ_AT_MOST].replace("\x00", "")
    if secret:
        text = text.replace(secret, MASK)
    for pattern in _PATTERNS:
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return text.encode("utf-8", "replace")[:LONGEST_TEXT].decode("utf-8", "ignore")
