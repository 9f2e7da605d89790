"""What is wrong with a rubric or a file of rubrics, in one sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gradeapp.common.plain_number import plain
from gradeapp.common.strict_json import JsonRefusal
from questions.rules.rubric import Finding, RubricFault
from questions.rules.rubric_files import FileFault, FileRefusal
from questions.selectors.problem_sentences import problem_sentence

RUBRIC_SENTENCES: Mapping[RubricFault, Promise] = {
    RubricFault.EMPTY: gettext_lazy("The rubric has no scoring point."),
    RubricFault.TOO_LONG: gettext_lazy("The rubric has more than %(most)s scoring points."),
    RubricFault.POINT_WITHOUT_TEXT: gettext_lazy("Scoring point %(point)s has no text."),
    RubricFault.POINT_TEXT_TOO_LONG: gettext_lazy(
        "The text of scoring point %(point)s is longer than %(most)s characters."
    ),
    RubricFault.POINT_PICTURE_UNKNOWN: gettext_lazy(
        "Scoring point %(point)s shows the picture “%(name)s”, which the question does not have."
    ),
    RubricFault.POINT_OUT_OF_RANGE: gettext_lazy(
        "Scoring point %(point)s needs points above 0, at most %(most)s, with two decimals."
    ),
    RubricFault.POINT_NOT_A_STEP: gettext_lazy(
        "Scoring point %(point)s: %(points)s is not a multiple of %(step)s."
    ),
    RubricFault.POINT_SUB_UNKNOWN: gettext_lazy(
        "Scoring point %(point)s refers to sub-question %(sub)s, but the question "
        "has only %(subs)s."
    ),
    RubricFault.POINT_GROUP_UNKNOWN: gettext_lazy(
        "Scoring point %(point)s refers to group %(group)s, which does not exist."
    ),
    RubricFault.POINT_OUTSIDE_GROUP_SUB: gettext_lazy(
        "Scoring point %(point)s and its group %(group)s belong to different sub-questions."
    ),
    RubricFault.GROUP_TEXT_TOO_LONG: gettext_lazy(
        "The text of group %(group)s is longer than %(most)s characters."
    ),
    RubricFault.GROUP_CAP_OUT_OF_RANGE: gettext_lazy(
        "The cap of group %(group)s must be above 0, at most %(most)s, with two decimals."
    ),
    RubricFault.GROUP_CAP_NOT_A_STEP: gettext_lazy(
        "Group %(group)s: the cap %(cap)s is not a multiple of %(step)s."
    ),
    RubricFault.GROUP_WITHOUT_POINTS: gettext_lazy("Group %(group)s has no scoring point."),
    RubricFault.GROUP_CHOOSES_TOO_MANY: gettext_lazy(
        "Group %(group)s counts the best %(choose)s, but has only %(points)s scoring points."
    ),
    RubricFault.GROUP_CAP_ABOVE_POINTS: gettext_lazy(
        "Group %(group)s: its scoring points give at most %(sum)s, but its cap is %(cap)s."
    ),
    RubricFault.SUB_SUM_DIFFERS: gettext_lazy(
        "Sub-question %(sub)s: the scoring points add up to %(sum)s, full marks are %(full)s."
    ),
}
FILE_SENTENCES: Mapping[FileFault, Promise] = {
    FileFault.TOO_LARGE: gettext_lazy("The file is larger than %(most)s MB."),
    FileFault.TOO_LONG: gettext_lazy("The file has more than %(most)s rows."),
    FileFault.NOT_TEXT: gettext_lazy("The file is not text in UTF-8, UTF-16 or GB18030."),
    FileFault.NOT_CSV: gettext_lazy("Quotes or commas do not match here."),
    FileFault.NO_RUBRIC: gettext_lazy("The file contains no rubric."),
    FileFault.UNKNOWN_COLUMN: gettext_lazy("The column %(name)s is unknown or appears twice."),
    FileFault.MISSING_COLUMN: gettext_lazy("The column %(name)s is missing."),
    FileFault.ROW_LENGTH: gettext_lazy(
        "Cells in this row: %(cells)s. Columns in the first row: %(columns)s."
    ),
    FileFault.BAD_CHARACTER: gettext_lazy(
        "The text contains a character that the database cannot store."
    ),
    FileFault.EMPTY_CELL: gettext_lazy("%(name)s is empty."),
    FileFault.NOT_A_NUMBER: gettext_lazy("%(name)s is not a number."),
    FileFault.NOT_WHOLE: gettext_lazy("%(name)s is not a whole number from 1 to 999."),
    FileFault.GROUP_DIFFERS: gettext_lazy(
        "Group %(group)s has a different cap, choice or text in an earlier row."
    ),
    FileFault.CAP_WITHOUT_GROUP: gettext_lazy("cap, choose and group_text need a number in group."),
    FileFault.ITEM_TWICE: gettext_lazy("Question %(name)s appears twice in the file."),
}


def in_words(finding: Finding) -> str:
    """One sentence about one fault of a rubric."""
    params = {
        name: plain(value) if isinstance(value, Decimal) else value
        for name, value in finding.params.items()
    }
    return str(RUBRIC_SENTENCES[finding.code]) % params


def refused_file(file: str, refusal: FileRefusal | JsonRefusal) -> str:
    """One sentence that names the file, the row where there is one, and the reason."""
    if isinstance(refusal, FileRefusal):
        sentence = str(FILE_SENTENCES[refusal.code]) % refusal.params
    else:
        sentence = problem_sentence(refusal.text) or refusal.text
    return at_row(file, refusal.row, sentence)


def at_row(file: str, row: int | None, sentence: str) -> str:
    """*sentence* behind the place it speaks of."""
    if row is None:
        return _("%(file)s: %(sentence)s") % {"file": file, "sentence": sentence}
    return _("%(file)s, row %(row)s: %(sentence)s") % {
        "file": file,
        "row": row,
        "sentence": sentence,
    }
