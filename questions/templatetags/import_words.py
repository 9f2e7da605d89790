"""States and problems of imports as people read them."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from questions.forms.imports import SOURCES
from questions.models import ImportBatch
from questions.rules.vocabulary import ImportStatus
from questions.selectors import problem_sentences

register = template.Library()
Words = str | Promise

STATES: dict[str, tuple[Words, str]] = {
    ImportStatus.QUEUED: (_("waiting"), "amber"),
    ImportStatus.CHECKED: (_("checked"), "accent"),
    ImportStatus.STOPPED: (_("stopped"), "amber"),
    ImportStatus.INTERRUPTED: (_("interrupted"), "red"),
    ImportStatus.FAILED: (_("failed"), "red"),
    ImportStatus.DONE: (_("imported"), "green"),
    ImportStatus.DISCARDED: (_("discarded"), ""),
}
COUNTS = {
    "read": _("Questions read"),
    "new": _("New"),
    "same": _("Same"),
    "changed": _("Changed"),
    "quarantined": _("Quarantined"),
    "responses": _("Responses"),
    "marks": _("Marks"),
    "judgements": _("Judgements"),
    "prompt_tokens": _("Input tokens"),
    "completion_tokens": _("Output tokens"),
    "unmatched": _("Not in the bank"),
    "skipped": _("Skipped files"),
}
# What a problem is called; its sentence, with names and numbers, stands below it.
PROBLEMS: dict[str, Words] = {
    "no_files": _("no readable file"),
    "unreadable": _("cannot be read"),
    "empty": _("contains no question"),
    "file_too_large": _("the file is too large"),
    "too_many_problems": _("too many problems"),
    "broken_json": _("broken JSON"),
    "not_an_object": _("not a JSON object"),
    "not_utf8": _("not UTF-8 text"),
    "line_too_long": _("the line is too long"),
    "too_deep": _("nested too deeply"),
    "duplicate_key": _("duplicate key"),
    "bad_key": _("a key that cannot be stored"),
    "not_a_number": _("not a number"),
    "number_out_of_range": _("a number out of range"),
    "unknown_key": _("an unknown key"),
    "missing_key": _("a key is missing"),
    "wrong_type": _("a value of the wrong type"),
    "bad_value": _("a value that is not allowed"),
    "too_long": _("a text that is too long"),
    "too_many_points": _("more points than the bank can hold"),
    "duplicate_id": _("duplicate question"),
    "duplicate_keyword": _("duplicate keyword"),
    "changed_item": _("differs from the bank"),
    "check_outdated": _("not imported, the bank has changed since the check"),
    "shifted": _("questions get the texts of others"),
    "missing_items": _("questions of the bank are missing"),
    "repair_overtaken": _("a repair counts no more"),
    "rubric_overtaken": _("an accepted rubric counts no more"),
    "rubric_of_earlier_text": _("the accepted rubric is of an earlier text"),
    "image_name": _("invalid image name"),
    "image_svg": _("an SVG, which can carry scripts"),
    "image_missing": _("missing image"),
    "image_not_listed": _("image not listed"),
    "image_content": _("not a PNG, JPEG or WebP image"),
    "image_too_large": _("the image is too large"),
    "image_changed": _("a different image with this name is in the bank"),
    "key_outside_letters": _("the answer key is not among the options"),
    "several_letters": _("several answer keys where one is expected"),
    "key_count": _("answer keys and sub-questions differ in number"),
    "rubric_sum": _("the rubric does not add up to the full marks"),
    "text_cleaned": _("a character that the database cannot store was replaced"),
    "both_streams": _("for both mathematics streams, no subject yet"),
    "prompts_file": _("prompt texts, skipped"),
    "summary_file": _("a summary, skipped"),
    "answers_file": _("responses of a model, skipped"),
    "not_of_the_benchmark": _("not part of this benchmark, skipped"),
    "not_read": _("not read by this source, skipped"),
    "empty_key": _("the answer key is empty"),
    "options_reordered": _("the options were sorted"),
    "option_letters": _("the option letters were set by position"),
    "label_cleaned": _("characters around the answer key were removed"),
    "link_leads_out": _("a link that leads out of the folder"),
    "not_an_array": _("not a JSON list"),
    "broken_csv": _("broken CSV"),
    "broken_literal": _("a value that cannot be read"),
    "category_odd": _("an unusual paper name"),
    "unknown_knowledge": _("a knowledge point that is not in the taxonomy"),
    "unknown_task": _("an unknown task, skipped"),
    "unknown_keyword": _("an unknown keyword, skipped"),
    "level_differs": _("the level does not match the human rate"),
    "branch_differs": _("the ability branch does not match the knowledge point"),
    "questions_file": _("questions, skipped"),
    "no_model": _("the model is not stated"),
    "no_judge": _("the judge model is not stated"),
    "repeated_row": _("duplicate response"),
    "unmatched": _("the question is not in the bank"),
    "other_question": _("the row belongs to another question"),
    "other_task": _("the file belongs to another task"),
    "no_task": _("the task is not stated, skipped"),
    "bad_name": _("a name that can pass for another"),
    "similar_name": _("a name almost like a known one"),
    "different_text": _("a different text of this response is in the bank"),
    "different_marks": _("different marks for this response are in the bank"),
    "different_reply": _("a different reply of the judge model is in the bank"),
    "released_differs": _("differs from the published total"),
    "unmarked": _("no mark"),
    "over_full_marks": _("more than full marks"),
    "below_zero": _("a mark below zero"),
    "no_total": _("no total in the reply"),
    "several_totals": _("several totals in the reply"),
    "unclear_total": _("an unclear total in the reply"),
    "wrong_denominator": _("a total with different full marks"),
    "refused": _("the judge model refused"),
    "truncated": _("the reply is cut off"),
}
# What a finished import of questions or answers has written, if it has written anything.
NEW = ("new", "changed", "responses", "marks", "judgements")


@register.filter
def import_state(batch: ImportBatch) -> tuple[Words, str]:
    """Text and colour of the pill of an import."""
    if batch.status == ImportStatus.WORKING:
        running = _("checking") if batch.confirmed_at is None else _("importing")
        return running, "green"
    if batch.status == ImportStatus.CHECKED and not getattr(batch, "some_taken", True):
        return _("nothing imported"), "amber"
    if batch.status == ImportStatus.DONE and not any(batch.counts.get(key) for key in NEW):
        return (
            (_("nothing new"), "") if batch.counts.get("same") else (_("nothing imported"), "amber")
        )
    return STATES[batch.status]


@register.filter
def source_name(reader: str) -> Words:
    """What a source is called; itself where unknown."""
    return dict(SOURCES).get(reader, reader)


@register.filter
def problem_words(code: str) -> Words:
    """What a problem is called; its code with blanks where unknown."""
    return PROBLEMS.get(code, code.replace("_", " "))


@register.filter
def problem_sentence(text: str) -> str | None:
    """The sentence of a problem in the reader's language; None where it is not known."""
    return problem_sentences.problem_sentence(text)


@register.filter
def count_name(key: str) -> Words:
    """What a count of an import is called; its key with blanks where unknown."""
    return COUNTS.get(key, key.replace("_", " "))
