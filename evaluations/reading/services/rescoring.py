"""Scoring of stored objective responses by the present readers and the present scorer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from evaluations.models import Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reading.selectors.repaired_keys import to_score_again
from evaluations.reading.services.scoring import BATCH, PRESENT_READERS, score_responses
from evaluations.statistics.policies import SCORER_VERSION, Policy
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, NotFound
from questions.rules.vocabulary import Part


@dataclass(frozen=True, slots=True)
class ScoringReport:
    """The number of responses with a score by the present rules, and their outcomes."""

    policy: str
    scored: int
    outcomes: dict[str, int]
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """Return the JSON of the command."""
        return asdict(self)


def rescore(
    policy: str | None = None,
    *,
    run: str | None = None,
    acting_user: User | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> ScoringReport:
    """Score what has no score by the present rules: all runs, or the one called *run*.

    Without a *policy* under both; the report is then that of ``strict``. *run* is
    the number or the public id of a run. Earlier scores stay. A run that got a
    score is noted in the audit trail. *on_progress* is called after each batch with how many
    responses were checked, and of how many. Raises a Refusal for a policy or a run that
    does not exist.
    """
    started = time.perf_counter()
    if policy is not None and policy not in list(Policy):
        raise BadInput(
            _("There is no policy “%(name)s”; choose one of: %(known)s.")
            % {"name": policy, "known": ", ".join(Policy)}
        )
    runs = _runs(run)
    policies = list(Policy) if policy is None else [Policy(policy)]
    total = _objective().filter(run__in=runs).count()
    done = 0
    for one in runs:
        added: Counter[Policy] = Counter()
        for batch in _batches(one):
            for (under, _outcome), n in score_responses(batch, policies=policies).items():
                added[under] += n
            done += len(batch)
            if on_progress is not None:
                on_progress(done, total)
        for under, n in sorted(added.items()):
            record(Tag.RESCORED, one, actor=acting_user, policy=under, scores=n)
    policy = policy or Policy.STRICT
    score = Response.score_field(policy)
    present = Response.objects.filter(
        run__in=runs,
        **{f"{score}__reader_version__in": PRESENT_READERS},
        **{f"{score}__scorer_version": SCORER_VERSION},
    )
    counted = present.order_by().values_list(f"{score}__outcome").annotate(n=Count("pk"))
    outcomes = Counter(dict(counted))
    return ScoringReport(
        policy=policy,
        scored=outcomes.total(),
        outcomes=dict(sorted(outcomes.items())),
        seconds=round(time.perf_counter() - started, 3),
    )


def rescore_repaired(dataset: str, *, acting_user: User) -> int:
    """Score the answers of *dataset* by the keys that were repaired since; how many got a score.

    Only under ``strict``, and only those that have none by the repaired key. Each run
    that got a score is noted in the audit trail, as by ``rescore``.
    """
    responses = Response.objects.filter(pk__in=to_score_again(dataset))
    total = 0
    for run in Run.objects.filter(pk__in=responses.values("run")).order_by("pk"):
        waiting = responses.filter(run=run).order_by("pk")
        added = sum(score_responses(waiting, policies=[Policy.STRICT]).values())
        if added:
            record(Tag.RESCORED, run, actor=acting_user, policy=Policy.STRICT, scores=added)
        total += added
    return total


def _runs(name: str | None) -> QuerySet[Run]:
    runs = Run.objects.filter(purpose=RunPurpose.ANSWER).order_by("pk")
    if name is None:
        return runs
    try:
        wanted = (
            runs.filter(pk=int(name)) if name.isdecimal() else runs.filter(public_id=UUID(name))
        )
        found = wanted.exists()
    except (ValueError, OverflowError):
        found = False
    if not found:
        raise NotFound(_("There is no run “%(name)s” with responses.") % {"name": name})
    return wanted


def _objective() -> QuerySet[Response]:
    return Response.objects.filter(question__part=Part.OBJECTIVE)


def _batches(run: Run) -> Iterator[list[Response]]:
    """Yield the objective responses of *run* in order; scores are written between two batches."""
    responses = _objective().filter(run=run).order_by("pk")
    last = 0
    while batch := list(responses.filter(pk__gt=last)[:BATCH]):
        yield batch
        last = batch[-1].pk
