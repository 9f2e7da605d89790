"""Judges under their conditions, and the versions of their prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import ImagePolicy, PromptSource
from evaluations.judging.rules.judge_condition import (
    MOST_TOKENS,
    JudgeChoice,
    JudgeCondition,
    ReplyForm,
    condition_of,
)
from evaluations.judging.rules.judge_prompt_sets import (
    SHIPPED,
    BadPrompts,
    from_gaokao_bench,
    hash_of,
)
from evaluations.models import Endpoint, Judge, JudgePrompts
from evaluations.runs.services.images import images_for
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput, NotFound
from gradeapp.common.strict_json import JsonRefusal, read_document
from gradeapp.common.submission_keys import made_once

DEFAULT = JudgeChoice()
LONGEST_NAME = 100


def hold_judges(keys: Iterable[int]) -> list[Judge]:
    """Lock the judges *keys* until the transaction ends, in the order of their keys; return them.

    The fact of a judgement says whether its judge is suspended. So whoever adds judgements, and
    whoever suspends or releases a judge, holds the judge before writing facts: otherwise neither
    would see what the other has not committed. Runs and jobs are locked before judges.
    """
    rows = Judge.objects.select_for_update(no_key=True).filter(pk__in=set(keys))
    return list(rows.order_by("pk"))


def ensure_judge(endpoint: Endpoint) -> Judge:
    """Return the judge of *endpoint* under the default condition; create it if there is none."""
    return judge_for(endpoint, DEFAULT)


def judge_for(endpoint: Endpoint, choice: JudgeChoice) -> Judge:
    """Return the judge of *endpoint* under the condition of *choice*; create it if there is none.

    Its name is that of *choice*, or the name of the model with what differs from the default.
    Raises BadInput for a condition that the endpoint cannot meet, and NotFound for unknown prompts.
    """
    prompts = stored_judge_prompts(choice.prompts)
    condition = _condition(endpoint, choice, prompts)
    fingerprint = condition.fingerprint()

    def make() -> Judge:
        with transaction.atomic():
            return Judge.objects.create(
                name=_free_name(endpoint, choice),
                endpoint=endpoint,
                prompts=prompts,
                condition=condition.as_dict(),
                fingerprint=fingerprint,
            )

    return made_once(endpoint.judges.filter(fingerprint=fingerprint).order_by("pk"), make)


def _condition(endpoint: Endpoint, choice: JudgeChoice, prompts: JudgePrompts) -> JudgeCondition:
    """Return the condition of *choice* on *endpoint*; raise BadInput if it cannot be met."""
    if not 1 <= choice.max_tokens <= MOST_TOKENS:
        raise BadInput(
            _("The maximum tokens of a judge’s reply must be a whole number from 1 to %(most)s.")
            % {"most": MOST_TOKENS}
        )
    if not 0 <= choice.temperature <= endpoint.max_temperature:
        raise BadInput(
            _("The temperature must be a number from 0 to %(most)s.")
            % {"most": f"{endpoint.max_temperature:g}"}
        )
    if choice.images is ImagePolicy.SEND and not endpoint.takes_images:
        raise BadInput(
            _("The endpoint %(name)s takes no images.") % {"name": endpoint.name}, code="no_images"
        )
    return condition_of(
        choice,
        model=endpoint.model,
        prompt_version=str(prompts),
        prompt_hash=prompts.content_hash,
        images=images_for(endpoint),
    )


def _free_name(endpoint: Endpoint, choice: JudgeChoice) -> str:
    """Return a name that no judge has yet."""
    if choice.name:
        if Judge.objects.filter(name=choice.name).exists():
            raise BadInput(
                _("There is already a judge model called %(name)s.") % {"name": choice.name}
            )
        return choice.name
    differs = [
        *([choice.prompts] if choice.prompts != DEFAULT.prompts else []),
        *([] if choice.criterion else ["no criterion"]),
        *([] if choice.analysis else ["no analysis"]),
        *([] if choice.notes else ["no notes"]),
        *([choice.images.value] if choice.images else []),
        *([choice.form.value] if choice.form is not ReplyForm.TAGGED else []),
        *([f"T {choice.temperature:g}"] if choice.temperature else []),
        *([f"{choice.max_tokens} tokens"] if choice.max_tokens != DEFAULT.max_tokens else []),
    ]
    tail = "".join(f" · {word}" for word in differs)
    bases = [endpoint.language_model.name, endpoint.name]
    numbered = (f"{bases[1]} {number}" for number in count(2))
    for base in chain(bases, numbered):
        name = base[: LONGEST_NAME - len(tail)] + tail
        if not Judge.objects.filter(name=name).exists():
            return name
    raise AssertionError  # pragma: no cover


def stored_judge_prompts(slug: str) -> JudgePrompts:
    """Return the newest version of the prompts *slug*; those of the project are stored first."""
    if slug in SHIPPED:
        return add_judge_prompts(SHIPPED[slug], source=PromptSource.SHIPPED, acting_user=None)
    found = JudgePrompts.objects.filter(slug=slug).order_by("-number").first()
    if found is None:
        raise NotFound(_("There are no prompts for judges called “%(name)s”.") % {"name": slug})
    return found


def add_judge_prompts(
    content: Mapping[str, Any], *, source: PromptSource, acting_user: User | None
) -> JudgePrompts:
    """Return the version with *content*; add it if there is none."""
    slug, digest = content["name"], hash_of(content)
    versions = JudgePrompts.objects.filter(slug=slug)

    def make() -> JudgePrompts:
        with transaction.atomic():
            newest = versions.aggregate(newest=Max("number"))["newest"] or 0
            return JudgePrompts.objects.create(
                slug=slug,
                number=newest + 1,
                content=content,
                content_hash=digest,
                source=source,
                created_by=acting_user,
            )

    return made_once(versions.filter(content_hash=digest), make)


def import_judge_prompts(path: Path, *, acting_user: User | None) -> JudgePrompts:
    """Import GAOKAO-Bench's prompts for judges from the file *path*. Raises BadInput."""
    try:
        with path.open("rb") as file:
            content = from_gaokao_bench(read_document(file))
    except OSError as error:
        raise BadInput(_("The file %(name)s cannot be read.") % {"name": path.name}) from error
    except (JsonRefusal, BadPrompts) as error:
        raise BadInput(
            _("%(name)s has no prompts for judges: %(reason)s")
            % {"name": path.name, "reason": str(error)}
        ) from error
    return add_judge_prompts(content, source=PromptSource.IMPORTED, acting_user=acting_user)
