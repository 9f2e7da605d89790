"""Make paste lists, and store what was pasted like an imported answer."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.conditions import Asking, OptionOrder
from evaluations.facts.answer_facts import record_responses
from evaluations.facts.looks import PASTED, record_runs
from evaluations.imports.pasting.selectors import asked
from evaluations.imports.rules.jsonl_answers import MAX_REPEAT
from evaluations.imports.services.answer_imports import check_asked, check_model
from evaluations.imports.services.published_answers import imported_run
from evaluations.imports.services.similar_names import similar_condition, similar_model
from evaluations.models import PasteList, Response, Run
from evaluations.reading.rules.scoring.error_texts import is_error_text
from evaluations.reading.services.scoring import score_responses
from evaluations.runs.rules.prompting.compose import step_count
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.selectors.chosen_questions import chosen_questions
from evaluations.runs.selectors.prompt_items import prompt_item, prompts_of
from evaluations.runs.services.planning import to_be_asked
from evaluations.runs.services.prompt_sets import check_prompts, stored_prompts
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.storable import storable
from questions.models import Dataset, Question
from questions.rules.vocabulary import Part

MOST_QUESTIONS = 2_000
# Longer than any reply; a mistake of the clipboard is not stored.
MOST_CHARACTERS = 200_000


@transaction.atomic
def make_paste_list(
    *,
    dataset: Dataset,
    model: str,
    condition: str,
    asking: Asking,
    choice: QuestionChoice,
    repeat: int,
    acting_user: User,
) -> PasteList:
    """Freeze the questions of *choice* and how *model* is asked, for answers by hand.

    *condition* is the name of their condition. A list of the same model, dataset, condition,
    questions and repeat is returned as it is. Raises BadInput for what cannot be asked by hand, and
    Conflict if answers of that condition were asked in another way.
    """
    model, condition = " ".join(model.split()), " ".join(condition.split())
    _check_names(model, condition)
    if not 1 <= repeat <= MAX_REPEAT:
        words = _("A repeat must be a whole number from 1, not %(repeat)s.")
        raise BadInput(words % {"repeat": repeat})
    check_asked(asking.setting, condition)
    questions = _questions(dataset, asking, choice)
    prompts = stored_prompts(asking.prompt_set)
    run = imported_run(dataset, model, asking.setting, condition)
    run = Run.objects.select_for_update().get(pk=run.pk)
    same_way = {
        "prompts": prompts,
        "images": asking.images,
        "max_prompt_tokens": asking.max_prompt_tokens,
    }
    keys = [question.pk for question in questions]
    for other in PasteList.objects.filter(run=run):
        if {name: getattr(other, name) for name in same_way} != same_way:
            raise Conflict(
                _(
                    "%(model)s was asked under the condition “%(name)s” with other prompts or "
                    "images. Give this one another name."
                )
                % {"model": model, "name": condition}
            )
        if other.questions == keys and other.repeat == repeat:
            return other
    made = PasteList.objects.create(
        run=run,
        **same_way,
        repeat=repeat,
        choice=choice.as_dict(),
        questions=keys,
        created_by=acting_user,
    )
    record(Tag.PASTE_LIST_MADE, run, actor=acting_user, questions=len(keys), repeat=repeat)
    return made


def _check_names(model: str, condition: str) -> None:
    check_model(model)
    if not condition:
        raise BadInput(_("A name must have 1 to 100 characters."))
    if other := similar_model(model) or similar_condition(model, condition):
        words = _(
            "There is “%(name)s” already. Use that name, or one that differs by more than case and "
            "width."
        )
        raise BadInput(words % {"name": other}, code="similar_name")


def _questions(dataset: Dataset, asking: Asking, choice: QuestionChoice) -> list[Question]:
    if asking.option_order is not OptionOrder.PRINTED:
        raise BadInput(_("By hand, options are asked in the order in which they are printed."))
    questions, _counts = to_be_asked(chosen_questions(dataset, choice), asking)
    if len(questions) > MOST_QUESTIONS:
        words = _("These are %(n)s questions; by hand at most %(most)s are asked in one list.")
        raise BadInput(words % {"n": f"{len(questions):,}", "most": f"{MOST_QUESTIONS:,}"})
    version = stored_prompts(asking.prompt_set)
    check_prompts(version, asking.setting, questions)
    content = prompts_of(version)
    for question in questions:
        assert question.current is not None
        if step_count(content, asking.setting, prompt_item(question, question.current), 0) > 1:
            raise BadInput(
                _("These prompts ask in two steps. By hand, choose a setting of one step.")
            )
    return questions


def paste_answer(
    paste_list: PasteList, question: Question, *, revision_id: int, text: str, acting_user: User
) -> Response:
    """Store *text* as the answer to *question*, and score it; a stored answer never changes.

    *revision_id* is the revision that was asked. The same text a second time changes nothing; it is
    a look at the run, as any text is.
    Raises BadInput for an empty or much too long text, Conflict if there is another answer, or if
    the question was edited in between.
    """
    text = storable(text.replace("\r\n", "\n").strip())
    if not text:
        raise BadInput(_("Paste the answer first. If the website refused, paste what it wrote."))
    if len(text) > MOST_CHARACTERS:
        words = _("The text is longer than %(most)s characters.")
        raise BadInput(words % {"most": f"{MOST_CHARACTERS:,}"})
    # Also where nothing is stored: that a text is there already, or is not, tells its model.
    record_runs([paste_list.run_id], acting_user=acting_user, page=PASTED)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=paste_list.run_id)
        there = Response.objects.filter(run=run, question=question, repeat=paste_list.repeat)
        if (stored := there.first()) is not None:
            if stored.text == text:
                return stored
            raise Conflict(
                _("This question has another answer already. A stored answer is never changed.")
            )
        if question.current_id != revision_id:
            raise Conflict(_("This question was edited after it was shown. Ask it again."))
        shown = asked(paste_list, question)
        response = Response.objects.create(
            run=run,
            question=question,
            revision_id=revision_id,
            repeat=paste_list.repeat,
            text=text,
            is_error_text=is_error_text(text),
            images_sent=len(shown.images),
            images_omitted=shown.images_omitted,
        )
        if paste_list.repeat > run.repeats:
            Run.objects.filter(pk=run.pk).update(repeats=paste_list.repeat)
        record_responses([response.pk])
        record(Tag.ANSWER_PASTED, run, actor=acting_user, response=str(response.public_id))
    if question.part == Part.OBJECTIVE:
        score_responses([response])
    return response
