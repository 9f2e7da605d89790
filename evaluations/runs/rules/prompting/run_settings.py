"""The settings of a run, frozen when it starts, with a fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from evaluations.runs.rules.prompting.zero_shot import PROMPT_VERSION
from gradeapp.common.named import Named


class Setting(Named):
    """The prompt setting. Of the four of AGIEval (section 4.1), one is implemented."""

    ZERO_SHOT = "zero_shot", "Zero-shot", "零样本"


@dataclass(frozen=True)
class RunSettings:
    """The settings of requests, apart from the questions and the endpoint.

    ``temperature`` (0 to 2) and ``top_p`` (above 0, to 1) are always sent, so the provider's
    defaults never apply; ``max_tokens`` limits the reply.
    """

    setting: str = Setting.ZERO_SHOT.value
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 2048
    prompt_version: str = PROMPT_VERSION

    def __post_init__(self) -> None:
        if self.setting not in {setting.value for setting in Setting}:
            raise ValueError(f"there is no setting called {self.setting}")
        if not 0 <= self.temperature <= 2 or not 0 < self.top_p <= 1:
            raise ValueError("temperature goes from 0 to 2, top_p from above 0 to 1")
        if self.max_tokens < 1:
            raise ValueError("max_tokens is a whole number above 0")

    def as_dict(self) -> dict[str, object]:
        """Return the settings as JSON."""
        return asdict(self)

    def request_params(self) -> dict[str, object]:
        """Return the parameters of every request."""
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
        }

    def fingerprint(self) -> str:
        """Return the SHA-256 of the settings; equal settings have equal fingerprints."""
        text = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
