"""The sentences of imports in the reader's language.

An importer says what it found in one English sentence for logs and JSON, with names
and numbers in it. A page finds the sentence's pattern here, and says it again in its
own language with the same names and numbers. ``tests/questions/test_problem_sentences.py``
holds the patterns to what the importers say.
"""

from __future__ import annotations

import re
from functools import cache

from django.utils import translation
from django.utils.translation import gettext_noop as _

# A value called "rest" is a sentence itself; each other value is a name, a number, or of VALUES.
PATTERNS = (
    _("Item %(row)s: %(rest)s"),
    _("Row %(row)s, %(task)s: %(rest)s"),
    _("Row %(row)s (%(place)s): %(rest)s"),
    _("Row %(row)s: %(rest)s"),
    # Files.
    _("The folder holds no %(kind)s."),
    _("The folder holds no %(kind)s file."),
    _("The folder %(name)s holds no %(kind)s file."),
    _("The file cannot be read: %(reason)s."),
    _("%(name)s cannot be read: %(reason)s."),
    _("%(name)s is a link that leads out of the folder."),
    _("%(name)s holds no question."),
    _("The file holds no answer."),
    _("The file is larger than %(size)s MB."),
    _("The file holds prompt texts; it was passed over."),
    _("The file is a summary of scores; it was passed over."),
    _("The file is not one of GAOKAO-Bench; it was passed over."),
    _("The file holds a model's answers, not questions; it was passed over."),
    _("The file holds questions, not answers; it was passed over."),
    _("The file is a list, and its name does not say the task as in %(name)s; it was passed over."),
    _("The file does not say which model answered; name it with --model."),
    _("The file does not name the judge in %(key)s."),
    _("Nothing is known of files called %(name)s; it was passed over."),
    _("This source does not read files of this kind or in this folder; it was passed over."),
    _("AGIEval has no task called %(name)s; the file was passed over."),
    _("AGIEval has no such task."),
    _("The keyword is not a text."),
    _("The keyword %(name)s stands in %(file)s already."),
    _("Reading stopped after %(n)s problems."),
    # JSON and CSV.
    _("The file is not a table of text (CSV in UTF-8, UTF-16 or GB18030)."),
    _("The first row must name the columns; missing: %(names)s."),
    _("The row has more cells than the first row names."),
    _("The table has more than %(n)s columns."),
    _("The table has more than %(n)s rows."),
    _("The column “%(name)s” stands twice."),
    _("There is no column “%(name)s”; columns are: %(known)s."),
    _("“%(value)s” in the column %(name)s is not a whole number."),
    _("The line is longer than %(size)s MB."),
    _("The line is longer than %(size)s kB."),
    _("The line is not a JSON object in braces."),
    _("The file is not a JSON object in braces."),
    _("The file is not a JSON list in square brackets."),
    _("The line is not UTF-8 text."),
    _("The file is not UTF-8 text."),
    _("The line is not JSON: %(fault)s at column %(column)s."),
    _("The file is not JSON: %(fault)s at line %(line)s."),
    _("The line is not JSON: a text is not closed, from column %(column)s on."),
    _("The file is not JSON: a text is not closed, from line %(line)s on."),
    _("The line holds more than 2 million values."),
    _("The file holds more than 2 million values."),
    _("The line nests deeper than %(n)s levels."),
    _("The file nests deeper than %(n)s levels."),
    _("The sample nests deeper than %(n)s levels."),
    _("The key %(key)s stands twice in one object."),
    _("The key %(key)s holds a character without text."),
    _("%(name)s is not a number that JSON knows."),
    _("The number %(number)s is too large or too small."),
    _("A number has %(n)s digits and signs."),
    _("The file holds NUL characters."),
    _("Row %(row)s is not CSV: %(fault)s."),
    _("The rows have different numbers of columns."),
    _("Row %(row)s is called %(name)s, neither a sample nor an explanation."),
    _("The sample is longer than %(n)s characters."),
    _("The sample is no Python literal."),
    _("The sample is not a dictionary."),
    # Keys and values.
    _("This is not an object in braces."),
    _("Item %(row)s is not an object in braces."),
    _("The key %(key)s is not part of the format."),
    _("The key %(key)s is missing."),
    _("The key %(key)s is missing or empty."),
    _("%(key)s is missing."),
    _("%(key)s is missing or empty."),
    _("%(key)s is empty."),
    _("The value of %(key)s is empty."),
    _("The value of %(key)s must be %(wanted)s."),
    _("%(key)s is not a text."),
    _("%(key)s is not a number."),
    _("%(key)s is not a year."),
    _("%(key)s is not a list."),
    _("%(key)s is not a list of items."),
    _("%(key)s is not a list of letters."),
    _("%(key)s is not a list of one or two marks."),
    _("%(key)s is not a whole number from 0."),
    _("%(key)s holds something that is not a letter."),
    _("%(key)s holds more than the name of a paper."),
    _("%(key)s is longer than %(n)s characters."),
    _("%(key)s must be a name without outer spaces and control characters."),
    _("%(key)s of question %(id)s must not contain invisible or control characters."),
    _("%(key)s must not contain invisible or control characters."),
    _("A word of %(key)s must not mix letters of scripts that look alike."),
    _("%(key)s must be the offered capital letters, like ABCD."),
    _("%(key)s must be over %(n)s."),
    _("%(key)s must be at least %(n)s."),
    _("%(key)s must be at most %(n)s."),
    _("%(key)s has more than %(n)s decimals."),
    _("%(key)s must be small letters, digits and single hyphens."),
    _("%(key)s is %(value)s; it must be one of: %(known)s."),
    _("%(key)s is %(value)s; it must be capital letters."),
    _("%(key)s is %(value)s, not a per cent up to 100%% with at most 2 decimals."),
    _("%(key)s is %(value)s, none of the three."),
    _("%(key)s must lie between %(low)s and %(high)s."),
    _("%(key)s must hold %(low)s to %(high)s options."),
    _("A score is over 0 and at most %(most)s, not %(score)s."),
    _("A mark has at most two decimals, not %(mark)s."),
    _("Item %(row)s held a character that no database stores; it was replaced."),
    _("A character that no database stores was replaced; the original is kept."),
    _("A character that no database stores was replaced."),
    _("The line holds a character that no database stores."),
    # Questions.
    _("Index %(index)s stands twice."),
    _("Question %(id)s stands in %(place)s already."),
    _("This answer stands in %(place)s already."),
    _("Two examples of the task have the same number."),
    _("%(n)s items are of papers for both mathematics streams and have no subject."),
    _("options must hold one text for each of the letters."),
    _("A marked question takes reference_answer, not answer or letters."),
    _("Each answer must be sorted capital letters, like BD."),
    _("An answer holds something that is not a letter."),
    _("An exact answer has no letters."),
    _("A question of the type %(kind)s has one sub-question."),
    _("The label holds %(odd)s; only its letters were taken."),
    _("The options stood as %(letters)s; they were put in order."),
    _("The options are lettered %(letters)s; their places were taken instead."),
    _("Key %(n)s is empty."),
    _("Key %(n)s is %(key)s, offered are %(letters)s."),
    _("Key %(n)s is %(key)s, but one letter is asked for."),
    _("The key is empty."),
    _("There are %(keys)s keys for %(marks)s sub-questions."),
    _("The rubric of sub-question %(sub)s gives %(given)s of %(full)s points."),
    _("A scoring point names a group that is not there."),
    _("A scoring point is of another sub than its group."),
    _("The knowledge is not of the published taxonomy."),
    _("The bank has no knowledge called %(name)s."),
    _("The level is %(level)s, the human rate is that of level %(other)s."),
    _("The branch is %(branch)s, the knowledge is of another."),
    _("Question %(id)s of %(task)s differs in: %(fields)s."),
    _("The bank has changed since the check: confirm again what the file changes now."),
    _(
        "%(n)s of %(of)s changed questions of %(task)s get the text of another question, %(id)s "
        "that of %(other)s: the file seems shifted."
    ),
    _(
        "%(n)s of %(of)s changed questions of %(task)s get the text of another question, %(id)s "
        "that of %(other)s: the file seems shifted. "
        "It is imported only if shifted files are allowed."
    ),
    _(
        "Questions of %(task)s that the bank has and the file lacks: %(n)s (%(names)s). "
        "They stay as they are."
    ),
    _(
        "What a person corrected in question %(id)s of %(task)s counts no more, "
        "as the source counts: %(fields)s."
    ),
    _(
        "The rubric that a person accepted for question %(id)s of %(task)s counts no more, "
        "as the source brings another."
    ),
    _("The accepted rubric of question %(id)s of %(task)s was written for another text or key."),
    _("%(key)s of question %(id)s is over %(n)s long."),
    _("Question %(id)s is worth more than the bank can hold."),
    # Images.
    _("The image %(name)s is not in 'images'."),
    _("The image %(name)s is an SVG, which can carry scripts."),
    _("%(name)s is not a plain PNG, JPEG or WebP file name."),
    _("%(name)s is not in the folder 'images'."),
    _("The image %(name)s is not in the images folder."),
    _("The image %(name)s is larger than 5 MB."),
    _("The image %(name)s is broken: its picture cannot be decoded."),
    _("The image %(name)s has more than 40 million pixels."),
    _("The image %(name)s takes too much memory or time to decode."),
    _("The image %(name)s does not hold a PNG, JPEG or WebP picture."),
    _("The image %(name)s holds a %(kind)s picture."),
    _("The bank has another image called %(name)s; give this one a new name."),
    # Answers, marks and judgements.
    _(
        "Item %(row)s repeats index %(index)s of item %(first)s with the same content; "
        "it does not count."
    ),
    _(
        "Item %(row)s repeats index %(index)s of item %(first)s with another content; "
        "it does not count."
    ),
    _("the bank has no question %(place)s."),
    _("its question and its key are not those of %(place)s; it does not count."),
    _(
        "%(n)s of %(of)s rows hold other questions than the bank has for %(task)s: "
        "the answers are stored under a wrong name, and the file is refused."
    ),
    _(
        "the bank has another text of %(model)s for %(place)s, repeat %(repeat)s; "
        "it stays, and this row does not count."
    ),
    _("there is a model “%(known)s”; “%(name)s” differs from it only in case, width or spaces."),
    _(
        "%(model)s has a condition “%(known)s”; "
        "“%(name)s” differs from it only in case, width or spaces."
    ),
    _("the bank has other marks of this answer; they stay."),
    _("the bank has another reply of %(judge)s; it stays."),
    _("no teacher gave a mark."),
    _("a mark of %(mark)s is above the full %(full)s."),
    _("a mark of %(mark)s is below zero."),
    _("the judge's reply has no possible total of %(full)s (%(status)s); released: %(released)s."),
    _("the judge's reply says %(total)s; released: %(released)s."),
)
# Values that are English words.
VALUES = (
    _("a text"),
    _("a whole number"),
    _("a list"),
    _("a list of texts"),
    _("a number"),
    _("an object"),
    _("one value"),
    _("a letter or a list of letters"),
    _("unknown reason"),
    _("Expecting value"),
    _("Expecting ',' delimiter"),
    _("Expecting ':' delimiter"),
    _("Expecting property name enclosed in double quotes"),
    _("Unterminated string starting"),
    _("Invalid control character"),
    _("Extra data"),
)
NUMBERS = {"row": "[0-9]+"}
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((pattern, _expression(pattern)) for pattern in PATTERNS)


def _expression(pattern: str) -> re.Pattern[str]:
    literal_then_name = _PLACEHOLDER.split(pattern.replace("%%", "%"))
    parts = [
        f"(?P<{part}>{NUMBERS.get(part, '.+?')})" if place % 2 else re.escape(part)
        for place, part in enumerate(literal_then_name)
    ]
    return re.compile("".join(parts), re.DOTALL)


def problem_sentence(text: str) -> str | None:
    """*text* in the reader's language; None where no pattern says it.

    English readers get the sentence itself.
    """
    if (translation.get_language() or "en").startswith("en"):
        return text
    for pattern, expression in _compiled():
        match = expression.fullmatch(text)
        if match and (values := _values(match.groupdict())) is not None:
            return translation.gettext(pattern) % values
    return None


def _values(found: dict[str, str]) -> dict[str, str] | None:
    """The values in the reader's language; None where the sentence among them is not known."""
    values = {
        key: translation.gettext(value) if value in VALUES else value
        for key, value in found.items()
    }
    if "rest" not in values:
        return values
    rest = problem_sentence(values["rest"])
    return None if rest is None else values | {"rest": rest}
