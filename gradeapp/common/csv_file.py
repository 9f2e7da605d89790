"""CSV files that spreadsheets open safely: UTF-8 with BOM, CRLF, every cell quoted."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping

from gradeapp.common.csv_cells import BOM, cell, guard
from gradeapp.common.tables import Table

__all__ = ["cell", "guard", "manifest", "render", "sha256"]


def render(table: Table) -> bytes:
    """The whole file; a lone surrogate, which UTF-8 cannot hold, is written as ``\\ud800``."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([cell(name) for name in table.columns])
    writer.writerows([cell(value) for value in row] for row in table.rows)
    return (BOM + buffer.getvalue()).encode("utf-8", "backslashreplace")


def sha256(content: bytes) -> str:
    """The hexadecimal SHA-256 of a file."""
    return hashlib.sha256(content).hexdigest()


def manifest(rows: int, sha256: str, parameters: Mapping[str, object]) -> dict[str, object]:
    """What stands in ``FILE.manifest.json``: rows (without the header), digest, parameters."""
    return {"rows": rows, "sha256": sha256, "parameters": dict(parameters)}
