"""Refusals: what the product will not do, said in one sentence to the person who asked.

Services raise them; interfaces turn them into a status in one place
(``gradeapp.http``). The sentence is for a teacher, not for a log.
"""

from __future__ import annotations

from collections.abc import Mapping


class Refusal(Exception):
    """A request that cannot be carried out. ``code`` is stable, the sentence is translated."""

    status = 400
    code = "refused"

    def __init__(self, sentence: object, *, code: str = "", **details: object) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code or type(self).code
        self.details: Mapping[str, object] = details

    def __str__(self) -> str:
        return str(self.sentence)


class BadInput(Refusal):
    """What was sent cannot be read or breaks a rule."""

    code = "bad_input"


class NotAllowed(Refusal):
    """The person has no business there."""

    status = 403
    code = "not_allowed"


class NotFound(Refusal):
    """There is no such thing, or not for this person: both say the same."""

    status = 404
    code = "not_found"


class Conflict(Refusal):
    """Somebody, or the same person elsewhere, was faster; both versions are kept."""

    status = 409
    code = "conflict"


class Busy(Refusal):
    """Others use what it needs; the same request is carried out a little later."""

    status = 503
    code = "busy"


class OtherRequest(Refusal):
    """An idempotency key came again, with another request than the first time."""

    status = 422
    code = "other_request"
