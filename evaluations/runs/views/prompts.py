"""Pages of prompt sets: the list, one set with its versions and a preview, and the editor."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from evaluations.models import PromptSetVersion
from evaluations.runs.forms.prompts import PreviewForm, PromptSetForm
from evaluations.runs.rules.prompting.prompt_sets import BrokenPromptSet, PromptSetContent
from evaluations.runs.selectors.prompt_items import prompts_of
from evaluations.runs.selectors.prompt_previews import Preview, first_task, preview
from evaluations.runs.services.prompt_sets import (
    add_new_set,
    current_prompts,
    edit_prompts,
    exported,
    parsed,
)
from evaluations.runs.services.prompt_sets import (
    prompt_sets as current_versions,
)
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import NotFound, Refusal

PAGES = "evaluations/runs/prompts"


@require_safe
@requires(Capability.SEE_QUESTIONS)
def prompt_sets(request: MemberRequest) -> HttpResponse:
    """List all prompt sets."""
    context = {
        "versions": current_versions(),
        "may_edit": request.user.may(Capability.EDIT_QUESTIONS),
    }
    return render(request, f"{PAGES}/list.html", context)


@require_safe
@requires(Capability.SEE_QUESTIONS)
def prompt_set(request: MemberRequest, slug: str) -> HttpResponse:
    """Show one version of a set, the current one if none is named, with its preview."""
    version = get_version(slug, request.GET.get("version"))
    content = prompts_of(version)
    form = PreviewForm(request.GET if "setting" in request.GET else None, task=first_task(content))
    context = {
        "version": version,
        "is_current": version.pk in (None, current_prompts(slug).pk),
        "content": content,
        "versions": versions_of(version),
        "form": form,
        "shown": preview(content, **form.chosen()),
        "may_edit": request.user.may(Capability.EDIT_QUESTIONS),
    }
    return render(request, f"{PAGES}/set.html", context)


@require_safe
@requires(Capability.SEE_QUESTIONS)
def prompt_set_file(request: MemberRequest, slug: str) -> HttpResponse:
    """Return one version as a JSON file in the documented format."""
    version = get_version(slug, request.GET.get("version"))
    name = f"{slug.replace(':', '-')}-{version.number}.json"
    return HttpResponse(
        exported(version),
        content_type="application/json; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.EDIT_QUESTIONS)
def prompt_set_edit(request: MemberRequest, slug: str) -> HttpResponse:
    """Show the text of the current version, preview it as it is typed, or save a new version."""
    return edit(request, get_version(slug, None))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.EDIT_QUESTIONS)
def prompt_set_new(request: MemberRequest) -> HttpResponse:
    """Show an empty editor, or save a set of a new name."""
    return edit(request, None)


def edit(request: MemberRequest, version: PromptSetVersion | None) -> HttpResponse:
    """Show the editor; a button says whether the text is saved or only previewed."""
    if request.method != "POST":
        text = exported(version) if version else ""
        content = prompts_of(version) if version else None
        initial = {"content": text, "seen": version.content_hash if version else ""}
        return editor(request, version, PromptSetForm(initial=initial), content, [])
    form = PromptSetForm(request.POST)
    if not form.is_valid():
        return editor(request, version, form, None, [], status=400)
    given = form.cleaned_data
    try:
        if "save" in request.POST:
            slug = version.prompt_set.slug if version else None
            by = {"acting_user": request.user, "note": given["note"]}
            saved = (
                edit_prompts(slug, given["content"], seen=given["seen"], **by)
                if slug
                else add_new_set(given["content"], **by)
            )
            text = _("Version %(number)s saved.") % {"number": saved.number}
            messages.success(request, text)
            return redirect("runs:prompt-set", saved.prompt_set.slug)
        content = parsed(given["content"])
    except BrokenPromptSet as broken:
        status = 400 if "save" in request.POST else 200
        return editor(request, version, form, None, broken.problems, status=status)
    except Refusal as refusal:
        if version and refusal.code == "changed_meanwhile":
            form = form.after(version)
        form.add_error(None, str(refusal))
        return editor(request, version, form, None, [], status=refusal.status)
    return editor(request, version, form, content, [])


def editor(
    request: MemberRequest,
    version: PromptSetVersion | None,
    form: PromptSetForm,
    content: PromptSetContent | None,
    problems: list[Any],
    status: int = 200,
) -> HttpResponse:
    """Return the editor, or for htmx the preview alone."""
    choice = PreviewForm(request.POST or None, task=first_task(content))
    shown = preview(content, **choice.chosen()) if content else Preview()
    context = {
        "version": version,
        "form": form,
        "choice": choice,
        "shown": shown,
        "problems": problems,
    }
    alone = request.headers.get("HX-Request") and "save" not in request.POST
    page = "_preview" if alone else "edit"
    return render(request, f"{PAGES}/{page}.html", context, status=status)


def versions_of(version: PromptSetVersion) -> list[PromptSetVersion]:
    """Return the versions of its set, the newest first; one that ships may not be stored yet."""
    unsaved = [version] if version.pk is None else []
    if version.prompt_set.pk is None:
        return unsaved
    stored = version.prompt_set.versions.select_related("created_by").order_by("-number")
    return [*unsaved, *stored]


def get_version(slug: str, number: str | None) -> PromptSetVersion:
    """Return version *number* of the set, the current one for None.

    Raises NotFound with a sentence that does not repeat what stands in the address.
    """
    try:
        current = current_prompts(slug)
    except NotFound:
        raise NotFound(_("There is no such prompt set.")) from None
    if not number or number == str(current.number):
        return current
    versions = PromptSetVersion.objects.filter(prompt_set__slug=slug)
    known = number.isascii() and number.isdecimal() and len(number) < 10
    found = versions.filter(number=int(number)).first() if known else None
    if found is None:
        raise NotFound(_("There is no such version."))
    return found
