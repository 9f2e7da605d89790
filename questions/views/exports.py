"""The bank as a file, by the filters of the list."""

from __future__ import annotations

import tempfile

from django.db.models import QuerySet
from django.http import FileResponse, QueryDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import refuse_unknown
from gradeapp.common.refusals import BadInput
from questions.forms.filters import QuestionFilter
from questions.models import Dataset, Question
from questions.selectors.bank import by_place
from questions.services.exports import export_csv, export_jsonl, note_export
from questions.services.uploads import imports_folder

FORMATS = {
    "jsonl": (export_jsonl, "zip", "application/zip"),
    "csv": (export_csv, "csv", "text/csv; charset=utf-8"),
}


def chosen(data: QueryDict) -> tuple[QuerySet[Question], dict[str, object]]:
    """The questions that the filters in *data* choose, and the filters that are set.

    Raises BadInput for a filter that does not exist and for a value that none has.
    """
    refuse_unknown(data, QuestionFilter)
    filters = QuestionFilter(data, queryset=by_place())
    if not filters.form.is_valid():
        names = ", ".join(sorted(filters.form.errors))
        raise BadInput(_("The filter %(names)s has no such value.") % {"names": names})
    return filters.qs, {key: value for key, value in data.items() if value and key != "page"}


@require_safe
@requires(Capability.SEE_QUESTIONS)
def question_export(request: MemberRequest) -> FileResponse:
    """``?as=jsonl`` (default) or ``?as=csv``, and the filters of the list.

    The file is whole before the first byte is sent, so that an error is an error
    and never half a file; memory stays small, because it is on disk meanwhile.
    """
    data = request.GET.copy()
    name = (data.pop("as", None) or ["jsonl"])[-1]
    if name not in FORMATS:
        raise BadInput(_("Choose csv or jsonl."))
    write, suffix, media_type = FORMATS[name]
    questions, parameters = chosen(data)
    file = tempfile.TemporaryFile(dir=imports_folder())  # noqa: SIM115 - closed once sent
    made = write(questions, file, {"export": "questions", "as": name, **parameters})
    dataset = Dataset.objects.filter(slug=parameters.get("dataset", "")).first()
    if request.method == "GET":
        note_export(made, dataset or request.user, acting_user=request.user)
    file.seek(0)
    filename = f"{dataset.slug if dataset else 'questions'}.{suffix}"
    return FileResponse(file, as_attachment=True, filename=filename, content_type=media_type)
