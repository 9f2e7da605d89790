"""The two policies that stand side by side on every response."""

from __future__ import annotations

from questions.rules.vocabulary import Named

SCORER_VERSION = "objective-1"


class Policy(Named):
    """``published`` keeps a benchmark's own rules; ``strict`` is a careful examiner's."""

    PUBLISHED = "published", "As published", "原基准"
    STRICT = "strict", "Strict", "严格"
