"""CSV files that spreadsheets open safely: UTF-8 with BOM, CRLF, every cell quoted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from gradeapp.common.csv_cells import cell, guard
from gradeapp.common.table_files import FileFormat, long_table, parts
from gradeapp.common.tables import Table

__all__ = ["cell", "guard", "manifest", "render", "sha256"]


def render(table: Table) -> bytes:
    """The whole file; a lone surrogate, which UTF-8 cannot hold, is written as ``\\ud800``."""
    return b"".join(content for content, _rows in parts(long_table(table), FileFormat.CSV))


def sha256(content: bytes) -> str:
    """The hexadecimal SHA-256 of a file."""
    return hashlib.sha256(content).hexdigest()


def manifest(rows: int, sha256: str, parameters: Mapping[str, object]) -> dict[str, object]:
    """What stands in ``FILE.manifest.json``: rows (without the header), digest, parameters."""
    return {"rows": rows, "sha256": sha256, "parameters": dict(parameters)}
