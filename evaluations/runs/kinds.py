"""Run kinds: the protocol between the run engine and the purposes of runs.

The engine claims jobs, sends requests, stores attempts, bills, retries, pauses and resumes,
independently of the purpose. Each purpose is one ``RunKind`` object in its feature. A feature that
processes the responses of another kind's runs, as judges do, is a ``Follower``. Both are registered
in ``evaluations/apps.py``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, Protocol

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.llm.client import ChatReply
from evaluations.models import Attempt, Endpoint, Job, MarkingNotes, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.runs.rules.prompting.images import SentImage
from gradeapp.accounts.models import User
from questions.models import Question, Rubric

# The content of a message is a string, or a list of parts where images are sent.
Messages = Sequence[Mapping[str, Any]]
Replies = Sequence[tuple[Attempt, ChatReply]]
ReadCounts = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Prompt:
    """The messages of one call, and what the attempt stores of them.

    ``rubric`` and ``marking_notes`` are those that a judge is shown, ``images`` those that are
    sent. ``images_omitted`` counts the images that the messages only say are missing;
    ``option_order`` is that of ``Response``.
    ``examples_used`` is the number of worked examples in a few-shot prompt. ``max_tokens`` is the
    limit of this reply where it is not that of the run.
    """

    messages: Messages
    rubric: Rubric | None = None
    marking_notes: MarkingNotes | None = None
    images: Sequence[SentImage] = ()
    images_omitted: int = 0
    option_order: str = ""
    examples_used: int | None = None
    max_tokens: int | None = None


@dataclass
class Kept:
    """The new responses and the finished jobs of a batch of replies."""

    responses: list[Response] = field(default_factory=list)
    done: list[Job] = field(default_factory=list)


@dataclass(frozen=True)
class Cost:
    """Estimated cost of calls in the currency of their endpoint.

    ``expected`` is based on ``earlier_calls``, or on a rule of thumb if that is 0. ``at_most`` is
    the cost if every answer has the maximum length. ``tokens`` are the expected tokens of prompts
    and replies, ``most_tokens`` their upper bound, ``seconds`` the expected time with all the calls
    in flight that the endpoint allows; None without earlier calls.
    """

    calls: int
    expected: Decimal
    at_most: Decimal
    earlier_calls: int
    currency: str
    tokens: int = 0
    most_tokens: int = 0
    seconds: float | None = None


class PanelPosition(Enum):
    """The position of a panel on the run page."""

    ACTIONS = "actions"
    TOP = "top"
    BELOW = "below"


@dataclass(frozen=True)
class Panel:
    """A template that a feature adds to the run page.

    The names in ``context`` are added to the context of the page.
    """

    template: str
    context: Mapping[str, Any] = field(default_factory=dict)
    position: PanelPosition = PanelPosition.BELOW


class RunKind(Protocol):
    """The behaviour of runs of one purpose."""

    purpose: RunPurpose
    # Whether all replies to a job are stored, or only the first.
    keeps_every_reply: bool = False
    # The heading of ``read_counts`` in the table of tasks.
    read_heading: Promise = _("Extracted by rules")
    # Whether subjective answers are marked by people or a judge, and so have no such count.
    people_mark_subjective: bool = False
    # A template for the list of responses, if it is not the usual table.
    list_template: str = ""

    @abstractmethod
    def prompt(self, run: Run, job: Job) -> Prompt:
        """Return what *job* asks. Called outside the transaction that claims the job.

        ``steps.earlier_replies`` returns the replies to the steps before it.
        """

    def steps(self, run: Run, question: Question, repeat: int) -> int:
        """Return how many calls *repeat* of *question* needs, one after the other."""
        return 1

    def wording(self, run: Run, repeat: int) -> int:
        """Return the number of the wording in which *repeat* asks.

        All questions have the same ``steps`` in repeats with the same wording.
        """
        return 0

    @abstractmethod
    def setting(self, run: Run) -> str:
        """Return in a few words how *run* asks, or what it judges, reads or suggests."""

    @abstractmethod
    def store_replies(self, replies: Replies) -> Kept:
        """Store paid replies to jobs that are not done, in the transaction of the engine.

        Replies to steps that are not the last are stored by the engine and do not come here.
        The engine marks the jobs in ``Kept.done`` as done; the others are asked again.
        """

    def after_store(self, run: Run, kept: Kept) -> None:
        """Process what was stored, after it was committed; an exception is logged."""

    def worth_retrying(self, run: Run, failed: QuerySet[Job]) -> QuerySet[Job]:
        """Return those of the *failed* calls of *run* that are to be made again when a person asks.

        Called in the transaction that queues them; holds what another start would wait for.
        """
        return failed

    def may_finish(self, run: Run) -> bool:
        """Return whether *run*, which has no open job, is over."""
        return True

    def catch_up(self, run: Run) -> None:
        """Process what ``after_store`` missed because a worker was killed. Safe to repeat."""

    @abstractmethod
    def read_counts(self, run: Run) -> ReadCounts:
        """Return by task slug how many replies could be read, of how many."""

    def responses(self, run: Run, among: QuerySet[Response]) -> QuerySet[Response]:
        """Return those *among* all responses that the pages and the API list for *run*."""
        return among.filter(run=run)

    def panels(self, run: Run, user: User) -> list[Panel]:
        """Return what the run page shows *user* of this kind."""
        return []


class Follower(Protocol):
    """Work of another feature on the responses of a run in progress."""

    @abstractmethod
    def after_start(
        self, run: Run, judge: Endpoint, *, acting_user: User | None, budget: Decimal | None
    ) -> None:
        """Start the judge that was asked for together with *run*, in the same transaction."""

    @abstractmethod
    def cost(self, items: Sequence[Question], repeats: int, judge: Endpoint) -> Cost:
        """Estimate the cost of what ``after_start`` starts for the answers to *items*."""

    @abstractmethod
    def runs_beside(self, run: Run) -> list[Run]:
        """Return the runs that process the responses of *run*."""

    @abstractmethod
    def after_responses(self, run: Run, responses: Sequence[Response]) -> None:
        """Plan work for new *responses* of *run*, after its kind processed them."""

    @abstractmethod
    def catch_up(self, run: Run) -> None:
        """Plan what ``after_responses`` missed because a worker was killed. Safe to repeat."""

    @abstractmethod
    def reopen_beside(self, run: Run) -> None:
        """Queue the finished runs beside *run* again, because *run* will have new responses."""

    def panels(self, run: Run, user: User) -> list[Panel]:
        """Return what the run page shows *user*, after the panels of the run's kind."""
        return []


_kinds: dict[str, RunKind] = {}
_followers: list[Follower] = []


def register(kind: RunKind) -> None:
    """Register *kind* for its purpose."""
    _kinds[kind.purpose.value] = kind


def kind_of(run: Run) -> RunKind:
    """Return the kind of *run*. Raises KeyError if no feature registered its purpose."""
    return _kinds[run.purpose]


def register_follower(follower: Follower) -> None:
    """Add *follower* after those that are registered."""
    _followers.append(follower)


def followers() -> Sequence[Follower]:
    """Return the followers in the order of registration."""
    return tuple(_followers)


def panels_of(run: Run, user: User) -> list[Panel]:
    """Return what features add to the page of *run* for *user*, in the order shown."""
    panels = kind_of(run).panels(run, user)
    return panels + [panel for one in _followers for panel in one.panels(run, user)]
