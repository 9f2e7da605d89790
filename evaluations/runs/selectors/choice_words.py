"""The choice of questions of a run or a study in words, as the person made it."""

from __future__ import annotations

from urllib.parse import parse_qsl

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluations.models import Run, Study
from evaluations.runs.rules.question_choice import QuestionChoice, read_choice
from gradeapp.accounts.models import User
from gradeapp.common.choices import label
from questions.forms.filter_chips import chips
from questions.forms.filters import QuestionFilter
from questions.rules.vocabulary import Part, Subject
from questions.selectors.bank import views_of
from questions.templatetags.names import task_name

# A label and what was chosen.
Row = tuple[str, str]


def chosen_of(run: Run | Study) -> list[Row]:
    """Return the choice of *run*; of one from before choices were stored, its limit."""
    if isinstance(run, Study):
        return choice_rows(read_choice(run.choice), run.created_by)
    settings = run.run_settings
    stored = settings.get("choice", {"limit": settings.get("limit")})
    return choice_rows(read_choice(stored), run.created_by)


def choice_rows(choice: QuestionChoice, chosen_by: User | None) -> list[Row]:
    """Return *choice* as rows of label and words: filters first, then what was drawn of them.

    Filters of the bank that are a saved view of *chosen_by* are named by it too.
    """
    rows: list[Row] = []
    if choice.tasks:
        rows.append((_("Tasks"), _listed([task_name(slug) for slug in choice.tasks])))
    if choice.subjects:
        rows.append((_("Subjects"), _listed([label(Subject, one) for one in choice.subjects])))
    if choice.part:
        rows.append((_("Part"), label(Part, choice.part)))
    if choice.years:
        first, last = choice.years
        rows.append((_("Years"), str(first) if first == last else f"{first}–{last}"))
    if choice.ids:
        n = len(choice.ids)
        words = ngettext("%(n)d question by its id", "%(n)d questions by their ids", n)
        rows.append((_("Questions"), words % {"n": n}))
    if choice.query:
        rows += _filters(choice.query, chosen_by)
    return [*rows, *_drawn(choice)] or [(_("Questions"), _("all of the dataset"))]


def _filters(query: str, chosen_by: User | None) -> list[Row]:
    """Return the filters of the bank in *query*."""
    wanted = _without_order(query)
    views = views_of(chosen_by) if chosen_by is not None else ()
    rows = [(_("Saved view"), view.name) for view in views if _without_order(view.query) == wanted]
    filters = QuestionFilter(wanted)
    if not filters.form.is_valid():  # an entry of the bank is gone since
        return [*rows, (_("Filters of the bank"), query)]
    return [*rows, *((chip.label, chip.shown) for chip in chips(filters))]


def _drawn(choice: QuestionChoice) -> list[Row]:
    """Return what is taken of the questions that the filters leave."""
    rows: list[Row] = []
    seed = _("random seed %(seed)s") % {"seed": choice.random_seed}
    if choice.sample is not None:
        words = [_("%(n)s questions") % {"n": choice.sample}, seed]
        if choice.stratified_by:
            by = {"task": _("task"), "subject": _("subject"), "year": _("year")}
            words.append(_("stratified by %(what)s") % {"what": by[choice.stratified_by]})
        rows.append((_("Random sample"), " · ".join(words)))
    if choice.limit is not None:
        words = [str(choice.limit), _("spread evenly over the tasks")]
        rows.append((_("Maximum number of questions"), " · ".join(words)))
    if choice.trial is not None:
        words = [
            _("%(n)s questions") % {"n": choice.trial},
            _("drawn over all tasks and subjects"),
            seed,
        ]
        rows.append((_("Trial"), " · ".join(words)))
    return rows


def _without_order(query: str) -> dict[str, str]:
    given = dict(parse_qsl(query))
    return {name: value for name, value in given.items() if name not in ("sort", "page")}


def _listed(words: list[str]) -> str:
    return _(", ").join(words)
