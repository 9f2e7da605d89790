"""Which repairs of an item are in force: undone by nobody and overtaken by no import."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain

from questions.models import ItemDecision, QuestionRevision
from questions.rules.vocabulary import Decision

# Where the source changes one of these, a repair of the version before may not fit any more: a key
# names another option.
ASKED = ("question_type", "passage", "stem", "options", "letters", "sub_marks", "answer_key")


@dataclass(slots=True)
class Repairs:
    """The revisions that repairs of one item made, each list oldest first.

    ``open`` by the key of their problem: the next *Keep* of it undoes them. ``confirmed`` were kept
    after an exclusion. ``undone`` are in force no more.
    """

    open: dict[int, list[QuestionRevision]] = field(default_factory=lambda: defaultdict(list))
    confirmed: list[QuestionRevision] = field(default_factory=list)
    undone: list[QuestionRevision] = field(default_factory=list)

    def standing(self, *, but: int | None = None) -> list[QuestionRevision]:
        """Return what nobody has undone, oldest first, without the problem *but*."""
        found = [own for problem, own in self.open.items() if problem != but]
        return sorted(chain(self.confirmed, *found), key=lambda one: one.number)


def repairs_of(questions: Collection[int]) -> dict[int, Repairs]:
    """Return the repairs by question, of those of *questions* on which somebody decided.

    *Keep* after a repair undoes the repairs since the *Keep* before; after an exclusion it confirms
    them.
    """
    found: dict[int, Repairs] = defaultdict(Repairs)
    newest: dict[int, str] = {}
    made = ItemDecision.objects.filter(problem__question__in=questions).order_by("pk")
    for one in made.select_related("repaired", "problem"):
        repairs, problem = found[one.problem.question_id], one.problem_id
        if one.decision == Decision.REPAIR and one.repaired is not None:
            repairs.open[problem].append(one.repaired)
        elif one.decision == Decision.KEEP:
            undoes = newest.get(problem) == Decision.REPAIR
            into = repairs.undone if undoes else repairs.confirmed
            into.extend(repairs.open.pop(problem, []))
        newest[problem] = one.decision
    return found


def is_overtaken(
    repaired: QuestionRevision, imported: Sequence[QuestionRevision], *, until: int
) -> bool:
    """Whether an import up to number *until* has changed the question or its key since *repaired*.

    *imported* are the imported revisions of the item in order.
    """
    before = [one for one in imported if one.number < repaired.number][-1]
    since = [one for one in imported if repaired.number < one.number <= until]
    return any(getattr(one, name) != getattr(before, name) for one in since for name in ASKED)
