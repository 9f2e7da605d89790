"""The lines of the log: a request that nobody can read is one line, and no line is long."""

from __future__ import annotations

import logging

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http.multipartparser import MultiPartParserError

from gradeapp.common.masking import MaskingFormatter

# What a request alone is to blame for: the sentence says all, and strangers send many.
OF_THE_REQUEST = (BadRequest, MultiPartParserError, SuspiciousOperation)
LONGEST = 2_000


class LineFormatter(MaskingFormatter):
    """Formats without the traceback of a bad request, and cuts lines of more than LONGEST."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, OF_THE_REQUEST):
            record = logging.makeLogRecord({**vars(record), "exc_info": None, "exc_text": None})
        return "\n".join(map(_cut, super().format(record).split("\n")))


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} ... ({len(line)} characters)"
