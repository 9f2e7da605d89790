"""Error analysis for leads: the list, a new one, its figures, the answers behind them."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluations.capability.forms import ReviewForm
from evaluations.capability.rules.charts import dimensions_bar
from evaluations.capability.rules.dimensions import Dimension
from evaluations.capability.rules.figures import NOT_APPLICABLE
from evaluations.capability.rules.weaknesses import Weakness
from evaluations.capability.selectors import capability_review as reviews
from evaluations.capability.selectors.capability_rows import (
    AnswerFilter,
    answers_behind,
    with_facts,
)
from evaluations.capability.services.capability_review import (
    close_review,
    look_at_review,
    note_review_export,
    open_review_once,
    plan_review,
    too_few_reviewers,
)
from evaluations.capability.views.capability_files import review_table
from evaluations.facts.looks import record_scope
from evaluations.models import CapabilityReview, Response
from evaluations.models.vocabulary import ReviewStatus
from evaluations.statistics.tally import ALL
from gradeapp.accounts.confirmation import confirmed
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.csv_file import manifest, sha256
from gradeapp.common.csv_file import render as render_csv
from gradeapp.common.refusals import BadInput, NotFound
from questions.templatetags.names import task_name

PAGE = 50
# Where a refusal of a new review stands, if it belongs to one field.
FIELD_OF = {
    "too_few_reviewers": "reviewers_each",
    "no_wrong_answers": "runs",
    "name_names_model": "name",
}


@require_safe
@requires(Capability.LEAD_ROUNDS)
def review_list(request: MemberRequest) -> HttpResponse:
    """All reviews with their progress."""
    page = Paginator(reviews.review_list(), PAGE).get_page(request.GET.get("page"))
    return render(request, "evaluations/capability/list.html", {"page": page})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def new_review(request: MemberRequest) -> HttpResponse:
    """Choose runs and reviewers; see the sample of each task and the load; open the review."""
    form = ReviewForm(request.POST or None)
    wants_load = "preview" in request.POST
    if request.method == "POST" and not wants_load and form.is_valid():
        try:
            form_key = form.cleaned_data["key"] or uuid4()
            made = open_review_once(form_key, **form.settings(), acting_user=request.user)
        except BadInput as refusal:
            form.add_error(FIELD_OF.get(refusal.code), str(refusal))
        else:
            messages.success(request, _("The review has started. Reviewers can begin."))
            return redirect("reviews:review", made.public_id)
    context = {"form": form, "load": _load(form, request.user) if wants_load else None}
    if wants_load and request.htmx:
        return render(request, "evaluations/capability/_load.html", context)
    status = 400 if form.is_bound and form.errors and not wants_load else 200
    return render(request, "evaluations/capability/new.html", context, status=status)


@require_safe
@requires(Capability.LEAD_ROUNDS)
def review_page(request: MemberRequest, review_id: UUID) -> HttpResponse:
    """One review: progress, the chart of the dimensions, weaknesses, agreement."""
    review = _review(review_id)
    conditions = reviews.conditions_in(review)
    runs = list(review.runs.select_related("condition__language_model").order_by("pk"))
    run = next((one for one in runs if str(one.pk) == request.GET.get("run")), None)
    wanted = str(run.condition.public_id) if run and run.condition else request.GET.get("condition")
    named = (one for one in conditions if str(one.public_id) == wanted)
    condition = next(named, conditions[0] if conditions else None)
    share = reviews.Share(condition.public_id if condition else None, run.pk if run else None)
    look_at_review(review, [share], acting_user=request.user, page="review")
    result = reviews.review_result(review, share)
    runs = [one for one in runs if one.condition == condition]
    tasks = {one.task: task_name(one.task) for one in result.tasks if one.task != ALL}
    context: dict[str, Any] = {
        "review": review,
        "result": result,
        "chart": dimensions_bar(reviews.share_rows(result), _dimensions(), tasks),
        "dimensions": list(Dimension),
        "loads": reviews.reviewer_loads(review),
        "models": reviews.models_in(review),
        "runs": runs if len(runs) > 1 else [],
        "run": run,
        "conditions": conditions,
        "condition": condition,
        "shown": run or condition,
        "people": reviews.names_of(review.reviewers.values_list("pk", flat=True)),
        "is_open": review.status == ReviewStatus.OPEN,
        "may_export": request.user.may(Capability.EXPORT),
    }
    return render(request, "evaluations/capability/review.html", context)


@require_safe
@requires(Capability.LEAD_ROUNDS)
def answers(request: MemberRequest, review_id: UUID) -> HttpResponse:
    """The answers behind one figure, with everything that was said of each."""
    review = _review(review_id)
    wanted = _wanted(request.GET)
    look_at_review(review, [], acting_user=request.user, page="answers")
    asked = Response.objects.filter(wanted.share.at(""), run__in=review.runs.all())
    record_scope(asked, acting_user=request.user, page="review")
    page = Paginator(answers_behind(review, wanted), PAGE).get_page(request.GET.get("page"))
    count_items(request.user, "response", (row.item.public_id for row in page.object_list))
    context = {
        "review": review,
        "wanted": wanted,
        "page": page,
        "rows": with_facts(list(page.object_list)),
        "dimensions": list(Dimension),
    }
    return render(request, "evaluations/capability/answers.html", context)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def close(request: MemberRequest, review_id: UUID) -> HttpResponse:
    """Close the review for good."""
    close_review(_review(review_id), acting_user=request.user, now=timezone.now())
    messages.success(request, _("The review is closed. Every verdict is kept."))
    return redirect("reviews:review", review_id)


@require_safe
@requires(Capability.EXPORT)
@confirmed
def export(request: MemberRequest, review_id: UUID, name: str) -> HttpResponse:
    """The figures, or every judgement, as CSV; who took what is kept."""
    review = _review(review_id)
    table = review_table(review, name)
    content = render_csv(table)
    made = manifest(len(table.rows), sha256(content), {"table": name})
    note_review_export(review, made, acting_user=request.user)
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    filename = f"{review.dataset.slug}-review-{review.pk}-{name}.csv"
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def _review(review_id: UUID) -> CapabilityReview:
    review = reviews.review_called(review_id)
    if review is None:
        raise NotFound(_("There is no such review."))
    return review


def _dimensions() -> dict[str, str]:
    language = get_language() or "en"
    return {one.value: one.label(language) for one in Dimension}


def _wanted(query: QueryDict) -> AnswerFilter:
    """What the address asks for; a value that no list holds narrows nothing."""
    dimension, value = query.get("dimension", ""), query.get("value", "")
    weakness = query.get("weakness", "")
    return AnswerFilter(
        task=query.get("task", ""),
        dimension=dimension if dimension in list(Dimension) else "",
        value=value if value in ("0", "1", NOT_APPLICABLE) else "",
        weakness=weakness if weakness in list(Weakness) else "",
        differ=query.get("differ") == "yes",
        share=_share(query.get("condition", ""), query.get("run", "")),
    )


def _share(condition: str, run: str) -> reviews.Share:
    """The condition and the run that the address names; what is no id narrows nothing."""
    try:
        known = UUID(condition) if condition else None
    except ValueError:
        known = None
    number = int(run) if run.isascii() and run.isdecimal() and len(run) < 10 else None
    return reviews.Share(known, number)


def _load(form: ReviewForm, user: User) -> dict[str, object]:
    """The sample of each task and what falls to each reviewer, as far as the form says it."""
    form.is_valid()
    data = form.cleaned_data
    people, each = len(data.get("reviewers") or ()), data.get("reviewers_each") or 1
    load: dict[str, object] = {
        "people": people,
        "too_few": too_few_reviewers(people, each) if people else "",
    }
    runs = list(data.get("runs") or ())
    if len({run.dataset_id for run in runs}) > 1:
        load["mixed"] = True
    elif runs and {"policy", "per_task", "random_seed"} <= set(data):
        asked = [data[name] for name in ("policy", "per_task", "random_seed")]
        drawn = plan_review(runs, *asked, acting_user=user)
        judgements = len(drawn.responses) * each
        load |= {"sample": drawn, "judgements": judgements, "each": each}
        if people:
            load |= {"low": judgements // people, "high": -(-judgements // people)}
    return load
