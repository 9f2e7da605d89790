"""The marking notes of a round: every version, and the next one."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluations.marking.rounds.forms.round_life import MarkingNotesForm
from evaluations.marking.rounds.selectors.marking_notes import versions_of
from evaluations.marking.rounds.services.marking_notes import write_marking_notes
from evaluations.marking.rounds.views.rounds import visible_round
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import Conflict


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def edit_marking_notes(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """See who ruled what and when; write the next version."""
    marking_round = visible_round(request.user, round_id)
    versions = list(versions_of(marking_round))
    seen = versions[0].number if versions else 0
    initial = {
        "seen": seen,
        "text": marking_round.marking_notes,
        "to_judge": marking_round.notes_to_judge,
    }
    form = MarkingNotesForm(request.POST or None, initial=initial)
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            write_marking_notes(marking_round, acting_user=request.user, **form.cleaned_data)
        except Conflict as refusal:
            if refusal.code != "rulings_changed":
                raise
            # What was typed stays; theirs stands in the list, and the next save has seen it.
            form = MarkingNotesForm(initial=form.cleaned_data | {"seen": seen})
            messages.warning(request, str(refusal))
            status = refusal.status
        else:
            messages.success(
                request, _("The marking notes were saved. The marking desk shows them immediately.")
            )
            return redirect("rounds:marking-notes", round_id)
    elif form.is_bound:
        status = 400
    context = {
        "round": marking_round,
        "form": form,
        "versions": versions,
        "is_closed": marking_round.status == RoundStatus.CLOSED,
    }
    return render(request, "evaluations/marking/rounds/marking_notes.html", context, status=status)
