"""Write the images of the bank anew: pixels only, without metadata."""

from __future__ import annotations

from typing import Any

from gradeapp.cli import GradeappCommand
from questions.services.images import write_images_anew


class Command(GradeappCommand):
    help = "Write images anew that were imported before this was done. Safe to repeat."

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        done, left = write_images_anew()
        named = [{"dataset": one.dataset, "name": one.name, "text": one.text} for one in left]
        return {"written": done, "left": len(left), "problems": named}

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for problem in result["problems"]:
            self.stdout.write("{dataset}/{name}: {text}".format(**problem))

    def trouble(self, result: dict[str, Any]) -> str:
        n = result["left"]
        return f"{n} images could not be decoded and stay as they are." if n else ""
