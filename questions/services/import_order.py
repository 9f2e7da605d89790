"""Finds out whether a file is out of step with the bank: texts at another place, items left out.

Where the place in the file is the identity of an item, one line less moves all texts behind it by
one, and what people said of an item (labels, rates, rubrics) stays where another question is now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from questions.importers.records import Problem, QuestionRecord
from questions.models import Question, QuestionRevision, Task
from questions.rules.plain_text import comparable

MOST_NAMED = 5
Text = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class MovedTexts:
    """Changed items of one task that get the text of another: how many, and the first of them."""

    task: str
    shifted: int
    changed: int
    first: str
    other: str

    def problem(self, file: str, *, fatal: bool) -> Problem:
        """What the check says of it, or the refusal of *file* where nobody allowed it."""
        text = (
            f"{self.shifted} of {self.changed} changed questions of {self.task} get the text of "
            f"another question, {self.first} that of {self.other}: the file seems shifted."
        )
        if fatal:
            text = f"{text} It is imported only if shifted files are allowed."
        return Problem(file, None, "shifted", text, fatal=fatal)


class Shifted(Exception):
    """A file seems shifted, and nobody has allowed that."""

    def __init__(self, moved_texts: Sequence[MovedTexts]) -> None:
        super().__init__(*moved_texts)
        self.moved_texts = moved_texts


def find_moved_texts(task: Task, changed: Mapping[int, QuestionRecord]) -> MovedTexts | None:
    """What is moved of *changed*, the records that differ (by question); None where nothing is.

    Texts are compared as duplicates are: width, spaces and punctuation do not count. Call it
    before they are written.
    """
    if not changed:
        return None
    columns = ("question", "question__external_id", "passage", "stem", "options", "images")
    imported = QuestionRevision.objects.filter(question__task=task, author=None)
    texts: dict[int, Text] = {}
    names: dict[int, str] = {}
    for key, name, *parts in imported.order_by("number").values_list(*columns):
        texts[key], names[key] = _text(*parts), name
    owners = {text: key for key, text in texts.items()}
    moved = []
    for key, record in changed.items():
        text = _text(record.passage, record.stem, record.options, record.images)
        if text != texts[key] and text in owners:
            moved.append((record.external_id, names[owners[text]]))
    return MovedTexts(task.slug, len(moved), len(changed), *moved[0]) if moved else None


def _text(passage: str, stem: str, options: Sequence[str], images: Sequence[str]) -> Text:
    return comparable("\n".join((passage, stem, *options))), tuple(images)


@dataclass(slots=True)
class LeftOut:
    """The items of the bank that the files of one import do not have, by dataset and task.

    A task may stand in several files. A file of new items alone leaves out nothing.
    """

    _seen: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    _lacking: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    _files: dict[tuple[str, str], str] = field(default_factory=dict)

    def take(self, file: str, records: Sequence[QuestionRecord]) -> None:
        """Hear of *records*, which are to be stored next, of *file*."""
        ids: dict[tuple[str, str], set[str]] = defaultdict(set)
        for record in records:
            ids[record.dataset, record.task].add(record.external_id)
        for (dataset, task), own in ids.items():
            rows = Question.objects.filter(task__dataset__slug=dataset, task__slug=task)
            known = set(rows.values_list("external_id", flat=True))
            self._seen[dataset, task] |= own
            self._files[dataset, task] = file
            if known & own:
                self._lacking[dataset, task] |= known - own

    def problems(self) -> Iterator[Problem]:
        """A problem for each task of which items are left out, beside its last file."""
        for key, lacking in self._lacking.items():
            if missing := sorted(lacking - self._seen[key], key=lambda name: (len(name), name)):
                names = ", ".join((*missing[:MOST_NAMED], *(["…"] if missing[MOST_NAMED:] else [])))
                text = f"Questions of {key[1]} that the bank has and the file lacks: "
                text += f"{len(missing)} ({names}). They stay as they are."
                yield Problem(self._files[key], None, "missing_items", text)
