"""The most memory that this process had since a time."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

STATUS, REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def restart_peak() -> float:
    """Count the peak from now on, where the system can; return what there is now, in MB."""
    with suppress(OSError):  # then the peak is that since the process began
        REFERENCES.write_text("5")
    return _line("VmRSS")


def peak_memory() -> float:
    """Return the most memory since ``restart_peak``, in MB."""
    return _line("VmHWM")


def _line(name: str) -> float:
    if not STATUS.exists():  # not Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))
