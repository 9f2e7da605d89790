"""Adding and correcting human rates; a level that was derived from them follows."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.hidden_text import visible
from gradeapp.common.names import name_problem
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.submission_keys import made_once, submission_key
from questions.models import HumanRate, LabelRevision, Question, Task
from questions.rules.four_tuple import Label, difficulty_level
from questions.rules.vocabulary import LabelOrigin, RateKind
from questions.selectors.labels import four_tuple, reference_of
from questions.services.label_rows import check_reason
from questions.services.labels import move_labels

STEP = Decimal("0.0001")
MOST_WEIGHT = Decimal(10_000_000)
MOST_PEOPLE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class GivenRate:
    """What a person says of how people did.

    ``value`` is a share from 0 to 1 in steps of 0.0001; ``sample_size`` is None
    where the source names none; ``weight`` joins several rates of one item
    (``questions.rules.human_reference``).
    """

    value: Decimal
    source: str
    sample_size: int | None = None
    weight: Decimal = Decimal(1)


def add_rate_once(
    key: str, question: Question, given: GivenRate, *, acting_user: User, reason: str = ""
) -> HumanRate:
    """Add a rate of an item as ``add_rate`` does; the same rate under the same *key* is one.

    *key* is that of the form as it was opened, or of the request; "" for none.
    """
    add = partial(add_rate, question, given, acting_user=acting_user, reason=reason)
    if not key:
        return add()
    form_key = submission_key("human rate", acting_user.pk, question.pk, key, given, reason)
    return made_once(HumanRate.objects.filter(form_key=form_key), lambda: add(form_key=form_key))


@transaction.atomic
def add_rate(
    target: Question | Task,
    given: GivenRate,
    *,
    acting_user: User,
    kind: RateKind = RateKind.AVERAGE,
    reason: str = "",
    form_key: UUID | None = None,
) -> HumanRate:
    """Store one more rate of an item or a task; the item's derived level follows.

    Raises BadInput for a value that is no share, a weight that is not above 0, or
    a rate without a source.
    """
    rate = _store(target, given, kind=kind, author=acting_user, reason=reason, form_key=form_key)
    record(Tag.HUMAN_RATE_ADDED, rate, actor=acting_user, value=str(rate.value))
    if isinstance(target, Question):
        follow_rates(target, author=acting_user, reason=rate.reason or rate.source)
    return rate


@transaction.atomic
def correct_rate(rate: HumanRate, given: GivenRate, *, acting_user: User, reason: str) -> HumanRate:
    """Store *given* in place of *rate*, which is kept and no longer counts.

    The item's derived level follows. Raises BadInput for what ``add_rate`` refuses
    and without a reason, Conflict when *rate* was corrected already.
    """
    if not visible(reason):
        raise BadInput(_("Enter a reason for the correction."), code="no_reason")
    rate = HumanRate.objects.select_for_update(of=("self",)).get(pk=rate.pk)
    if HumanRate.objects.filter(corrects=rate).exists():
        raise Conflict(
            _("This rate has been corrected in the meantime. Correct the newer one."),
            code="corrected",
        )
    target = rate.question or rate.task
    assert target is not None  # the table has a constraint
    corrected = _store(
        target, given, kind=RateKind(rate.kind), author=acting_user, reason=reason, corrects=rate
    )
    record(
        Tag.HUMAN_RATE_CORRECTED,
        corrected,
        actor=acting_user,
        corrects=rate.pk,
        value=str(corrected.value),
        was=str(rate.value),
    )
    if isinstance(target, Question):
        follow_rates(target, author=acting_user, reason=corrected.reason)
    return corrected


@transaction.atomic
def follow_rates(question: Question, *, author: User | None, reason: str) -> LabelRevision | None:
    """Let the item's level follow its rates, as a new row of labels; None when it stays.

    A level that was derived before, or none at all, follows. One that a person
    set or the source publishes stays.
    """
    question = Question.objects.select_for_update(of=("self",)).get(pk=question.pk)
    reference, now = reference_of(question), four_tuple(question.label)
    origin = now.origins.get(Label.DIFFICULTY)
    follows = now.difficulty is None or origin == LabelOrigin.DERIVED
    if reference is None or not follows:
        return None
    after = now.changed({Label.DIFFICULTY: difficulty_level(reference.value)}, LabelOrigin.DERIVED)
    if after == now:
        return None
    return move_labels(question, question.label, after, author=author, reason=reason)


def _store(
    target: Question | Task,
    given: GivenRate,
    *,
    kind: RateKind,
    author: User,
    reason: str,
    corrects: HumanRate | None = None,
    form_key: UUID | None = None,
) -> HumanRate:
    _check(given)
    return HumanRate.objects.create(
        question=target if isinstance(target, Question) else None,
        task=target if isinstance(target, Task) else None,
        kind=kind,
        value=given.value,
        sample_size=given.sample_size,
        weight=given.weight,
        source=given.source.strip(),
        corrects=corrects,
        author=author,
        reason=check_reason(reason),
        form_key=form_key,
    )


def _check(given: GivenRate) -> None:
    value, weight, size = given.value, given.weight, given.sample_size
    if not (value.is_finite() and 0 <= value <= 1 and value % STEP == 0):
        raise BadInput(
            _("A rate must be between 0 and 100 per cent, with at most two decimals."),
            code="bad_rate",
        )
    if not (weight.is_finite() and 0 < weight < MOST_WEIGHT and weight % Decimal("0.01") == 0):
        raise BadInput(_("A weight must be above 0, with at most two decimals."), code="bad_weight")
    if size is not None and not 0 < size <= MOST_PEOPLE:
        raise BadInput(_("A sample must include at least one person."), code="bad_sample_size")
    if not 0 < len(given.source.strip()) <= 200:
        raise BadInput(
            _("Enter the source of the rate in at most 200 characters."), code="no_source"
        )
    # As the exam format, so that an export of the bank can be imported.
    if name_problem(given.source.strip()) == "invisible" or "\ufffd" in given.source:
        raise BadInput(
            _("The source of a rate must not contain invisible or control characters."),
            code="bad_source",
        )
