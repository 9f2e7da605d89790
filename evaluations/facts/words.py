"""Texts for pages: the reasons, subjects and markers of figures."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluations.statistics.number_text import POINTS, number_text
from evaluations.statistics.tally import ALL
from gradeapp.common.choices import label
from questions.rules.vocabulary import Part, Subject

MOST_NAMED = 3
SUBJECTS_OF_A_STREAM = 6

REASONS = {
    "no_data": gettext_lazy("nothing scored yet"),
    "no_responses": gettext_lazy("no model has answered questions of this dataset yet"),
    "none_chosen": gettext_lazy("there are responses, but none that these filters choose"),
    "no_years": gettext_lazy("no question of this dataset has a year"),
    "no_objective_responses": gettext_lazy("no response to an objective question"),
    "no_mark_pairs": gettext_lazy(
        "no response has marks of two teachers, or of teachers and a judge model"
    ),
    "no_judged_pairs": gettext_lazy("no response has marks of teachers and of a judge model"),
    "no_settings": gettext_lazy("no response was asked under a known prompt setting"),
    "no_two_settings": gettext_lazy("no model was asked under two prompt settings"),
    "no_human_rate": gettext_lazy("no human rate known"),
    "missing_rows": gettext_lazy("a row has no value"),
    "too_few": gettext_lazy("too few responses"),
    "too_few_pairs": gettext_lazy("too few pairs"),
    "no_variance": gettext_lazy("the marks vary too little"),
    "too_few_repeats": gettext_lazy("only one repeat"),
    "only_two_repeats": gettext_lazy("needs three repeats"),
    "no_answers": gettext_lazy("the answer is not known"),
    "no_answered": gettext_lazy("no question was answered in every repeat"),
    "no_marks": gettext_lazy("no mark yet"),
    "no_times": gettext_lazy("no times known"),
    "no_partner": gettext_lazy("no response with another mark yet"),
    "no_final": gettext_lazy("no final mark yet"),
    "no_third": gettext_lazy("no marks that could lead to a third mark"),
    "no_seeds": gettext_lazy("no seed answer marked"),
    "no_repeats": gettext_lazy("no intra-rater check marked"),
    "scored": gettext_lazy("total extracted"),
    "over_full_marks": gettext_lazy("the total is above the full marks"),
    "below_zero": gettext_lazy("the total is below 0"),
    "several_totals": gettext_lazy("several totals in one reply"),
    "unclear_total": gettext_lazy("the total cannot be parsed"),
    "wrong_denominator": gettext_lazy("the total refers to different full marks"),
    "no_total": gettext_lazy("the reply gives no total"),
    "empty": gettext_lazy("the reply is empty"),
    "refused": gettext_lazy("the judge model refused"),
    "truncated": gettext_lazy("the reply was cut off"),
    "no_content": gettext_lazy("the response has no content; it was not sent"),
    "oversize": gettext_lazy("the response is too long; it was not sent"),
    "steps_do_not_add_up": gettext_lazy("the partial marks do not add up to the total"),
    "hidden_text": gettext_lazy("the response contains hidden text"),
    "instructions": gettext_lazy("the response seems to speak to the marker"),
    "other_model": gettext_lazy("another model answered than was asked"),
    "points_differ": gettext_lazy("the points do not add up to the total"),
    "points_unclear": gettext_lazy("the points are not those of the rubric"),
    "quote_not_found": gettext_lazy("a quoted text is not in the response"),
    "judge_suspended": gettext_lazy("the judge model is suspended: it failed its check"),
    "total_repeated": gettext_lazy("the total is given twice"),
    "read_from_wording": gettext_lazy("the total was inferred from the wording"),
    "unmarked": gettext_lazy("not marked by teachers yet"),
    "not_judged": gettext_lazy("not marked by the judge model yet"),
    "key_repaired": gettext_lazy("the answer key was corrected; rescoring needed"),
    "no_published_rules": gettext_lazy("the benchmark has published no rules for this"),
    "not_published_prompts": gettext_lazy("not asked by the benchmark’s published prompts"),
    "no_key": gettext_lazy("the question has no answer key"),
    "no_images": gettext_lazy("the model takes no images"),
    "not_scored": gettext_lazy("not scored yet"),
    "not_loaded": gettext_lazy("no answers of this model are loaded"),
    "not_printed": gettext_lazy("the paper prints no figure"),
    "not_in_paper": gettext_lazy("the table of the paper has no such model"),
    "stated": gettext_lazy("a statement of the paper, not a measurement"),
    "not_answered": gettext_lazy("none of the questions is answered"),
    "partly_answered": gettext_lazy("some of the questions have no answer with points"),
    "own_run": gettext_lazy("the answers are of a run made here, not those of the paper"),
    "other_policy": gettext_lazy("scored under another policy than the paper’s"),
    "other_questions": gettext_lazy("the questions loaded are not exactly those of the paper"),
    "unexplained": gettext_lazy("no reason is known"),
    "no_questions": gettext_lazy("the questions are not loaded"),
    "no_teacher_marks": gettext_lazy("no teachers’ marks of this model are loaded"),
    "no_judge": gettext_lazy("no judge model has marked answers of this model"),
    "judge_without_criterion": gettext_lazy(
        "the judge model marked without the marking criterion;"
        " the paper’s marks with it were not released"
    ),
    "judge_with_criterion": gettext_lazy("the judge model marked with the marking criterion only"),
    "missing_parts": gettext_lazy("a part of the total has no answers or marks"),
    "missing_questions": gettext_lazy("the year has no questions of a part of the total"),
    "too_few_teachers": gettext_lazy("fewer than three teachers marked 30 responses with others"),
    "too_few_items": gettext_lazy("fewer than 30 responses per teacher"),
    "family_unknown": gettext_lazy("the family of a model is not known"),
    "other_family": gettext_lazy("the model is of another family than the judge model"),
    "no_other_family": gettext_lazy(
        "no question was also answered by a model of another family and marked by both"
    ),
    "without_judge": gettext_lazy("no judge model helps"),
    "strata_not_marked": gettext_lazy("a task has fewer than two marked questions"),
    "judge_unreadable": gettext_lazy("over 10 % of its replies have no total"),
    "judge_not_calibrated": gettext_lazy("its marks are not shown to follow those of teachers"),
    "no_pairs_of_teachers": gettext_lazy("no response here has marks of two teachers"),
    "not_judged_again": gettext_lazy("no response was judged twice"),
    "no_pairs": gettext_lazy("no response has marks of teachers and of this judge model"),
    "no_later_questions": gettext_lazy("no questions from after 2022 are loaded"),
    "no_objective_answers": gettext_lazy("no objective answers of this model are loaded"),
    "tasks_missing": gettext_lazy("not every task has answers with points"),
    "no_such_setting": gettext_lazy("no answers of this model under this setting"),
    "tokenizer_unknown": gettext_lazy("the paper does not say how tokens were counted"),
    "not_reviewed": gettext_lazy("no wrong answers of this model were reviewed"),
    "replies_not_released": gettext_lazy("the replies of the twelve models were not released"),
    "no_few_shot_trial": gettext_lazy("the examples of this trial were not released"),
    "quarantined": gettext_lazy("the question is quarantined"),
    "excluded": gettext_lazy("the question is excluded"),
}

SHORT = {
    Subject.SCIENCES_MATHEMATICS: gettext_lazy("Sci. Math"),
    Subject.HUMANITIES_MATHEMATICS: gettext_lazy("Hum. Math"),
}


def number_words(value: float, kind: str) -> str:
    """Return ``number_text`` with its unit in the language of the reader."""
    text = number_text(value, kind)
    return in_percentage_points(text.removesuffix(POINTS)) if text.endswith(POINTS) else text


def in_percentage_points(number: str) -> str:
    """Return the difference *number* of two per cents with its unit, such as "+1.5 pp"."""
    return _("%(number)s pp") % {"number": number}


def reason_words(code: str) -> str:
    """Return a reason in words; an unknown code is returned with spaces for underscores."""
    if code.startswith("missing:"):
        return _missing_words(code.removeprefix("missing:"))
    if code.startswith("no_questions_in:"):
        return _none_in(code.removeprefix("no_questions_in:"))
    if code.startswith("note:"):
        return _("see note %(id)s") % {"id": code.removeprefix("note:")}
    words = REASONS.get(code)
    return code.replace("_", " ") if words is None else str(words)


def _missing_words(places: str) -> str:
    """Return ``Physics/subjective,Biology/subjective`` as *no subjective marks in Physics, ...*."""
    by_part: dict[str, list[str]] = {}
    for place in places.split(","):
        subject, _slash, part = place.rpartition("/")
        by_part.setdefault(part, []).append(subject)
    return _("; ").join(_nothing_in(part, by_part[part]) for part in sorted(by_part))


def _none_in(places: str) -> str:
    """Return ``Chemistry/subjective`` as *there are no questions: Chemistry (subjective)*."""
    named = [place_name(place) for place in places.split(",")]
    return _("there are no questions: %(parts)s") % {"parts": _(", ").join(named)}


def place_name(place: str) -> str:
    """Return ``Chemistry/subjective`` as *Chemistry (subjective)*."""
    subject, _slash, part = place.rpartition("/")
    names = {"subject": label(Subject, subject), "part": label(Part, part).lower()}
    return _("%(subject)s (%(part)s)") % names


def _nothing_in(part: str, subjects: list[str]) -> str:
    """Return what is missing in one part; a whole stream is not listed by its subjects."""
    objective = part == Part.OBJECTIVE
    if len(subjects) == SUBJECTS_OF_A_STREAM:
        return _("no objective scores") if objective else _("no subjective marks")
    names = [label(Subject, subject) for subject in subjects]
    listed = _(", ").join(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        more = {"some": listed, "more": len(names) - MOST_NAMED}
        listed = _("%(some)s and %(more)s more") % more
    sentence = (
        _("no objective scores in %(subjects)s")
        if objective
        else _("no subjective marks in %(subjects)s")
    )
    return sentence % {"subjects": listed}


def subject_name(subject: str) -> str:
    """Return the name of a subject, of ``ALL`` or of no subject."""
    if subject == ALL:
        return _("All subjects")
    return label(Subject, subject) if subject else _("No subject")


def short_subject(subject: str) -> str:
    """Return the name of a subject for the head of a narrow column."""
    short = SHORT.get(subject)  # type: ignore[call-overload]
    return subject_name(subject) if short is None else str(short)


def marker_name(marker: str | None) -> str:
    """Return the name of a marker: the answer key, the teachers, or a judge."""
    if marker == "key":
        return _("answer key")
    if marker == "teachers":
        return _("teachers")
    if marker and marker.startswith("judge:"):
        return _("judge model %(name)s") % {"name": marker.removeprefix("judge:")}
    if marker == "estimate:teachers":
        return _("estimate: teachers’ sample alone")
    if marker and marker.startswith("estimate:judge:"):
        name = marker.removeprefix("estimate:judge:")
        return _("estimate: judge model %(name)s and teachers’ sample") % {"name": name}
    return _("none yet")
