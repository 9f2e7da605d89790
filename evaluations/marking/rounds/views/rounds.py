"""Rounds for leads: the list, and one round with its responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import F
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.facts.looks import PLAN, note_round_changed, record_view
from evaluations.marking.rounds.forms.round_life import DeadlineForm, MoreTeachersForm
from evaluations.marking.rounds.selectors import rounds
from evaluations.marking.rounds.selectors.kept_drafts import kept_drafts
from evaluations.marking.rounds.selectors.round_counts import (
    AnswerPages,
    awaiting_one_more,
    outdated_questions,
    slot_groups,
    still_revisable,
)
from evaluations.marking.rounds.selectors.round_preview import preview_of_planned
from evaluations.marking.rounds.selectors.seed_answers import seeds_without_final, waiting_seeds
from evaluations.marking.rounds.services.round_settings import too_few_teachers
from evaluations.marking.rounds.services.rounds import round_is_closed
from evaluations.marking.services.finalizing import finalize_all_due, finalize_due
from evaluations.models import MarkingRound
from evaluations.models.vocabulary import LIVE, AnswerRole, RoundStatus
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.refusals import NotFound

PAGE = 50


@require_safe
@requires(Capability.LEAD_ROUNDS)
def round_list(request: MemberRequest) -> HttpResponse:
    """All rounds with their progress, once what is due has been finalized."""
    finalize_all_due(timezone.now())
    page = Paginator(rounds.round_list(), PAGE).get_page(request.GET.get("page"))
    return render(request, "evaluations/marking/rounds/list.html", {"page": page})


@require_safe
@requires(Capability.LEAD_ROUNDS)
def round_page(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """One round: progress, teachers and every response with its marks."""
    return show_round(request, visible_round(request.user, round_id))


def show_round(
    request: MemberRequest,
    marking_round: MarkingRound,
    refused: Mapping[str, Form] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of the round; the *refused* form stands in it with what was typed, and why not."""
    if refused and marking_round.status == RoundStatus.CLOSED:
        raise round_is_closed()  # the page has no such form any more
    if marking_round.status == RoundStatus.PLANNED:
        context = _planned(request, marking_round) | (refused or {})
        return render(request, "evaluations/marking/rounds/planned.html", context, status=status)
    record_view(marking_round, acting_user=request.user, page="round")
    state = request.GET.get("state", "")
    counts = rounds.state_counts(marking_round)
    slots = slot_groups(marking_round)
    answers, number = rounds.answers_by_state(marking_round), (total := sum(counts.values()))
    if state:
        answers, number = rounds.answers_in(marking_round, state), counts.get(state, 0)
    page = AnswerPages(answers, PAGE, number).get_page(request.GET.get("page"))
    shown = list(page)
    count_items(request.user, "mark", (answer.response_id for answer in shown))
    context = _life(marking_round) | {
        "progress": rounds.round_progress(marking_round, counts, slots),
        "tabs": _tabs(counts),
        "lost_seeds": (lost_seeds := seeds_without_final(marking_round).count()),
        "one_more": (one_more := awaiting_one_more(marking_round, timezone.now())),
        "without_final": (
            open_ones := total - counts[rounds.AnswerState.FINAL] + lost_seeds - one_more
        ),
        "still_revisable": still_revisable(marking_round, timezone.now()) if open_ones else 0,
        "state": state,
        "page": page,
        "rows": _shown_rows(marking_round, rounds.answer_rows(shown)),
        "loads": (loads := rounds.teacher_loads(marking_round, slots)),
        "thirds": sum(load.thirds for load in loads),
        "seeds": marking_round.answers.filter(role=AnswerRole.SEED).count(),
        "waiting_seeds": waiting_seeds(marking_round).count(),
        "repeats": marking_round.answers.filter(role=AnswerRole.REPEAT).count(),
        "outdated": outdated_questions(marking_round) if marking_round.status in LIVE else 0,
        "drafts": []
        if marking_round.status == RoundStatus.OPEN or _hides_marks(marking_round)
        else kept_drafts(marking_round),
    }
    context |= refused or {}
    return render(request, "evaluations/marking/rounds/round.html", context, status=status)


def _shown_rows(
    marking_round: MarkingRound, rows: Sequence[rounds.AnswerRow]
) -> list[rounds.AnswerRow]:
    """The rows without the marks of what may come to a lead who has to mark before seeing them."""
    unseen = {"first": None, "second": None, "third": None, "arbitration": None, "flags": ()}
    hides, done = _hides_marks(marking_round), rounds.AnswerState.FINAL
    return [replace(row, **unseen) if hides and row.state != done else row for row in rows]


def _hides_marks(marking_round: MarkingRound) -> bool:
    return marking_round.arbiter_marks_first and marking_round.status in LIVE


def _planned(request: MemberRequest, marking_round: MarkingRound) -> dict[str, Any]:
    """A round before its start: what falls to each teacher, and what is still to be done."""
    in_pool = rounds.marks_in(marking_round, request.user)
    if not in_pool:  # who sees the random seed knows the aliases and checks that follow from it
        record_view(marking_round, acting_user=request.user, page=PLAN)
    scheme = Scheme(marking_round.scheme)
    answers = marking_round.answers
    return _life(marking_round) | {
        "preview": preview_of_planned(marking_round),
        "load": {"third": scheme.most_marks > scheme.planned_marks},
        "too_few": too_few_teachers(marking_round.pool.count(), scheme),
        "seeds": answers.filter(role=AnswerRole.SEED).count(),
        "waiting_seeds": 0 if in_pool else waiting_seeds(marking_round).count(),
        "earlier_texts": answers.exclude(rubric=None)
        .exclude(revision=F("question__current"))
        .count(),
        "asks_start": "start" in request.GET,
        "in_pool": in_pool,
    }


def _life(marking_round: MarkingRound) -> dict[str, Any]:
    """The round with what a lead can do to it now."""
    deadline = marking_round.deadline
    return {
        "round": marking_round,
        "models": rounds.models_in(marking_round),
        "own_tolerances": rounds.own_tolerances(marking_round),
        "is_open": marking_round.status == RoundStatus.OPEN,
        "is_live": marking_round.status in LIVE,
        "is_closed": marking_round.status == RoundStatus.CLOSED,
        "overdue": marking_round.status in LIVE and deadline and deadline <= timezone.now(),
        "deadline_form": DeadlineForm(initial={"deadline": deadline}),
        "teachers_form": MoreTeachersForm(marking_round),
        "asked_more": marking_round.answers.filter(one_more_for__isnull=False).count(),
    }


def visible_round(person: User, round_id: UUID) -> MarkingRound:
    """The round, unless there is none or *person* still marks in it; its due responses are final.

    Every page and export of the lead asks for the round here.
    """
    marking_round = rounds.round_called(round_id)
    if marking_round is None:
        raise NotFound(_("There is no such round."))
    if marking_round.status in LIVE:
        finalize_due(marking_round, now=timezone.now())
    return marking_round


def round_to_change(person: User, round_id: UUID) -> MarkingRound:
    """The round as ``visible_round`` gives it; that *person* changes it counts as a look.

    Every POST of the lead asks for the round here. What is answered, a refusal too, tells of marks
    once the round has begun.
    """
    marking_round = visible_round(person, round_id)
    if marking_round.status != RoundStatus.PLANNED:
        note_round_changed(marking_round, acting_user=person)
    return marking_round


def _tabs(counts: dict[str, int]) -> list[dict[str, object]]:
    """The states that some response is in, with how many are."""
    language = get_language() or "en"
    return [
        {"value": state.value, "label": state.label(language), "count": counts[state]}
        for state in rounds.AnswerState
        if counts[state]
    ]
