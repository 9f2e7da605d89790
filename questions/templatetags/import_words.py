"""States and problems of imports as people read them."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

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
SOURCES = {
    "gaokao-bench": "GAOKAO-Bench",
    "agieval": "AGIEval",
    "agibench": "AGIBench",
    "jsonl": _("Our own format (JSONL)"),
}
COUNTS = {
    "read": _("Items read"),
    "new": _("New"),
    "same": _("Same"),
    "changed": _("Changed"),
    "quarantined": _("Quarantined"),
    "responses": _("Responses"),
    "marks": _("Marks"),
    "judgements": _("Judgements"),
    "prompt_tokens": _("Tokens asked"),
    "completion_tokens": _("Tokens answered"),
    "unmatched": _("Unmatched"),
    "skipped": _("Files passed over"),
}
# What a problem is called; its sentence, with names and numbers, stands below it.
PROBLEMS: dict[str, Words] = {
    "no_files": _("no file to read"),
    "unreadable": _("cannot be read"),
    "empty": _("holds no question"),
    "file_too_large": _("the file is too large"),
    "too_many_problems": _("too many problems"),
    "broken_json": _("broken JSON"),
    "not_an_object": _("no JSON object"),
    "not_utf8": _("no UTF-8 text"),
    "line_too_long": _("the line is too long"),
    "too_deep": _("nested too deep"),
    "duplicate_key": _("one key twice"),
    "bad_key": _("a key that cannot be stored"),
    "not_a_number": _("no number"),
    "number_out_of_range": _("a number out of range"),
    "unknown_key": _("an unknown key"),
    "missing_key": _("a key is missing"),
    "wrong_type": _("a value of another type"),
    "bad_value": _("a value that is not allowed"),
    "too_long": _("a text that is too long"),
    "too_many_points": _("more points than the bank can hold"),
    "duplicate_id": _("one question twice"),
    "duplicate_keyword": _("one keyword twice"),
    "changed_item": _("differs from the bank"),
    "image_name": _("no plain image name"),
    "image_svg": _("an SVG, which can carry scripts"),
    "image_missing": _("the image is not there"),
    "image_not_listed": _("the image is not listed"),
    "image_content": _("no PNG, JPEG or WebP picture"),
    "image_too_large": _("the image is too large"),
    "image_changed": _("another image of this name is in the bank"),
    "key_outside_letters": _("the key is not on offer"),
    "several_letters": _("several keys where one is asked for"),
    "key_count": _("keys and sub-questions differ in number"),
    "rubric_sum": _("the rubric does not add up to the marks"),
    "text_cleaned": _("a character that no database stores was replaced"),
    "both_streams": _("for both mathematics streams, no subject yet"),
    "prompts_file": _("prompt texts, passed over"),
    "summary_file": _("a summary, passed over"),
    "answers_file": _("a model's answers, passed over"),
    "not_of_the_benchmark": _("not of this benchmark, passed over"),
    "empty_key": _("the key is empty"),
    "options_reordered": _("the options were put in order"),
    "option_letters": _("the letters of the options were set by their places"),
    "label_cleaned": _("signs around the key were left out"),
    "link_leads_out": _("a link that leads out of the folder"),
    "not_an_array": _("no JSON list"),
    "broken_csv": _("broken CSV"),
    "broken_literal": _("a value that cannot be read"),
    "category_odd": _("an odd paper name"),
    "unknown_knowledge": _("a knowledge that is not in the taxonomy"),
    "unknown_task": _("an unknown task, passed over"),
    "unknown_keyword": _("an unknown keyword, passed over"),
    "level_differs": _("the level does not fit the human rate"),
    "branch_differs": _("the ability branch does not fit the knowledge"),
    "questions_file": _("questions, passed over"),
    "no_model": _("the model is not named"),
    "no_judge": _("the judge is not named"),
    "repeated_row": _("one answer twice"),
    "unmatched": _("the question is not in the bank"),
    "other_question": _("the row is another question's"),
    "other_task": _("the file is another task's"),
    "no_task": _("the task is not named, passed over"),
    "different_text": _("another text of this answer is in the bank"),
    "different_marks": _("other marks of this answer are in the bank"),
    "different_reply": _("another reply of the judge is in the bank"),
    "released_differs": _("the released total is another"),
    "unmarked": _("no mark"),
    "over_full_marks": _("more than full marks"),
    "below_zero": _("a mark below zero"),
    "no_total": _("no total in the reply"),
    "several_totals": _("several totals in the reply"),
    "unclear_total": _("an unclear total in the reply"),
    "wrong_denominator": _("a total of other full marks"),
    "refused": _("the judge refused"),
    "truncated": _("the reply is cut off"),
}
# What a finished import of questions or answers has written, if it has written anything.
NEW = ("new", "changed", "responses", "marks", "judgements")


@register.filter
def import_state(batch: ImportBatch) -> tuple[Words, str]:
    """Text and colour of the pill of an import."""
    if batch.status == ImportStatus.WORKING:
        running = _("being checked") if batch.confirmed_at is None else _("being imported")
        return running, "green"
    if batch.status == ImportStatus.CHECKED and not getattr(batch, "some_taken", True):
        return _("nothing taken"), "amber"
    if batch.status == ImportStatus.DONE and not any(batch.counts.get(key) for key in NEW):
        return (_("nothing new"), "") if batch.counts.get("same") else (_("nothing taken"), "amber")
    return STATES[batch.status]


@register.filter
def source_name(reader: str) -> Words:
    """What a source is called; itself where unknown."""
    return SOURCES.get(reader, reader)


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
