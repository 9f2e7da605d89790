"""What every writer of labels shares: reading a change, the next row, the taxonomy."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.common.hidden_text import visible
from gradeapp.common.refusals import BadInput
from questions.models import Knowledge, LabelBatch, LabelRevision
from questions.rules.four_tuple import BadLabel, FourTuple, Label, Value, read_change
from questions.rules.taxonomy import SLUGS, TAXONOMY

LONGEST_REASON = 200


def check_change(change: Mapping[str, object]) -> dict[Label, Value]:
    """*change* with the key of its knowledge in place of the slug.

    Raises BadInput, in a sentence for the curator, for a label, a value or a
    knowledge that does not exist.
    """
    try:
        labels = read_change(change)
    except BadLabel as bad:
        raise _refused(bad) from None
    if slug := labels.get(Label.KNOWLEDGE):
        labels[Label.KNOWLEDGE] = _knowledge(str(slug))
    return labels


def check_reason(reason: str) -> str:
    """*reason* without blanks around it; raises BadInput when the table cannot hold it."""
    if len(reason.strip()) > LONGEST_REASON:
        raise BadInput(
            _("A reason can have at most %(most)d characters.") % {"most": LONGEST_REASON},
            code="reason_too_long",
        )
    return visible(reason)


def label_row(
    question_id: int,
    labels: FourTuple,
    *,
    author: User | None,
    reason: str,
    batch: LabelBatch | None = None,
    overtaken: bool = False,
) -> LabelRevision:
    """The row, not yet stored, that says that the item's labels are *labels* from now on."""
    return LabelRevision(
        question_id=question_id,
        ability_branch=labels.ability_branch,
        knowledge_id=labels.knowledge,
        difficulty=labels.difficulty,
        modal=labels.modal,
        origins=dict(labels.origins),
        author=author,
        reason=reason,
        batch=batch,
        overtaken=overtaken,
    )


def _knowledge(slug: str) -> int:
    key = Knowledge.objects.filter(slug=slug).values_list("pk", flat=True).first()
    if key is None:
        raise BadInput(
            _("There is no knowledge point called “%(slug)s”.") % {"slug": slug[:80]},
            code="unknown_knowledge",
        )
    return key


def _refused(bad: BadLabel) -> BadInput:
    if bad.label not in set(Label):
        sentence = _("There is no label called “%(name)s”.") % {"name": bad.label[:80]}
        return BadInput(sentence, code="unknown_label")
    if bad.label == Label.DIFFICULTY:
        return BadInput(_("A level must be a whole number from 1 to 5."), code="bad_level")
    values = {
        "value": str(bad.value)[:80],
        "label": Label(bad.label).label(get_language() or "en"),
    }
    sentence = _("“%(value)s” is not a value of the label “%(label)s”.") % values
    return BadInput(sentence, code="unknown_value")


@transaction.atomic
def ensure_taxonomy() -> dict[str, int]:
    """Make the rows of the published categories and subclasses that are missing.

    Returns the keys of all knowledge rows by slug, a curator's own included.
    Rows that are there are left as they are; safe to repeat.
    """
    known = _keys()
    if known.keys() >= SLUGS:
        return known
    missing = (
        Knowledge(
            slug=category.slug,
            english=category.english,
            chinese=category.chinese,
            ability_branch=category.branch,
        )
        for category in TAXONOMY
        if category.slug not in known
    )
    Knowledge.objects.bulk_create(missing, ignore_conflicts=True)  # others may make them too
    categories = _keys()
    missing = (
        Knowledge(
            slug=subclass.slug,
            english=subclass.english,
            chinese=subclass.chinese,
            ability_branch=category.branch,
            parent_id=categories[category.slug],
        )
        for category in TAXONOMY
        for subclass in category.subclasses
        if subclass.slug not in known
    )
    Knowledge.objects.bulk_create(missing, ignore_conflicts=True)
    return _keys()


def _keys() -> dict[str, int]:
    return dict(Knowledge.objects.values_list("slug", "pk"))
