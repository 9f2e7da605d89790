"""check_invariants: ask what must hold in the stored data, while people work on it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from evaluations.facts.invariants import Held, check_invariants
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Check what must hold in the stored data. Reads only; may run while people work."

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        self.held = check_invariants(timezone.now())
        broken = [
            {
                "invariant": one.invariant.name,
                "says": one.invariant.says,
                "rows": one.invariant.rows,
                "violations": one.violations,
                "first": list(one.first),
            }
            for one in self.held
            if one.violations
        ]
        return {"checked": len(self.held), "broken": broken}

    def show(self, result: dict[str, Any]) -> None:
        for one in self.held:
            self.stdout.write(_line(one))

    def trouble(self, result: dict[str, Any]) -> str:
        broken = len(result["broken"])
        return f"{broken} of {result['checked']} invariants do not hold." if broken else ""


def _line(one: Held) -> str:
    """The invariant, how many rows break it, and the first of them."""
    rule, count = one.invariant, one.violations
    if not count:
        return f"{rule.name}: 0"
    keys = ", ".join(str(key) for key in one.first)
    more = ", ..." if count > len(one.first) else ""
    return f"{rule.name}: {count} (not: {rule.says}; {rule.rows} {keys}{more})"
