"""A real loopback endpoint for the tests of the HTTP client, and a queue of record in memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from random import Random

from evaluations.llm.callbacks import Callbacks
from evaluations.llm.client import CallResult, ChatFailure, ChatReply, ChatRequest, Key, Limits
from evaluations.llm.openai_client import OpenAIChat
from evaluations.llm.retry import RetryPolicy, decide
from tests.scripted_server import LOOPBACK

KEY = "sk-a-key-that-must-not-travel"


def request(key: Key = 1, text: str = "请回答", **params: object) -> ChatRequest:
    return ChatRequest(key, [{"role": "user", "content": text}], params)


def ask(
    base_url: str, *, key: str | None = KEY, limits: Limits | None = None
) -> ChatReply | ChatFailure:
    """One call, in a loop of its own: the reply or the failure."""

    async def call() -> ChatReply | ChatFailure:
        async with OpenAIChat(
            base_url, "scripted-demo", key, limits=limits, networks=LOOPBACK
        ) as chat:
            try:
                return await chat.complete(request())
            except ChatFailure as failure:
                return failure

    return asyncio.run(call())


def fail(base_url: str, *, key: str | None = KEY, limits: Limits | None = None) -> ChatFailure:
    result = ask(base_url, key=key, limits=limits)
    assert isinstance(result, ChatFailure), result
    return result


def reply(base_url: str) -> ChatReply:
    result = ask(base_url)
    assert isinstance(result, ChatReply), result
    return result


class QueueOfRecord:
    """Jobs 0 to n-1 with their attempts, as a database would keep them; retries are due at once."""

    def __init__(self, jobs: int, policy: RetryPolicy | None = None) -> None:
        self.due: list[int] = list(range(jobs))
        self.attempts: Counter[int] = Counter()
        self.results: list[CallResult] = []
        self.batches: list[int] = []
        self.stop_after: int | None = None
        self._policy = policy or RetryPolicy(attempts=30, after_possible_billing=30)
        self._random = Random(0)

    @property
    def callbacks(self) -> Callbacks:
        return Callbacks(self.claim, self.deliver, self.should_stop)

    def claim(self, most: int) -> list[ChatRequest]:
        taken, self.due = self.due[:most], self.due[most:]
        self.attempts.update(taken)
        return [request(number, f"第{number}题") for number in taken]

    def deliver(self, batch: Sequence[CallResult]) -> None:
        self.batches.append(len(batch))
        for outcome in batch:
            self.results.append(outcome)
            number = int(outcome.key)
            failure = outcome.failure
            if failure is None:
                continue
            if decide(failure, self.attempts[number], self._random, self._policy).again:
                self.due.append(number)

    def should_stop(self) -> bool:
        return self.stop_after is not None and len(self.results) >= self.stop_after

    @property
    def answered(self) -> list[int]:
        return sorted(int(outcome.key) for outcome in self.results if outcome.reply)
