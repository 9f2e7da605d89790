"""Read the parameters of reports from the toolbar and from URLs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from evaluations.facts.params import ReportParams
from evaluations.facts.words import marker_name, number_words
from evaluations.reports.rules.paper_behind import LATER, PRINTED
from evaluations.reports.selectors.report_choices import Choices
from evaluations.reports.selectors.reports import OF_A_PAPER, OF_SETTINGS
from evaluations.reports.selectors.rows_behind import Cell
from evaluations.statistics.cuts import CUT_KEYS
from evaluations.statistics.ledger import OUTCOMES
from evaluations.statistics.policies import Policy
from gradeapp.common.parameters import refuse_unknown
from gradeapp.common.refusals import BadInput
from gradeapp.common.table_files import FileFormat
from questions.forms.filters import named_choices
from questions.rules.vocabulary import Part

PARAMETERS = frozenset(
    {"dataset", "model", "condition", "run", "marker", "policy", "year", "round", "without_blind"}
)
YES = "yes"
FILE = frozenset({"bom"})
PAPER = frozenset({"paper"})
PAIR = frozenset({"subject", "pair"})
# Of the reports that have keys only.
BY = frozenset({"by"})
CELL = frozenset(
    {
        "subject",
        "part",
        "task",
        "outcome",
        "unscored",
        "cut",
        "files",
        "pattern",
        "rated",
        "complete",
    }
)


class ReportFilter(forms.Form):
    """The toolbar of the report page. Filters have defaults; unknown values are ignored."""

    # Parameters of the page that the form does not read.
    others = frozenset({"part", "whole"})

    dataset = forms.ChoiceField(label=gettext_lazy("Dataset"))
    model = forms.MultipleChoiceField(label=gettext_lazy("Models"), required=False)
    condition = forms.MultipleChoiceField(label=gettext_lazy("Conditions"), required=False)
    run = forms.MultipleChoiceField(label=gettext_lazy("Runs"), required=False)
    marker = forms.ChoiceField(label=gettext_lazy("Subjective points"))
    policy = forms.ChoiceField(label=gettext_lazy("Policy"))
    year = forms.TypedChoiceField(
        label=gettext_lazy("Year"), required=False, coerce=int, empty_value=None
    )

    round = forms.MultipleChoiceField(label=gettext_lazy("Rounds"), required=False)
    without_blind = forms.ChoiceField(
        choices=[
            ("", gettext_lazy("Asked blind: included")),
            (YES, gettext_lazy("Asked blind: left out")),
        ],
        label=gettext_lazy("Questions whose images the model did not get"),
        required=False,
    )

    def __init__(self, query: QueryDict, choices: Choices) -> None:
        self.defaults: dict[str, Any] = {
            "dataset": choices.dataset,
            "marker": choices.marker,
            "policy": Policy.STRICT.value,
        }
        data = query.copy()
        for name, value in self.defaults.items():
            data.setdefault(name, value)
        super().__init__(data, auto_id="report-%s")
        options: dict[str, list[tuple[str, str]]] = {
            "dataset": [(one.slug, one.name) for one in choices.datasets],
            "model": [(one.name, one.name) for one in choices.models],
            "condition": [(one.name, one.name) for one in choices.conditions],
            "run": [(str(one.pk), str(one.pk)) for one in choices.runs],
            "marker": _marker_options(choices),
            "policy": [
                (value, _("Policy: %(name)s") % {"name": name.lower()})
                for value, name in named_choices(Policy)
            ],
            "round": [(one.key, one.name) for one in choices.rounds],
            "year": [("", _("Year: all")), *((str(year), str(year)) for year in choices.years)],
        }
        for name, pairs in options.items():
            self.fields[name].choices = pairs  # type: ignore[attr-defined]
        if not choices.has_images and "without_blind" not in query:
            del self.fields["without_blind"]

    def params(self) -> ReportParams:
        """Return the valid filters, with defaults for the others.

        Models, conditions, runs, markers, years and rounds of another dataset are left out, since
        the dataset may just have been changed. Raises BadInput for a dataset, a policy or a name
        of a parameter that does not exist.
        """
        refuse_unknown(self.data, PARAMETERS | self.others)
        for name in ("dataset", "policy"):
            if name in self.errors and self.data[name]:
                known = ", ".join(str(value) for value, _name in self.fields[name].choices)
                raise _no_such(self.data[name], known)
        chosen = self.defaults | self.cleaned_data
        return ReportParams(
            dataset=chosen["dataset"],
            models=tuple(chosen.get("model", ())),
            conditions=tuple(chosen.get("condition", ())),
            runs=tuple(map(int, chosen.get("run", ()))),
            marker=chosen["marker"],
            policy=chosen["policy"],
            year=chosen.get("year"),
            rounds=tuple(chosen.get("round", ())),
            without_blind=chosen.get("without_blind") == YES,
        )


class CutFilter(ReportFilter):
    """The toolbar of the page of cuts."""

    others = BY | {"page"}


class SettingsFilter(ReportFilter):
    """The toolbar of the page of prompt settings."""

    others = BY


class YearsFilter(ReportFilter):
    """The toolbar of the page of years, which has them all."""

    others = frozenset()


def _marker_options(choices: Choices) -> list[tuple[str, str]]:
    if not choices.markers:
        text = _("Subjective: %(marker)s") % {"marker": marker_name(choices.marker)}
        return [(choices.marker, text)]
    words = _("Subjective: %(marker)s (%(n)s marked)")
    return [
        (
            one.name,
            words % {"marker": marker_name(one.name), "n": number_words(one.marked, "count")},
        )
        for one in choices.markers
    ]


def read_params(query: QueryDict, *, others: frozenset[str] = frozenset()) -> ReportParams:
    """Return the report parameters in *query*. Raises BadInput for unknown parameters.

    *others* are further parameters of the page; ``by`` may stand several times.
    """
    refuse_unknown(query, PARAMETERS | others)
    paper = query.get("paper", "")
    if not query.get("dataset") and not paper:
        raise BadInput(_("Specify the dataset, for example ?dataset=gaokao-bench."))
    year = query.get("year", "")
    if year and not (year.isascii() and year.isdigit() and len(year) == 4):
        raise BadInput(_("“%(year)s” is not a valid year.") % {"year": year})
    return ReportParams(
        dataset=query.get("dataset") or paper,
        models=tuple(query.getlist("model")),
        conditions=tuple(query.getlist("condition")),
        runs=tuple(dict.fromkeys(map(_run_number, query.getlist("run")))),
        marker=query.get("marker", ""),
        policy=query.get("policy", default_policy(paper)),
        by=",".join(query.getlist("by")),
        year=int(year) if year else None,
        rounds=tuple(dict.fromkeys(query.getlist("round"))),
        without_blind=_yes("without_blind", query.get("without_blind", "")),
        paper=paper,
    )


def keys_of(report: str) -> frozenset[str]:
    """Return the parameters that the report named *report* has beside those of all reports."""
    if report in ("cuts", "calibration", "settings", "gains"):
        return BY
    return PAPER if report == "paper-tables" else frozenset()


def table_query(query: QueryDict, table: str) -> QueryDict:
    """Return *query* as the export of *table* takes it: with the parameters that it has, alone.

    Cuts are by task unless ``by`` says otherwise; the tables of a paper are of its dataset.
    """
    made, keys = query.copy(), list(filter(None, query.getlist("by")))
    for name in BY | PAPER:
        made.pop(name, None)
    if table == "cuts":
        made.setlist("by", keys or ["task"])
    elif table in OF_SETTINGS and len(keys) == 1:
        made.setlist("by", keys)
    elif table in OF_A_PAPER:
        made["paper"] = query.get("paper") or query.get("dataset", "")
    return made


def default_policy(paper: str) -> str:
    """Return the policy of a report of *paper*: the printed figures follow the published rules."""
    return (Policy.PUBLISHED if paper else Policy.STRICT).value


def _yes(name: str, value: str) -> bool:
    """Return whether *value* is ``yes``. Raises BadInput for anything but that and nothing."""
    if value not in ("", YES):
        raise BadInput(_("The parameter %(name)s is “yes” or left out.") % {"name": name})
    return value == YES


def table_words() -> dict[str, str]:
    """Return the tables that can be exported, by name, as the form names them."""
    return {
        "responses": _("Responses, with all marks and judgements"),
        "scores": _("Scores"),
        "marks": _("Marks, every version"),
        "converted": _("Converted totals"),
        "rates": _("Scoring rates"),
        "agreement": _("Agreement"),
        "repeats": pgettext("report", "Repeats"),
        "cuts": _("Cuts"),
        "trend": _("Points by year"),
        "leakage": _("Newest year against earlier years"),
        "settings": _("Prompt settings"),
        "gains": _("Gains of prompt settings"),
        "ledger": _("Outcomes"),
        "retries": _("Repeated calls"),
        "calibration": _("Calibration of judge models"),
        "paper-tables": _("Tables of the papers"),
    }


class ExportForm(forms.Form):
    """Which table is written in which format; what it is about is in the URL."""

    table = forms.ChoiceField(label=gettext_lazy("Table"))
    file_format = forms.ChoiceField(
        label=gettext_lazy("Format"),
        choices=[
            (FileFormat.CSV.value, "CSV"),
            (FileFormat.XLSX.value, "Excel (XLSX)"),
            (FileFormat.PARQUET.value, "Parquet"),
            (FileFormat.JSONL.value, "JSON Lines"),
        ],
    )
    bom = forms.BooleanField(
        label=gettext_lazy("CSV for Excel"),
        help_text=gettext_lazy("Begins with a byte order mark, so that Excel shows Chinese."),
        required=False,
        initial=True,
    )

    def __init__(self, *args: Any, left_out: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tables = [(name, words) for name, words in table_words().items() if name not in left_out]
        self.fields["table"].choices = tables  # type: ignore[attr-defined]


def read_bom(query: QueryDict) -> bool:
    """Return whether a CSV file begins with a byte order mark; yes unless ``bom=no``."""
    if query.get("bom", "yes") not in ("yes", "no"):
        raise _no_such(query["bom"], "yes, no")
    return query.get("bom") != "no"


def _run_number(value: str) -> int:
    """Return the number of a run. Raises BadInput for anything else."""
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise BadInput(_("“%(value)s” is not the number of a run.") % {"value": value})
    return int(value)


def _cut_of(value: str) -> tuple[str, str]:
    """Return the key and the value of a cut such as ``difficulty:3``."""
    key, _colon, wanted = value.partition(":")
    if key not in CUT_KEYS:
        raise _no_such(key, ", ".join(CUT_KEYS))
    return key, wanted


def _no_such(value: str, known: str) -> BadInput:
    names = {"value": value, "known": known}
    return BadInput(_("There is no “%(value)s”; choose one of: %(known)s.") % names)


def read_cell(query: QueryDict) -> Cell:
    """Return the rows that *query* selects.

    Raises BadInput for an unknown part, outcome or choice of files, or a cut that is not
    ``key:value``.
    """
    part, outcome = query.get("part", ""), query.get("outcome", "")
    given = ((part, list(Part)), (outcome, OUTCOMES), (query.get("files", ""), (PRINTED, LATER)))
    for value, known in given:
        if value and value not in known:
            raise _no_such(value, ", ".join(known))
    return Cell(
        subject=query.get("subject", ""),
        part=part,
        task=query.get("task", ""),
        outcome=outcome,
        unscored=query.get("unscored") == "yes",
        cut=tuple(map(_cut_of, query.getlist("cut"))),
        files=query.get("files", ""),
        pattern=query.get("pattern", ""),
        rated=_yes("rated", query.get("rated", "")),
        complete=_yes("complete", query.get("complete", "")),
    )
