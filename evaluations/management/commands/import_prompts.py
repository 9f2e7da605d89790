"""Import a prompt set from a benchmark's own files or from our JSON, or write one to a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from evaluations.runs.services.prompt_sets import current_prompts, exported, import_prompts
from gradeapp.cli import GradeappCommand
from gradeapp.common.refusals import BadInput


class Command(GradeappCommand):
    help = "Import a prompt set; each new content is a new version. Safe to repeat."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("set", help="gaokao-bench, agieval, or the name in the JSON file")
        parser.add_argument(
            "path", type=Path, nargs="?", help="a JSON file, or the folder of the benchmark"
        )
        parser.add_argument("--output", type=Path, help="write the current version to this file")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        slug, path, output = options["set"], options["path"], options["output"]
        if path is None and output is None:
            raise BadInput(_("Name the file or folder to import, or the file to write."))
        result: dict[str, Any] = {}
        if path is not None:
            result = import_prompts(slug, path, acting_user=None).as_dict()
        if output is None or result.get("problems"):
            return result
        version = current_prompts(slug)
        try:
            output.write_text(exported(version), encoding="utf-8")
        except OSError as error:
            raise BadInput(
                _("Cannot write “%(file)s”: %(reason)s.")
                % {"file": output, "reason": error.strerror or "unknown reason"}
            ) from error
        templates = len(version.content["templates"])
        return {"set": slug, "version": version.number, "templates": templates, "problems": []}

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for problem in result["problems"]:
            self.stdout.write("{place}: {code}: {text}".format(**problem))

    def trouble(self, result: dict[str, Any]) -> str:
        if not result["problems"]:
            return ""
        first = result["problems"][0]
        return _("The prompts were not imported: %(place)s: %(text)s") % first
