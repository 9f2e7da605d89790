"""A new round: chosen with its load in sight, planned, its seed answers marked, started."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluations.marking.rounds.forms.round_plan import PlanForm
from evaluations.marking.rounds.selectors.round_choice import contents_of
from evaluations.marking.rounds.selectors.round_preview import preview_of
from evaluations.marking.rounds.services.round_planning import plan_round_once
from evaluations.marking.rounds.services.round_settings import too_few_teachers
from evaluations.marking.rules.seed_answers import DEFAULT_CADENCE
from evaluations.runs.services.run_starts import digest
from evaluations.schemes import Scheme
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, OtherRequest

# Where a refusal of a new round stands, if it belongs to one field.
FIELD_OF = {
    "name_names_model": "name",
    "too_few_teachers": "scheme",
    "deadline_over": "deadline",
}
# What has to be readable before a load can be worked out.
NEEDED = ("runs", "random_seed", "per_task", "repeat_percent")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def new_round(request: MemberRequest) -> HttpResponse:
    """Choose responses and teachers; see the load of each teacher; plan the round."""
    form = PlanForm(request.POST or None)
    wants_load = "preview" in request.POST
    if request.method == "POST" and not wants_load and form.is_valid():
        try:
            made = plan_round_once(
                form.cleaned_data["key"] or uuid.uuid4(),
                form.settings(),
                responses=form.choice(),
                teachers=list(form.cleaned_data["teachers"]),
                acting_user=request.user,
                now=timezone.now(),
                request_hash=form_hash(request.POST),
            )
        except OtherRequest:
            form = PlanForm(with_new_key(request.POST))
            form.add_error(None, _("Another round was created from this form. Submit it again."))
        except BadInput as refusal:
            form.add_error(FIELD_OF.get(refusal.code), str(refusal))
        else:
            messages.success(
                request, _("The round was created. Nobody can mark until you start it.")
            )
            return redirect("rounds:round", made.public_id)
    own = any(field.data for field in form.tolerances)
    context = {
        "form": form,
        "load": load_of(form) if wants_load else None,
        "own_tolerances": own,
    }
    if wants_load and request.htmx:
        return render(request, "evaluations/marking/rounds/_load.html", context)
    status = 400 if form.is_bound and form.errors and not wants_load else 200
    return render(request, "evaluations/marking/rounds/new.html", context, status=status)


def form_hash(sent: QueryDict) -> str:
    """Return the hash of all that a form *sent* but the token of its page."""
    return digest({name: texts for name, texts in sent.lists() if name != "csrfmiddlewaretoken"})


def with_new_key(sent: QueryDict) -> QueryDict:
    """Return what a form *sent* under a key of which nothing was made yet."""
    changed = sent.copy()
    changed["key"] = str(uuid.uuid4())
    return changed


def load_of(form: PlanForm) -> dict[str, Any]:
    """What falls to each teacher, as far as the form says it, and whether they are too few.

    There is no preview until runs are chosen.
    """
    form.is_valid()
    data = form.cleaned_data
    teachers = list(data.get("teachers") or ())
    scheme = Scheme(data["scheme"]) if data.get("scheme") else Scheme.MEAN  # type: ignore[call-arg]
    load: dict[str, Any] = {
        "teachers": len(teachers),
        "too_few": too_few_teachers(len(teachers), scheme) if teachers else "",
        "third": scheme.most_marks > scheme.planned_marks,
    }
    if all(name in data for name in NEEDED) and data["runs"]:
        load["preview"] = preview_of(
            contents_of(form.choice(), form.seeds(), data["random_seed"]),
            teachers,
            scheme=scheme,
            random_seed=data["random_seed"],
            cadence=DEFAULT_CADENCE,
            repeat_share=data["repeat_percent"] / 100,
        )
    return load
