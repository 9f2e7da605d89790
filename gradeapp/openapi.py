"""What drf-spectacular cannot see: the refusals that every operation of the API may answer."""

from __future__ import annotations

from typing import Any

REFUSALS = {
    "400": "The input is invalid.",
    "403": "Not logged in, no CSRF token, or not allowed.",
    "404": "Not found, or not for this person.",
    "409": "The state does not allow it.",
}
METHODS = ("get", "post", "put", "patch", "delete")


def add_refusals(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add the responses of ``REFUSALS`` to every operation that does not describe them itself."""
    for operations in result["paths"].values():
        for method, operation in operations.items():
            if method in METHODS:
                for status, description in REFUSALS.items():
                    body = {"application/json": {"schema": {"type": "object"}}}
                    given = {"description": description, "content": body}
                    operation["responses"].setdefault(status, given)
    return result
