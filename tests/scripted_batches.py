"""The batch API of the scripted server: files and batches, with a ledger of created batches.

A batch is done when it has been looked at ``looks`` times. Its requests are answered, and billed,
in the order of the file; ``ends_as`` and ``answers`` say how it ends and how many are answered.
``meets`` is called with the name of each step before it and after it (``upload``, ``create``,
``list``, ``look``, ``cancel``, ``fetch``): a test ends the client there.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from typing import Any
from urllib.parse import parse_qs, urlsplit

from evaluations.llm.scripted import completion_of, error_of, prompt_of

Answer = tuple[int, object]
RUNNING = ("validating", "in_progress", "finalizing", "cancelling")


@dataclass
class ScriptedBatches:
    """What ``/v1/files`` and ``/v1/batches`` answer; each answered prompt is given to ``bill``."""

    bill: Callable[[str], None]
    looks: int = 1
    ends_as: str = "completed"
    answers: int = 10**9
    without: frozenset[str] = frozenset()
    meets: Callable[[str], None] = lambda step: None
    faults: list[Answer] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the status and the JSON (or bytes) for a request."""
        parts = urlsplit(path)
        for step, verb, pattern, serve in (
            ("upload", "POST", r"/v1/files", lambda: self._upload(headers, body)),
            ("fetch", "GET", r"/v1/files/([^/]+)/content", self._fetch),
            ("create", "POST", r"/v1/batches", lambda: self._create(json.loads(body))),
            ("list", "GET", r"/v1/batches", lambda: self._list(parse_qs(parts.query))),
            ("look", "GET", r"/v1/batches/([^/]+)", self._look),
            ("cancel", "POST", r"/v1/batches/([^/]+)/cancel", self._cancel),
        ):
            found = re.fullmatch(pattern, parts.path)
            if method != verb or not found or step in self.without:
                continue
            self.meets(f"before {step}")
            answered = self.faults.pop(0) if self.faults else serve(*found.groups())
            self.meets(f"after {step}")
            return answered
        return 404, error_of("There is nothing here", "not_found")

    def _upload(self, headers: Mapping[str, str], body: bytes) -> Answer:
        head = f"Content-Type: {headers['content-type']}\r\n\r\n".encode()
        parts = list(message_from_bytes(head + body, policy=policy.HTTP).iter_parts())
        sent = {part.get_param("name", header="content-disposition"): part for part in parts}
        assert sent["purpose"].get_content().strip() == "batch"
        key = f"file-{len(self.files)}"
        self.files[key] = sent["file"].get_payload(decode=True)
        return 200, {"id": key, "object": "file", "bytes": len(self.files[key])}

    def _create(self, asked: dict[str, Any]) -> Answer:
        if asked["input_file_id"] not in self.files:
            return 400, error_of("no such file", "bad_request")
        batch = {
            **{"id": f"batch_{len(self.batches)}", "object": "batch", "status": "validating"},
            **{"created_at": int(time.time()), "looked": 0, **asked},
        }
        self.batches.append(batch)
        return 200, batch

    def _list(self, query: Mapping[str, list[str]]) -> Answer:
        newest = self.batches[::-1]
        if "after" in query:
            ids = [one["id"] for one in newest]
            newest = newest[ids.index(query["after"][0]) + 1 :]
        most = min(2, int(query["limit"][0]))  # so that there are pages
        return 200, {"object": "list", "data": newest[:most], "has_more": len(newest) > most}

    def _look(self, key: str) -> Answer:
        batch = next((one for one in self.batches if one["id"] == key), None)
        if batch is None:
            return 404, error_of("no such batch", "not_found")
        batch["looked"] += 1
        if batch["status"] == "cancelling":
            self._end(batch, "cancelled")
        elif batch["status"] in RUNNING:
            batch["status"] = "in_progress"
            if batch["looked"] >= self.looks:
                self._end(batch, self.ends_as)
        return 200, batch

    def _cancel(self, key: str) -> Answer:
        batch = next(one for one in self.batches if one["id"] == key)
        if batch["status"] not in RUNNING:
            return 409, error_of("the batch is over", "conflict")
        batch["status"] = "cancelling"
        return 200, batch

    def _fetch(self, key: str) -> Answer:
        return (200, self.files[key]) if key in self.files else (404, error_of("no file", "x"))

    def _end(self, batch: dict[str, Any], state: str) -> None:
        batch["status"] = state
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        done, failed = lines[: self.answers], lines[self.answers :]
        if state == "failed":
            batch["errors"] = {"object": "list", "data": [{"code": "x", "message": "too many"}]}
            return
        replies = [self._reply(line) for line in reversed(done)]
        batch["request_counts"] = {"total": len(lines), "completed": len(done), "failed": 0}
        self._add_file(batch, "output_file_id", replies)
        if state != "completed":
            error = {"code": f"batch_{state}", "message": "not begun"}
            rest = [{"custom_id": one["custom_id"], "error": error} for one in failed]
            self._add_file(batch, "error_file_id", rest)

    def _reply(self, line: dict[str, Any]) -> dict[str, Any]:
        prompt = prompt_of(json.dumps(line["body"]).encode())
        assert prompt is not None
        self.bill(prompt)
        body = completion_of(prompt, 1)
        response = {"status_code": 200, "request_id": "r", "body": body}
        return {"id": "x", "custom_id": line["custom_id"], "response": response, "error": None}

    def _add_file(self, batch: dict[str, Any], name: str, lines: list[dict[str, Any]]) -> None:
        if lines:
            batch[name] = f"file-{len(self.files)}"
            self.files[batch[name]] = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
