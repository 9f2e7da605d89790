"""The batch API of the scripted endpoint: ``/v1/files`` and ``/v1/batches``, kept in memory.

A batch is answered when it has been looked at ``looks`` times. The oldest files are forgotten
beyond ``MOST_KEPT`` bytes.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from evaluations.llm.scripted import completion_of, error_of, prompt_of

Answer = tuple[int, object]
Step = tuple[str, Callable[[], Answer]]
RUNNING = ("validating", "in_progress", "finalizing", "cancelling")
MOST_KEPT = 200_000_000


def not_billed(prompt: str) -> None:
    """Do nothing: nobody pays for the demo."""


@dataclass
class ScriptedBatches:
    """What ``/v1/files`` and ``/v1/batches`` answer; each answered prompt is given to ``bill``."""

    bill: Callable[[str], None] = not_billed
    looks: int = 2
    page: int = 100
    files: dict[str, bytes] = field(default_factory=dict)
    batches: list[dict[str, Any]] = field(default_factory=list)
    uploads: int = 0

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the status and the JSON (or bytes) for a request; header names are lower-case."""
        step = self.step(method, path, headers, body)
        return step[1]() if step else (404, error_of("There is nothing here", "not_found"))

    def step(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Step | None:
        """Return the name of what a request asks for, and what does it; None if nothing is here."""
        parts = urlsplit(path)
        for name, verb, pattern, serve in (
            ("upload", "POST", r"/v1/files", lambda: self._upload(headers, body)),
            ("fetch", "GET", r"/v1/files/([^/]+)/content", self._fetch),
            ("create", "POST", r"/v1/batches", lambda: self._create(body)),
            ("list", "GET", r"/v1/batches", lambda: self._list(parse_qs(parts.query))),
            ("look", "GET", r"/v1/batches/([^/]+)", self._look),
            ("cancel", "POST", r"/v1/batches/([^/]+)/cancel", self._cancel),
        ):
            found = re.fullmatch(pattern, parts.path)
            if method == verb and found:
                return name, partial(serve, *found.groups())
        return None

    def _upload(self, headers: Mapping[str, str], body: bytes) -> Answer:
        head = f"Content-Type: {headers.get('content-type', '')}\r\n\r\n".encode()
        parts = list(message_from_bytes(head + body, policy=policy.HTTP).iter_parts())
        sent = {part.get_param("name", header="content-disposition"): part for part in parts}
        if "file" not in sent or "purpose" not in sent:
            return 400, error_of("The body is not a file with its purpose", "bad_request")
        if sent["purpose"].get_content().strip() != "batch":
            return 400, error_of("The purpose is not batch", "bad_request")
        content = sent["file"].get_payload(decode=True)
        if not isinstance(content, bytes):
            return 400, error_of("The file has several parts", "bad_request")
        key = self._keep(content)
        return 200, {"id": key, "object": "file", "bytes": len(self.files[key])}

    def _keep(self, content: bytes) -> str:
        key = f"file-{self.uploads}"
        self.uploads += 1
        self.files[key] = content
        while len(self.files) > 1 and sum(map(len, self.files.values())) > MOST_KEPT:
            del self.files[next(iter(self.files))]
        return key

    def _create(self, body: bytes) -> Answer:
        try:
            asked = json.loads(body)
            given = self.files[asked["input_file_id"]]
            prompts = [_prompt(json.loads(line)) for line in given.splitlines()]
        except (ValueError, KeyError, TypeError):
            prompts = []
        if not prompts or None in prompts:
            return 400, error_of("There is no such file of requests", "bad_request")
        batch = {
            **{"id": f"batch_{len(self.batches)}", "object": "batch", "status": "validating"},
            **{"created_at": int(time.time()), "looked": 0, **asked},
        }
        self.batches.append(batch)
        return 200, batch

    def _list(self, query: Mapping[str, list[str]]) -> Answer:
        newest = self.batches[::-1]
        ids = [one["id"] for one in newest]
        if (after := query.get("after", [""])[0]) in ids:
            newest = newest[ids.index(after) + 1 :]
        page = newest[: self.page]
        return 200, {"object": "list", "data": page, "has_more": len(newest) > len(page)}

    def _look(self, key: str) -> Answer:
        batch = next((one for one in self.batches if one["id"] == key), None)
        if batch is None:
            return 404, error_of("There is no such batch", "not_found")
        batch["looked"] += 1
        if batch["status"] == "cancelling":
            self.end(batch, "cancelled")
        elif batch["status"] in RUNNING:
            batch["status"] = "in_progress"
            if batch["looked"] >= self.looks:
                self.end(batch, "completed")
        return 200, batch

    def _cancel(self, key: str) -> Answer:
        batch = next((one for one in self.batches if one["id"] == key), None)
        if batch is None:
            return 404, error_of("There is no such batch", "not_found")
        if batch["status"] not in RUNNING:
            return 409, error_of("The batch is over", "conflict")
        batch["status"] = "cancelling"
        return 200, batch

    def _fetch(self, key: str) -> Answer:
        if key not in self.files:
            return 404, error_of("There is no such file", "not_found")
        return 200, self.files[key]

    def end(self, batch: dict[str, Any], state: str) -> None:
        """End *batch* as *state*: a completed one with all replies, another one with none."""
        lines = self.requests_of(batch)
        self.answered(batch, state, lines if state == "completed" else [], lines)

    def requests_of(self, batch: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the requests of *batch*; none if their file is forgotten."""
        given = self.files.get(batch["input_file_id"], b"")
        return [json.loads(line) for line in given.splitlines()]

    def answered(
        self,
        batch: dict[str, Any],
        state: str,
        done: Sequence[dict[str, Any]],
        lines: Sequence[dict[str, Any]],
    ) -> None:
        """End *batch*, of whose *lines* the first are *done*; replies come in another order."""
        batch["status"] = state
        replies = [self._reply(line) for line in reversed(done)]
        batch["request_counts"] = {"total": len(lines), "completed": len(done), "failed": 0}
        self._add_file(batch, "output_file_id", replies)
        if state != "completed":
            error = {"code": f"batch_{state}", "message": "not begun"}
            rest = [{"custom_id": one["custom_id"], "error": error} for one in lines[len(done) :]]
            self._add_file(batch, "error_file_id", rest)

    def _reply(self, line: Mapping[str, Any]) -> dict[str, Any]:
        prompt = _prompt(line) or ""
        self.bill(prompt)
        body = completion_of(prompt, 1)
        response = {"status_code": 200, "request_id": "r", "body": body}
        return {"id": "x", "custom_id": line["custom_id"], "response": response, "error": None}

    def _add_file(self, batch: dict[str, Any], name: str, lines: list[dict[str, Any]]) -> None:
        if lines:
            content = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
            batch[name] = self._keep(content)


def _prompt(line: Mapping[str, Any]) -> str | None:
    return prompt_of(json.dumps(line["body"]).encode())
