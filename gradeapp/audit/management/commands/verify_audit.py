"""verify_audit: check the hash chains of the audit trail and of the history of marks."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from gradeapp.audit.verifying import Checked, verify_all
from gradeapp.cli import GradeappCommand
from gradeapp.common.refusals import BadInput


class Command(GradeappCommand):
    help = "Check the hash chains of the audit trail and of the history of marks."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--heads",
            action="store_true",
            help="print only the last hash of each chain, to keep it elsewhere",
        )
        parser.add_argument(
            "--kept",
            action="append",
            default=[],
            metavar="CHAIN:POSITION:HASH",
            help="a line of --heads to compare with; may be repeated",
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        self.heads_only = options["heads"] and options["format"] == "text"
        now = timezone.now()
        self.results = verify_all(now, _kept(options["kept"]))
        oldest = min((one.oldest for one in self.results if one.oldest), default=None)
        return {
            "checked": sum(one.links for one in self.results),
            "broken": [sentence for one in self.results for sentence in one.named],
            "broken_links": sum(one.broken for one in self.results),
            "unsealed": sum(one.unsealed for one in self.results),
            "oldest_unsealed_seconds": round((now - oldest).total_seconds()) if oldest else None,
            "heads": [f"{one.chain}:{one.position}:{one.head}" for one in self.results],
        }

    def show(self, result: dict[str, Any]) -> None:
        if self.heads_only:
            for head in result["heads"]:
                self.stdout.write(head)
            return
        for one in self.results:
            self.stdout.write(_line(one))
        for sentence in result["broken"]:
            self.stdout.write(f"broken: {sentence}")
        age = result["oldest_unsealed_seconds"]
        since = "" if age is None else f", the oldest for {age} seconds"
        self.stdout.write(f"not sealed yet: {result['unsealed']}{since}")

    def trouble(self, result: dict[str, Any]) -> str:
        if not result["broken"]:
            return ""
        return f"{result['broken_links']} broken; the first: {result['broken'][0]}."


def _line(one: Checked) -> str:
    return f"{one.chain}: {one.links} links checked, head {one.chain}:{one.position}:{one.head}"


def _kept(lines: Iterable[str]) -> dict[str, dict[int, str]]:
    kept: dict[str, dict[int, str]] = {}
    for line in lines:
        chain, _, rest = line.strip().partition(":")
        position, _, digest = rest.partition(":")
        if not (position.isascii() and position.isdigit() and len(digest) == 64):
            raise BadInput(f"{line} is not CHAIN:POSITION:HASH, a line of --heads.")
        kept.setdefault(chain, {})[int(position)] = digest
    return kept
