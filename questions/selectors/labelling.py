"""The labelling queue: what waits for a curator, how far the bank is, and by whom."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from gradeapp.accounts.models import User
from gradeapp.accounts.names import names_apart
from gradeapp.accounts.roles import Role
from questions.models import Knowledge, LabelRevision, Question
from questions.rules.four_tuple import PAPER_COUNTS
from questions.rules.label_agreement import pinyin_initials
from questions.rules.spread import beginning
from questions.rules.vocabulary import ItemStatus
from questions.selectors.labels import UNLABELLED
from questions.selectors.opinions import counting_opinions


def usable(rows: QuerySet[Question]) -> QuerySet[Question]:
    """Those of *rows* that can be labelled: they have a text and are not excluded."""
    return rows.filter(current__isnull=False).exclude(status=ItemStatus.EXCLUDED)


def waiting(rows: QuerySet[Question], user: User, *, second: bool) -> QuerySet[Question]:
    """Those of *rows* that wait for *user*, in the order they were imported.

    In the first labelling: an item without all four labels on which the curator
    has not said anything. In the *second*: an item that exactly one other curator
    has labelled.
    """
    opinions = counting_opinions()
    if not second:
        own = opinions.filter(author=user).values("question")
        found = usable(rows).filter(UNLABELLED).exclude(pk__in=own)
    else:
        mine, authors = Count("pk", filter=Q(author=user)), Count("pk")
        once = opinions.order_by().values("question").annotate(mine=mine, authors=authors)
        found = usable(rows).filter(pk__in=once.filter(mine=0, authors=1).values("question"))
    return found.order_by("pk")


def next_waiting(queue: QuerySet[Question], after: int) -> Question | None:
    """The next item of a queue after the one with the key *after*, then again from the start."""
    return queue.filter(pk__gt=after).first() or queue.first()


def begins_after(rows: QuerySet[Question], user: User) -> int:
    """The key after which *user* begins in *rows*, 0 for the start.

    Curators begin in different places, by the order of their accounts, so that two
    who label at the same time do not get the same items until they meet.
    """
    curators = User.objects.filter(groups__name=Role.CURATOR)
    if not curators.filter(pk=user.pk).exists():
        return 0
    rows = usable(rows).order_by("pk")
    before = int(rows.count() * beginning(curators.filter(pk__lt=user.pk).count()))
    return rows.values_list("pk", flat=True)[before - 1] if before else 0


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total``: all four labels, or (second) labelled by the curator too."""

    done: int
    total: int

    @property
    def left(self) -> int:
        """How many are not done."""
        return self.total - self.done


def progress(rows: QuerySet[Question], user: User, *, second: bool) -> Progress:
    """How far the labelling of *rows* is; of the second, how far *user* is with it."""
    rows = usable(rows).order_by()
    if not second:
        total = rows.count()
        return Progress(total - rows.filter(UNLABELLED).count(), total)
    by_item = counting_opinions().order_by().values("question").annotate(authors=Count("pk"))
    own = counting_opinions().filter(author=user).values("question")
    twice = by_item.filter(authors__gt=1).values("question")
    done = rows.filter(pk__in=own).filter(pk__in=twice).count()
    return Progress(done, done + waiting(rows, user, second=True).count())


@dataclass(frozen=True, slots=True)
class Share:
    """What one curator did: ``opinions`` that count, ``labels`` that count as they set them."""

    name: str
    opinions: int
    labels: int


def by_whom() -> list[Share]:
    """What each curator has done, most opinions first."""
    opinions = dict(
        counting_opinions()
        .order_by()
        .values_list("author")
        .annotate(n=Count("pk"))
        .values_list("author", "n")
    )
    current = LabelRevision.objects.filter(current_of__isnull=False, author__isnull=False)
    labels = dict(
        current.order_by().values_list("author").annotate(n=Count("pk")).values_list("author", "n")
    )
    people = User.objects.in_bulk(opinions.keys() | labels.keys())
    names = names_apart(people.values())
    shares = [Share(name, opinions.get(key, 0), labels.get(key, 0)) for key, name in names.items()]
    return sorted(shares, key=lambda share: (-share.opinions, -share.labels, share.name))


@dataclass(frozen=True, slots=True)
class ModalCount:
    """How many items of AGIBench have a ``modal`` now, and how many the ``paper`` counts."""

    modal: str
    found: int
    paper: int


def modals_of_agibench() -> list[ModalCount]:
    """AGIBench's items by modal beside the counts of its paper; empty where it is not there."""
    items = Question.objects.filter(task__dataset__slug="agibench", current__isnull=False)
    rows = items.order_by().values_list("label__modal").annotate(n=Count("pk"))
    found = dict(rows)
    if not found:
        return []
    return [ModalCount(modal, found.get(modal, 0), paper) for modal, paper in PAPER_COUNTS.items()]


@dataclass(frozen=True, slots=True)
class KnowledgeChoice:
    """One entry of the knowledge list.

    ``words`` is what typing looks in: names in lower case with ``|`` between them,
    their blanks as ``_``.
    """

    slug: str
    name: str
    category: str
    branch: str
    words: str


def knowledge_choices(language: str) -> list[KnowledgeChoice]:
    """Every category followed by its subclasses, found by both names and by pinyin initials.

    A category with a subclass of its own name is left out: two curators who mean
    the same would differ.
    """
    rows = list(Knowledge.objects.select_related("parent").order_by("pk"))
    twins = {row.parent_id for row in rows if row.parent and row.parent.chinese == row.chinese}
    rows = [row for row in rows if row.pk not in twins]
    rows.sort(key=lambda row: (row.parent_id or row.pk, row.parent_id is not None, row.pk))
    return [_choice(row, language) for row in rows]


def _choice(row: Knowledge, language: str) -> KnowledgeChoice:
    words = (row.english.lower(), row.chinese, pinyin_initials(row.chinese), row.slug)
    top = row.parent or row
    return KnowledgeChoice(
        slug=row.slug,
        name=row.label(language),
        category=top.label(language) if row.parent else "",
        branch=row.ability_branch or top.ability_branch,
        words="|".join(words).replace(" ", "_"),
    )
