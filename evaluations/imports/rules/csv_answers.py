"""Read answers from a table, one response per row, as spreadsheets write it (docs/datasets.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluations.imports.rules.answer_records import AnswerFile
from evaluations.imports.rules.jsonl_answers import NumberedRow, answer_files
from gradeapp.common.csv_text import CsvFault, csv_rows
from gradeapp.common.strict_json import MAX_FILE_BYTES, JsonRefusal

MOST_ROWS = 200_000
NEEDED = ("dataset", "task", "id", "text")
WHOLE = ("repeat", "prompt_tokens", "completion_tokens")
OPTIONAL = ("model", *WHOLE, "finish_reason", "setting", "condition", "question", "key")
# Cells that are empty say nothing; an empty text is a response.
COLUMNS = (*NEEDED, *OPTIONAL)
SENTENCES = {
    "not_text": "The file is not a table of text (CSV in UTF-8, UTF-16 or GB18030).",
    "too_wide": f"The table has more than {len(COLUMNS)} columns.",
    "too_many_rows": f"The table has more than {MOST_ROWS:,} rows.",
}


def read_csv_answers(path: Path, *, model: str | None, repeat: int) -> Iterator[AnswerFile]:
    """Yield each .csv file at *path* (a file, or a folder without its subfolders).

    The first row names the columns, in any order: the keys of our own format. *model* and *repeat*
    stand in where a row has none. A file is accepted whole or not at all.
    """
    usual = {"model": model, "repeat": repeat} if model else {"repeat": repeat}
    return answer_files(path, ".csv", lambda file: _rows(file, usual))


def _rows(file: Path, usual: dict[str, Any]) -> Iterator[NumberedRow]:
    with file.open("rb") as stream:
        content = stream.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        yield 1, JsonRefusal("file_too_large", "The file is larger than 32 MB.")
        return
    try:
        rows = csv_rows(content, most_columns=len(COLUMNS), most_rows=MOST_ROWS)
    except CsvFault as fault:
        yield 1, JsonRefusal(fault.code, SENTENCES[fault.code])
        return
    numbered = ((number, row) for number, row in enumerate(rows, 1) if any(map(str.strip, row)))
    first = next(numbered, None)
    if first is None:
        return
    names = [name.strip().lower() for name in first[1]]
    if problem := _header_problem(names):
        yield first[0], problem
        return
    for number, row in numbered:
        yield number, _object(names, row, usual)


def _header_problem(names: list[str]) -> JsonRefusal | None:
    for name in names:
        if name not in COLUMNS:
            known = ", ".join(COLUMNS)
            text = f"There is no column “{name[:40]}”; columns are: {known}."
            return JsonRefusal("unknown_column", text)
        if names.count(name) > 1:
            return JsonRefusal("column_twice", f"The column “{name}” stands twice.")
    if missing := [name for name in NEEDED if name not in names]:
        text = f"The first row must name the columns; missing: {', '.join(missing)}."
        return JsonRefusal("no_header", text)
    return None


def _object(
    names: list[str], row: list[str], usual: dict[str, Any]
) -> dict[str, Any] | JsonRefusal:
    """Return *row* as the object that a line of JSON would have."""
    if len(row) > len(names):
        return JsonRefusal("wrong_width", "The row has more cells than the first row names.")
    cells = dict(zip(names, [*row, *[""] * (len(names) - len(row))], strict=True))
    found = {name: cell for name, cell in cells.items() if name == "text" or cell.strip()}
    for name in WHOLE:
        if name in found:
            cell = found[name].strip()
            if not (cell.isascii() and cell.isdigit() and len(cell) < 12):
                text = f"“{cell[:40]}” in the column {name} is not a whole number."
                return JsonRefusal("wrong_type", text)
            found[name] = int(cell)  # type: ignore[assignment]
    return usual | found
