"""The question bank: its list with saved views, its images, and the list as a file."""

from __future__ import annotations

import tempfile
from typing import NamedTuple
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from gradeapp.accounts.permissions import MemberRequest, check, exports, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.long_files import headers_of, place_for_a_file
from gradeapp.common.parameters import check_values, refuse_unknown
from gradeapp.common.refusals import BadInput
from questions.forms.filter_chips import chips, query_of
from questions.forms.filters import QuestionFilter
from questions.forms.labels import BulkLabelForm
from questions.models import Dataset, Question
from questions.rules.search_words import Piece, beginning, search_words, searchable
from questions.selectors.bank import by_place, hit, image, shown_rows, views_of
from questions.services import saved_views as services
from questions.services.exports import export_csv, export_jsonl, note_export
from questions.services.uploads import imports_folder

PAGE = 50
SEEN = 36  # so many characters of a row's first line are in sight on any screen


@require_safe
@requires(Capability.SEE_QUESTIONS)
def question_page_list(request: MemberRequest) -> HttpResponse:
    """Questions by filter; the filters stand in the address. htmx gets the results alone."""
    filters = QuestionFilter(request.GET, queryset=by_place())
    keys = filters.qs.values_list("pk", flat=True)
    query_words = filters.form.cleaned_data.get("q") or ""
    words = search_words(query_words)
    # A search reads its texts one time, for the number and for the page: all its keys at once.
    paginator = Paginator(list(keys) if words else keys, PAGE)
    page = paginator.get_page(request.GET.get("page"))
    query = query_of(filters)
    context = {
        "filters": filters,
        "page": page,
        "rows": [row_of(row, words) for row in shown_rows(list(page.object_list))],
        "chips": chips(filters),
        "query": query,
        "unsearchable": bool(query_words) and not searchable(query_words),
        "bank_is_empty": not paginator.count and not Question.objects.exists(),
        "bulk_form": BulkLabelForm() if request.user.may(Capability.EDIT_QUESTIONS) else None,
        "may_suggest": request.user.may(Capability.START_RUNS),
    }
    if request.htmx.target == "questions" and not request.htmx.history_restore_request:
        response = render(request, "questions/bank/_questions.html", context)
        response["HX-Push-Url"] = _address(query, page.number)
        return response
    return render(
        request, "questions/bank/list.html", context | {"saved_views": views_of(request.user)}
    )


def _address(query: str, number: int) -> str:
    """The list's own address, without the filters that choose nothing."""
    parts = [query, f"page={number}" if number > 1 else ""]
    return "?".join(filter(None, [reverse("questions:list"), "&".join(filter(None, parts))]))


class ShownRow(NamedTuple):
    """A question with the beginning of its text, and where that shows no hit, the line of one."""

    question: Question
    title: list[Piece]
    snippet: list[Piece]


def row_of(question: Question, words: list[str]) -> ShownRow:
    """What a row says of *question* to one who looks for *words*."""
    revision = question.current
    if revision is None:
        return ShownRow(question, [], [])
    title = beginning(revision.stem, words)
    seen = title[:2]  # a hit further on may be cut off at the end of the line
    found = any(marked for _text, marked in seen) and len(seen[0][0]) < SEEN
    return ShownRow(question, title, [] if found or not words else hit(revision, words))


@require_safe
def question_image(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """An image of the bank, for those who read questions and those who mark answers."""
    if not request.user.may(Capability.MARK):
        check(request.user, Capability.SEE_QUESTIONS)
    asset = image(public_id)
    if asset is None:
        raise Http404
    response = HttpResponse(bytes(asset.content), content_type=asset.media_type)
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["X-Content-Type-Options"] = "nosniff"
    return response


FORMATS = {
    "jsonl": (export_jsonl, "zip", "application/zip"),
    "csv": (export_csv, "csv", "text/csv; charset=utf-8"),
}


def filtered(data: QueryDict) -> tuple[QuerySet[Question], dict[str, object]]:
    """The questions that the filters in *data* choose, and the filters that are set.

    Raises BadInput for a filter that does not exist and for a value that none has.
    """
    refuse_unknown(data, QuestionFilter)
    filters = QuestionFilter(data, queryset=by_place())
    check_values(filters)
    return filters.qs, {key: value for key, value in data.items() if value and key != "page"}


@require_safe
@exports
@requires(Capability.SEE_QUESTIONS)
def question_export(request: MemberRequest) -> FileResponse | HttpResponse:
    """``?as=jsonl`` (default) or ``?as=csv``, and the filters of the list.

    The file is whole before the first byte is sent, so that an error is an error
    and never half a file; memory stays small, because it is on disk meanwhile.
    """
    data = request.GET.copy()
    name = (data.pop("as", None) or ["jsonl"])[-1]
    if name not in FORMATS:
        raise BadInput(_("Choose csv or jsonl."))
    write, suffix, media_type = FORMATS[name]
    questions, parameters = filtered(data)
    dataset = Dataset.objects.filter(slug=parameters.get("dataset", "")).first()
    filename = f"{dataset.slug if dataset else 'questions'}.{suffix}"
    if request.method == "HEAD":
        return headers_of(filename, media_type)
    file = tempfile.TemporaryFile(dir=imports_folder())  # noqa: SIM115 - closed once sent
    with place_for_a_file():
        made = write(questions, file, {"export": "questions", "as": name, **parameters})
    note_export(made, dataset or request.user, acting_user=request.user)
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=filename, content_type=media_type)


def _to_list(query: str) -> HttpResponse:
    """Back to the list with *query*; only its parameters are taken, so it leads nowhere else."""
    clean = QueryDict(query).urlencode()
    return redirect(reverse("questions:list") + (f"?{clean}" if clean else ""))


@require_POST
@requires(Capability.SEE_QUESTIONS)
def save_view(request: MemberRequest) -> HttpResponse:
    """Keep the filters of the list under a name."""
    query = request.POST.get("query", "")
    view = services.save_view(request.POST.get("name", ""), query, acting_user=request.user)
    messages.success(request, _("The view “%(name)s” was saved.") % {"name": view.name})
    return _to_list(view.query)


@require_POST
@requires(Capability.SEE_QUESTIONS)
def rename_view(request: MemberRequest, pk: int) -> HttpResponse:
    """Call a view something else."""
    view = services.rename_view(pk, request.POST.get("name", ""), acting_user=request.user)
    messages.success(request, _("The view was renamed to “%(name)s”.") % {"name": view.name})
    return _to_list(request.POST.get("query", ""))


@require_POST
@requires(Capability.SEE_QUESTIONS)
def delete_view(request: MemberRequest, pk: int) -> HttpResponse:
    """Take a view away."""
    services.delete_view(pk, acting_user=request.user)
    messages.success(request, _("The view was deleted. No question was changed."))
    return _to_list(request.POST.get("query", ""))
