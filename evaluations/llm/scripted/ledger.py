"""The ledger of the scripted endpoint: one line for each request that would have been billed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path


class Ledger:
    """Append-only; with *path* each line is on the disk before the answer goes out.

    ``prompts`` keeps the billed prompts in memory for tests, only where *keep*
    says so: a demo that runs for days must not grow.
    """

    def __init__(self, path: Path | None = None, *, keep: bool = False) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._file = os.open(path, flags, 0o600) if path else None
        self._keep = keep
        self.billed = 0
        self.prompts: list[str] = []

    def bill(self, prompt: str) -> None:
        """Enter one billed request."""
        self.billed += 1
        if self._keep:
            self.prompts.append(prompt)
        if self._file is not None:
            digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
            line = json.dumps({"number": self.billed, "prompt_sha256": digest})
            os.write(self._file, line.encode() + b"\n")
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file; billing after this is a defect."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
