"""A little taxonomy and labels for tests."""

from __future__ import annotations

from questions.models import Knowledge, LabelRevision, Question
from questions.rules.four_tuple import FourTuple
from questions.rules.vocabulary import AbilityBranch, LabelOrigin, Modal

MECHANICS = "mechanics"
OPTICS = "optics"


def make_knowledge() -> dict[str, Knowledge]:
    """Physics, a category of reasoning, with the subclasses mechanics and optics."""
    physics, _ = Knowledge.objects.get_or_create(
        slug="physics",
        defaults={
            "english": "Physics",
            "chinese": "物理",
            "ability_branch": AbilityBranch.REASONING,
        },
    )
    names = {"physics": physics}
    for slug, english, chinese in (
        (MECHANICS, "Mechanics", "力学"),
        (OPTICS, "Optics", "光学"),
    ):
        names[slug], _ = Knowledge.objects.get_or_create(
            slug=slug, defaults={"english": english, "chinese": chinese, "parent": physics}
        )
    return names


def imported_labels(question: Question, **values: object) -> LabelRevision:
    """Labels as an import writes them: a derived level, a modal found in the content."""
    values = {"difficulty": 3, "modal": Modal.TEXT} | values
    origins = {"difficulty": LabelOrigin.DERIVED, "modal": LabelOrigin.CONTENT}
    row = LabelRevision.objects.create(
        question=question,
        origins={name: origins.get(name, LabelOrigin.PUBLISHED) for name in values},
        **values,
    )
    question.label = row
    question.save(update_fields=["label"])
    return row


def shown(row: LabelRevision | None) -> FourTuple:
    """The four labels and origins of a row, to be compared whole."""
    if row is None:
        return FourTuple()
    return FourTuple(
        row.ability_branch, row.knowledge_id, row.difficulty, row.modal, dict(row.origins)
    )
