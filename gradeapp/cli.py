"""The base of every command that others build on: JSON on demand, one sentence when refused."""

from __future__ import annotations

import json
import os
import sys
from abc import abstractmethod
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser
from django.db.utils import OperationalError, ProgrammingError
from django.utils.translation import gettext as _

from gradeapp.common.refusals import NotFound, Refusal


class GradeappCommand(BaseCommand):
    """Exit 0 on success; exit 1 with one sentence on standard error; never a traceback.

    A subclass adds its arguments in ``arguments`` and returns its result from
    ``run``; ``show`` prints it for people, ``--format json`` for programs. A
    refusal prints no result, ``trouble`` comes after it.
    """

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return the parser; for bad arguments too the command ends with a sentence and 1."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.error = self.refuse  # type: ignore[method-assign, assignment]
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["text", "json"], default="text")
        self.arguments(parser)

    def arguments(self, parser: ArgumentParser) -> None:
        """Add this command's own arguments."""

    @abstractmethod
    def run(self, options: dict[str, Any]) -> dict[str, Any] | list[dict[str, Any]]:
        """Do the work by a service and return what is documented: one object, or one a line."""

    def trouble(self, result: dict[str, Any]) -> str:
        """Where the work was done and did not succeed: the sentence to end with, and status 1."""
        return ""

    def show(self, result: dict[str, Any]) -> None:
        """Print the result for people: one fact a line unless a command knows better."""
        for name, value in result.items():
            if not isinstance(value, list | dict):
                self.stdout.write(f"{name}: {value}")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.run(options)
        except Refusal as refusal:
            self.refuse(str(refusal))
        except (OperationalError, ProgrammingError) as error:
            first = str(error).splitlines()[0]
            if "no such table" in first or "does not exist" in first:
                self.refuse(f"The database is not prepared: run manage.py migrate first ({first}).")
            self.refuse(f"The database does not answer: {first}.")
        try:
            for one in result if isinstance(result, list) else [result]:
                if options["format"] == "json":
                    self.stdout.write(json.dumps(one, ensure_ascii=False))
                else:
                    self.show(one)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader (head, a pager) has seen enough; Python would complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(result, dict) and (trouble := self.trouble(result)):
            self.refuse(trouble)

    def refuse(self, sentence: str) -> NoReturn:
        """Say why not, and end with status 1."""
        self.stderr.write(sentence)
        sys.exit(1)


def whole_number(text: str) -> int:
    """Return a whole number of the command line, as the ``type`` of an argument."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(
            _("must be a whole number, not %(text)s") % {"text": text}
        ) from None


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table whose columns are as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def get_by_name(model: Any, field: str, value: str) -> Any:
    """Return the row with this name. Raises NotFound, which lists the names, if there is none."""
    row = model.objects.filter(**{field: value}).first()
    if row is None:
        there = ", ".join(model.objects.values_list(field, flat=True)[:20]) or _("none yet")
        kind = model._meta.verbose_name
        words = {"kind": kind, "name": value, "there": there}
        raise NotFound(_("There is no %(kind)s called %(name)s. Available: %(there)s.") % words)
    return row
