"""Model servers of the demo end with the process that started them, also after its kill -9."""

from __future__ import annotations

import os
from argparse import ArgumentParser

LOOK_SECONDS = 1.0


def add_parent(parser: ArgumentParser) -> None:
    """Add the option that names the process with which this one ends."""
    parser.add_argument("--parent", type=int, help="end when this process, the parent, has ended")


def is_orphan(parent: int | None) -> bool:
    """Return whether *parent* has ended, which had started this process; False for None."""
    return parent is not None and os.getppid() != parent
