"""The embedded broker: one file a message, in folders of this machine.

A transport of kombu, made from the methods that its virtual transports are to define. A message is
written under another name and renamed, so that nobody reads half of one. A file that is no message
is moved to ``broken/`` with a line in the log, and the next one is delivered.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import virtual

logger = logging.getLogger(__name__)
# The most broken files that are kept for a look; a file larger than this is no message of ours.
MOST_BROKEN = 100
LARGEST_BYTES = 2**20


class BrokenMessage(ValueError):
    """A file in the queue that is not a message."""


def read_message(data: bytes) -> dict[str, Any]:
    """Return the task message in *data*; raise BrokenMessage where it is none.

    What kombu and Celery take for granted is checked here, because an error in their loop ends the
    worker: a JSON body of arguments, the name and the id of the task, where it was sent.
    """
    try:
        message = json.loads(data)
        if message["content-type"] != "application/json":
            raise BrokenMessage("of another content type")
        if message["content-encoding"] != "utf-8":
            raise BrokenMessage("in another encoding")
        headers, properties = message["headers"], message["properties"]
        if properties["body_encoding"] != "base64":
            raise BrokenMessage("in another encoding")
        args, kwargs, embedded = json.loads(base64.b64decode(message["body"], validate=True))
        kinds = (
            (list, args),
            (dict, kwargs),
            (dict, embedded),
            (str, headers["task"]),
            (str, headers["id"]),
            (str, properties["delivery_tag"]),
            (str, properties["delivery_info"]["exchange"]),
            (str, properties["delivery_info"]["routing_key"]),
        )
    except BrokenMessage:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BrokenMessage("no task message") from error
    if not all(isinstance(value, kind) for kind, value in kinds):
        raise BrokenMessage("no task message")
    return dict(message)


class Channel(virtual.Channel):  # type: ignore[misc]
    """Queues as folders of files, the oldest first; many processes may read and write."""

    from_transport_options = (*virtual.Channel.from_transport_options, "folder")
    folder = ""

    def _path(self, name: str) -> Path:
        path = Path(self.folder) / name
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path

    def _waiting(self, queue: str) -> list[Path]:
        return sorted(self._path("queue").glob(f"*.{queue}.msg"))

    def _put(self, queue: str, message: dict[str, Any], **kwargs: object) -> None:
        """Add *message* to *queue*: whole, or not at all."""
        name = f"{time.time_ns():020}_{uuid.uuid4().hex}.{queue}.msg"
        new = self._path("writing") / name
        new.write_text(json.dumps(message), encoding="utf-8")
        os.replace(new, self._path("queue") / name)

    def _get(self, queue: str) -> dict[str, Any]:
        """Take the oldest message of *queue*; raise Empty where there is none."""
        for file in self._waiting(queue):
            taken = self._path("writing") / f"{uuid.uuid4().hex}.taken"
            try:
                # One rename alone succeeds, so that no two processes take the same message.
                os.rename(file, taken)
            except FileNotFoundError:
                continue
            try:
                if taken.stat().st_size > LARGEST_BYTES:
                    raise BrokenMessage("too large")
                message = read_message(taken.read_bytes())
            except (BrokenMessage, OSError) as error:
                self._set_aside(taken, file.name, error)
                continue
            taken.unlink()
            return message
        raise Empty

    def _set_aside(self, taken: Path, name: str, reason: Exception) -> None:
        """Keep a broken message for a look, of which there are never more than MOST_BROKEN."""
        logger.warning("the broker set a broken message aside: %s is %s", name, reason)
        folder = self._path("broken")
        os.rename(taken, folder / name)
        for old in sorted(folder.iterdir())[:-MOST_BROKEN]:
            old.unlink(missing_ok=True)

    def _size(self, queue: str) -> int:
        """Return how many messages wait in *queue*."""
        return len(self._waiting(queue))

    def _purge(self, queue: str) -> int:
        """Remove every message of *queue* and return how many there were."""
        files = self._waiting(queue)
        for file in files:
            file.unlink(missing_ok=True)
        return len(files)


class Transport(virtual.Transport):  # type: ignore[misc]
    """The transport of ``filesystem://``; its option ``folder`` is where the messages are."""

    Channel = Channel
    implements = virtual.Transport.implements.extend(
        asynchronous=False, exchange_type=frozenset(["direct"])
    )
    # Each process declares the queues that it uses; what is declared is no state of the folder.
    global_state = virtual.BrokerState()
    default_port = 0
    driver_type = "filesystem"
    driver_name = "gradeapp.broker"

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.state = self.global_state
