"""Prompt sets and their versions: stored, imported, edited, written out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import PromptSetting, PromptSource
from evaluations.models import PromptSet, PromptSetVersion
from evaluations.runs.rules.prompting.compose import CannotCompose
from evaluations.runs.rules.prompting.prompt_sets import (
    BrokenPromptSet,
    PromptSetContent,
    PromptSetProblem,
    as_json,
    content_hash,
    read_prompt_set,
)
from evaluations.runs.rules.prompting.published_sets import (
    AGIEVAL,
    GAOKAO_BENCH,
    agieval_set,
    gaokao_bench_set,
)
from evaluations.runs.rules.prompting.shipped_sets import GRADEAPP, SHIPPED, shipped_set
from evaluations.runs.selectors.prompt_items import composed, prompts_of
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from gradeapp.common.strict_json import JsonRefusal, cleaned, read_document
from questions.importers.agieval_examples import FILE as EXAMPLES_FILE
from questions.importers.agieval_examples import raw_examples
from questions.models import Question

OWN_SET = GRADEAPP
NOTE_LENGTH = 200


@dataclass(frozen=True)
class ImportedPrompts:
    """What an import of prompts brought: the version, or the problems that refused it."""

    slug: str
    version: PromptSetVersion | None = None
    created: bool = False
    problems: list[PromptSetProblem] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of the command."""
        templates = len(self.version.content["templates"]) if self.version else 0
        return {
            "set": self.slug,
            "version": self.version.number if self.version else None,
            "templates": templates,
            "problems": [problem.as_dict() for problem in self.problems],
        }


def current_prompts(slug: str) -> PromptSetVersion:
    """Return the version of the set *slug* that new runs use. Raises NotFound.

    That of a set that ships with the project is not stored before a run uses it or a person edits
    it: then it has no key yet. When its text changes with the project there is a new version,
    unless people imported or edited one of their own.
    """
    found = PromptSetVersion.objects.filter(current_of__slug=slug)
    version = found.select_related("prompt_set", "created_by").first()
    if slug in SHIPPED and (version is None or version.source == PromptSource.SHIPPED):
        content = shipped_set(slug)
        if version is None or version.content_hash != content_hash(content):
            return _of_the_project(content)
    if version is None:
        raise NotFound(_("There is no prompt set “%(name)s”.") % {"name": slug})
    return version


def stored_prompts(slug: str) -> PromptSetVersion:
    """Return what ``current_prompts`` returns, stored."""
    version = current_prompts(slug)
    if version.pk is not None and version.prompt_set.current_id == version.pk:
        return version
    return add_version(shipped_set(slug), source=PromptSource.SHIPPED, acting_user=None, note="")[0]


def prompt_sets() -> list[PromptSetVersion]:
    """Return the current version of each set, by the names of the sets."""
    stored = PromptSet.objects.filter(current__isnull=False).values_list("slug", flat=True)
    return [current_prompts(slug) for slug in sorted({*stored, *SHIPPED})]


def _of_the_project(content: PromptSetContent) -> PromptSetVersion:
    """Return the version with the *content* that ships: a stored one, or one nothing has used."""
    digest = content_hash(content)
    versions = PromptSetVersion.objects.filter(prompt_set__slug=content.name)
    stored = versions.filter(content_hash=digest).select_related("prompt_set", "created_by").first()
    if stored is not None:
        return stored
    there = PromptSet.objects.filter(slug=content.name).first()
    return PromptSetVersion(
        prompt_set=there or PromptSet(slug=content.name),
        number=versions.count() + 1,
        content=as_json(content),
        content_hash=digest,
        source=PromptSource.SHIPPED,
    )


@transaction.atomic
def add_version(
    content: PromptSetContent,
    *,
    source: PromptSource,
    acting_user: User | None,
    note: str,
    seen: str = "",
) -> tuple[PromptSetVersion, bool]:
    """Make *content* the current version of its set; return it, and whether it is new.

    A content that a version has already makes that version current. Runs keep the version that
    they were planned with. *seen* is the hash of the version that was current on the page; raises
    Conflict if another one is by now, which says something else.
    """
    if content.name in SHIPPED and source is not PromptSource.SHIPPED:
        stored_prompts(content.name)  # what people change comes after what the project brought
    prompt_set, _made = PromptSet.objects.get_or_create(slug=content.name)
    prompt_set = PromptSet.objects.select_for_update().get(pk=prompt_set.pk)
    digest = content_hash(content)
    _check_seen(prompt_set, digest, seen)
    version = prompt_set.versions.filter(content_hash=digest).first()
    created = version is None
    if version is None:
        version = PromptSetVersion.objects.create(
            prompt_set=prompt_set,
            number=prompt_set.versions.count() + 1,
            content=as_json(content),
            content_hash=digest,
            source=source,
            created_by=acting_user,
            note=note[:NOTE_LENGTH],
        )
    if prompt_set.current_id != version.pk:
        prompt_set.current = version
        prompt_set.save(update_fields=["current"])
        if source is not PromptSource.SHIPPED:
            detail = {"set": content.name, "version": version.number, "note": version.note}
            record(Tag.PROMPTS_CHANGED, version, actor=acting_user, **detail)
    return version, created


def _check_seen(prompt_set: PromptSet, digest: str, seen: str) -> None:
    current = prompt_set.current
    if seen and current is not None and current.content_hash not in (seen, digest):
        raise Conflict(
            _(
                "Version %(version)s was saved since you opened this page. Compare it with yours. "
                "If you save again, yours is the next version."
            )
            % {"version": current.number},
            code="changed_meanwhile",
        )


def edit_prompts(
    slug: str, text: str, *, acting_user: User, note: str, seen: str = ""
) -> PromptSetVersion:
    """Make *text*, a prompt set in JSON, the current version of *slug*.

    Raises BrokenPromptSet for what cannot be used, BadInput for the content of another set, and
    Conflict as ``add_version``.
    """
    content = parsed(text)
    if content.name != slug:
        raise BadInput(
            _("The name in the text is “%(name)s”, not “%(slug)s”.")
            % {"name": content.name, "slug": slug}
        )
    source = PromptSource.EDITED
    return add_version(content, source=source, acting_user=acting_user, note=note, seen=seen)[0]


@transaction.atomic
def add_new_set(text: str, *, acting_user: User, note: str) -> PromptSetVersion:
    """Store *text*, a prompt set in JSON, under its own name.

    Raises BrokenPromptSet for what cannot be used, Conflict if there is a set of that name.
    """
    content = parsed(text)
    # Of two who do so at once, the second waits and finds it.
    if content.name in SHIPPED or not PromptSet.objects.get_or_create(slug=content.name)[1]:
        raise Conflict(
            _("There is a prompt set “%(name)s” already; edit that.") % {"name": content.name}
        )
    return add_version(content, source=PromptSource.EDITED, acting_user=acting_user, note=note)[0]


def parsed(text: str) -> PromptSetContent:
    """Return the prompt set in *text*. Raises BrokenPromptSet."""
    try:
        value = read_document(BytesIO(text.encode("utf-8", "surrogatepass")))
    except JsonRefusal as refusal:
        raise BrokenPromptSet([_problem(refusal.code, "the text", refusal.text)]) from None
    return read_prompt_set(_storable(value))


def import_prompts(slug: str, path: Path, *, acting_user: User | None) -> ImportedPrompts:
    """Import the set *slug* from *path*: a file in our format, or a benchmark's own files.

    *path* is our JSON, or for ``gaokao-bench`` and ``agieval`` the folder of the benchmark. What is
    broken comes back as problems and nothing is stored; another name in the file is a problem too.
    """
    try:
        content = _read_set(slug, path)
        if content.name != slug:
            text = f"The file holds the set {content.name}, not {slug}."
            raise BrokenPromptSet([_problem("other_name", path.name, text)])
    except BrokenPromptSet as broken:
        return ImportedPrompts(slug, problems=broken.problems)
    version, created = add_version(
        content, source=PromptSource.IMPORTED, acting_user=acting_user, note=path.name
    )
    return ImportedPrompts(slug, version, created)


def exported(version: PromptSetVersion) -> str:
    """Return *version* as a file in our format, which imports to the same content."""
    content = as_json(prompts_of(version))
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def check_prompts(
    version: PromptSetVersion, setting: PromptSetting, questions: Iterable[Question]
) -> None:
    """Raise BadInput if one of *questions*, with their current revisions, cannot be asked."""
    prompts = prompts_of(version)
    if not prompts.offers(setting):
        raise BadInput(
            _("The prompt set “%(set)s” has no setting %(setting)s.")
            % {"set": version.prompt_set.slug, "setting": setting.value}
        )
    seen: set[tuple[object, ...]] = set()
    for question in questions:
        revision = question.current
        if revision is None:
            continue
        kind = (
            question.task_id,
            revision.question_type,
            revision.language,
            revision.sub_answers > 1,
        )
        if kind in seen:
            continue
        seen.add(kind)
        try:
            prompt = composed(prompts, question, revision, setting=setting)
        except CannotCompose as error:
            raise BadInput(
                _("The prompt set “%(set)s” has no words for %(task)s: %(reason)s")
                % {
                    "set": version.prompt_set.slug,
                    "task": question.task.slug,
                    "reason": str(error),
                }
            ) from None
        if setting.few_shot and prompt.examples_used + prompt.examples_dropped == 0:
            raise BadInput(
                _(
                    "There are no worked examples for %(task)s; the setting %(setting)s needs "
                    "some. Leave this task out, or choose a prompt set that has examples for it."
                )
                % {"task": question.task.slug, "setting": setting.value}
            )


def _read_set(slug: str, path: Path) -> PromptSetContent:
    reader = _FOLDERS.get(slug) if path.is_dir() else None
    if reader is not None:
        return reader(path)
    if path.is_dir():
        text = "A folder can be imported as gaokao-bench or agieval only; name the JSON file."
        raise BrokenPromptSet([_problem("no_files", path.name, text)])
    return read_prompt_set(_storable(_document(path)))


def _gaokao_bench(folder: Path) -> PromptSetContent:
    place = next((folder / name for name in ("Bench", ".") if (folder / name).is_dir()), folder)
    files = [place / name for name in ("Obj_Prompt.json", "Sub_Prompt.json")]
    return gaokao_bench_set(*[_document(file) for file in files])


def _agieval(folder: Path) -> PromptSetContent:
    place = folder if (folder / EXAMPLES_FILE).is_file() else folder / "data"
    try:
        examples = raw_examples(place / EXAMPLES_FILE)
    except (JsonRefusal, OSError) as error:
        raise BrokenPromptSet([_unreadable(EXAMPLES_FILE, error)]) from None
    return agieval_set(_document(folder / "prompts.json"), examples)


_FOLDERS: dict[str, Callable[[Path], PromptSetContent]] = {
    GAOKAO_BENCH: _gaokao_bench,
    AGIEVAL: _agieval,
}


def _document(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stream:
            return read_document(stream)
    except (JsonRefusal, OSError) as error:
        raise BrokenPromptSet([_unreadable(file.name, error)]) from None


def _storable(value: Any) -> Any:
    clean, originals = cleaned(value)
    if originals:
        places = ", ".join(list(originals)[:5])
        text = f"A character that no database stores stands in: {places}."
        raise BrokenPromptSet([_problem("bad_value", "the whole file", text)])
    return clean


def _unreadable(name: str, error: JsonRefusal | OSError) -> PromptSetProblem:
    if isinstance(error, JsonRefusal):
        return _problem(error.code, name, error.text)
    reason = error.strerror or "unknown reason"
    return _problem("unreadable", name, f"The file cannot be read: {reason}.")


def _problem(code: str, place: str, text: str) -> PromptSetProblem:
    return PromptSetProblem(code, place, text)
