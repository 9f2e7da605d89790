"""Sum the fact table by run, question and revision: the frame that reports are computed from.

One GROUP BY reads the facts. What the question bank and the runs own (part, status, repaired keys,
published rules, failed calls) is applied to the groups, as ``scored_answers`` applies it to single
answers; tests hold the two equal. pandas is imported where it is used: it takes half a second to
load, and most processes never need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Count

from evaluations.facts.answer_facts import facts_version
from evaluations.facts.params import ReportParams
from evaluations.facts.points import SUSPENDED, Points
from evaluations.models import Judge, MarkingRound, Run
from evaluations.models.vocabulary import FactMarker, RunPurpose
from evaluations.reading.rules.scoring.exact_match import exact_match
from evaluations.reading.rules.scoring.exact_match import f1 as token_f1
from evaluations.reports.selectors.fact_query import (
    LEVELS,
    MISSING,
    TYPES,
    Detail,
    fetched,
    kept_sums,
    keys_of,
    statement,
)
from evaluations.reports.selectors.scored_answers import (
    FAILED,
    KEY_REPAIRED,
    NO_KEY,
    NO_RULES,
    NOT_JUDGED,
    OTHER_PROMPTS,
    TOOK_NO_IMAGES,
    UNMARKED,
    BankRows,
    failed_jobs,
    failure,
    spelled,
)
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from evaluations.statistics.repeat_sums import Answers
from gradeapp.common.snapshot import one_snapshot, sees_only_committed
from questions.models import QuestionRevision
from questions.rules.vocabulary import Part

if TYPE_CHECKING:
    import pandas as pd

UNJUDGED = Points(None, LedgerOutcome.NOT_SCORED.value, SUSPENDED)


def answer_groups(params: ReportParams, detail: Detail = Detail.QUESTIONS) -> pd.DataFrame:
    """Return sums over the answers of *params* (valid), each answer in exactly one row.

    *detail* tells how far they are summed. Of ``Detail.ANSWERS`` the frame has ``answers`` too
    (``repeat_sums.Answers``), of ``Detail.RESPONSES`` ``answer``, as ``ScoredAnswer`` has it,
    ``response`` (negative: the job of a failed call) and ``repeat``.

    Columns: ``model, condition, run, question, revision, task, subject, part``, ``full_each`` and
    ``subs`` (full marks and sub-answers of one answer), ``outcome`` ("" where it follows from the
    points, and with ``Detail.QUESTIONS`` and ``ANSWERS``) and ``reason``; ``n`` answers, ``scored``
    of them with points, ``points`` their sum, ``right`` those with full marks and ``zero`` those
    with none; ``exact_n``, ``exact_sum`` and ``f1_sum`` of exact answers, 0 with
    ``Detail.ANSWERS``. Calls that failed finally are answers, as in ``scored_answers``.
    """
    kept = sees_only_committed()  # what a transaction has not committed is not kept
    with one_snapshot():
        bank = BankRows(params)
        return _Groups(params, bank, detail).frame(kept=kept)


class _Groups:
    """Makes the frame of one set of parameters."""

    def __init__(self, params: ReportParams, bank: BankRows, detail: Detail) -> None:
        self.params, self.bank, self.detail = params, bank, detail
        if detail in (Detail.QUESTIONS, Detail.LEDGER) and bank.golds:
            self.detail = Detail.EXACT
        self.strict = params.policy == Policy.STRICT

    def frame(self, *, kept: bool) -> pd.DataFrame:
        import pandas as pd

        bank = self.bank.bank
        rows = _with_nothing_given(self._summed(kept=kept), self.params)
        rows["part"] = _texts(rows, bank.by_question.of(rows["question"].to_numpy(), "part")[0])
        self._apply_bank(rows)
        failed = self._failed(rows)
        if len(failed):
            rows = pd.concat([rows, failed], ignore_index=True) if len(rows) else failed
        self._apply_status(rows)
        if self.detail is Detail.OUTCOMES:
            _set_levels(rows)
        return self._described(rows)

    def _summed(self, *, kept: bool) -> pd.DataFrame:
        """Return the sums of the facts, from memory if they did not change since."""
        params = self.params
        runs = Run.objects.filter(params.of_runs(), purpose=RunPurpose.ANSWER)
        # Rounds tell which marks of teachers count; a judge's marks are of none.
        of_rounds = () if params.is_judge else params.rounds
        rounds = MarkingRound.objects.filter(public_id__in=of_rounds) if of_rounds else ()
        judge = None
        if params.is_judge:
            known = Judge.objects.filter(name=params.judge).values_list("pk", flat=True)
            judge = known.first() or 0
        keys = keys_of(
            self.detail,
            judge=judge is not None,
            rounds=bool(of_rounds),
            strict=self.strict,
            repaired=bool(self.bank.bank.repaired),
        )
        query = statement(
            policy=params.policy,
            runs=len(own := sorted(runs.values_list("pk", flat=True))),
            rounds=len(chosen := sorted(one.pk for one in rounds)),
            judge=judge is not None,
            without_blind=params.without_blind,
            detail=self.detail,
            keys=keys,
        )
        judges = () if judge is None else (judge,)
        given = (*own, *judges, *chosen, *(chosen if len(chosen) > 1 else ()))
        if not own:
            return fetched(query.replace("IN ()", "IN (NULL)"), given, keys)
        if not kept or self.detail is Detail.RESPONSES:  # as long as the facts: not kept
            return fetched(query, given, keys)
        return kept_sums(facts_version(params.dataset), query, given, keys).copy()

    def _apply_bank(self, rows: pd.DataFrame) -> None:
        """Take the points from what does not count, with the reason, as ``BankRows.row`` does."""
        bank = self.bank.bank
        revisions = rows["revision"].to_numpy()
        objective = (rows["part"] == Part.OBJECTIVE).to_numpy()
        if self.params.is_judge:
            suspended = Judge.objects.filter(name=self.params.judge, suspended_at__isnull=False)
            if suspended.exists():
                _set(rows, (rows["marker"] == FactMarker.JUDGE).to_numpy(), UNJUDGED)
        if self.strict and bank.repaired:
            # Revisions of one text and key have one number: which key is wanted, which was used.
            wanted = {pk: one.revision for pk, one in bank.repaired.items()}
            keys = {pk: one.revision for one in bank.repaired.values() for pk in one.same}
            used = rows["key_revision"].where(rows["key_revision"] > 0, rows["revision"])
            other = used.map(keys) != rows["revision"].map(wanted)
            other &= rows["revision"].isin(wanted) & (rows["reason"] == "")
            _set(rows, objective & other.to_numpy(), KEY_REPAIRED)
        if not self.strict:
            (types,) = bank.by_revision.of(revisions, "type")
            asked = list(zip(rows["run"], types, strict=True))
            verdicts = {pair: self._rules_of(*pair) for pair in set(asked)}
            for verdict in (OTHER_PROMPTS, NO_RULES):
                held = np.array([verdicts[pair] is verdict for pair in asked], dtype=bool)
                _set(rows, objective & held, verdict)
        if bank.without_key:
            wrong = np.isin(revisions, list(bank.wrong_without_key))
            wrong &= (rows["scored"] > 0).to_numpy()
            _set(rows, objective & np.isin(revisions, list(bank.without_key)) & ~wrong, NO_KEY)
        if self.strict:
            _set(rows, rows["is_message"].to_numpy(dtype=bool), FAILED)

    def _rules_of(self, run: int, question_type: str) -> Points | None:
        asked = self.bank.asked[run]
        if not asked.offered:
            return OTHER_PROMPTS
        return None if asked.rules(self.params.dataset, question_type) else NO_RULES

    def _failed(self, like: pd.DataFrame) -> pd.DataFrame:
        """Return the calls that failed finally, counted by run, question, revision and error.

        With the columns of *like*.
        """
        import pandas as pd

        columns = ("run_id", "question_id", "revision_id", "question__part", "error")
        jobs = failed_jobs(self.params).order_by()
        if self.detail is Detail.RESPONSES:
            each = jobs.values_list(*columns, "pk", "repeat")
            found = [(*about, -job, repeat, 1) for *about, job, repeat in each]
        else:
            counts = jobs.values_list(*columns).annotate(n=Count("pk"))
            found = [(*about, 0, 0, n) for *about, n in counts]
        if not found:
            return pd.DataFrame()
        names = ("run", "question", "revision", "part", "error", "response", "repeat", "n")
        rows = pd.DataFrame(found, columns=[*names])
        about = zip(rows["part"], rows["error"], strict=True)
        points = [failure(part, error) for part, error in about]
        rows["outcome"] = [one.outcome for one in points]
        rows["reason"] = [one.reason for one in points]
        rows["scored"] = rows["n"].where([one.points is not None for one in points], 0)
        rows["zero"] = rows["scored"]
        nothing = [name for name in like.columns if name not in rows.columns]
        rows = rows.assign(**{name: MISSING.get(name, 0) for name in nothing})[[*like.columns]]
        return rows.astype({name: TYPES.get(name, object) for name in like.columns})

    def _apply_status(self, rows: pd.DataFrame) -> None:
        """Take out the answers to items that do not count."""
        (status,) = self.bank.bank.by_question.of(rows["question"].to_numpy(), "status")
        for one in self.bank.left_out:
            excluded = Points(None, LedgerOutcome.EXCLUDED.value, one)
            _set(rows, status == one, excluded)

    def _described(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add the columns of runs, questions and revisions, and the metrics of exact answers."""

        bank = self.bank
        year = self.params.year
        if year is not None:
            years = bank.bank.by_question.of(rows["question"].to_numpy(), "year")[0]
            rows = rows[years == year].reset_index(drop=True)
        runs, places = np.unique(rows["run"].to_numpy(), return_inverse=True)
        for name in ("model", "condition"):
            of_run = np.empty(len(runs), dtype=object)
            of_run[:] = [getattr(bank.sittings[run][0], name) for run in runs.tolist()]
            rows[name] = _texts(rows, of_run[places])
        of_question = bank.bank.by_question.of(rows["question"].to_numpy(), "task", "subject")
        for name, column in zip(("task", "subject"), of_question, strict=True):
            rows[name] = _texts(rows, column)
        of_revision = bank.bank.by_revision.of(rows["revision"].to_numpy(), "full_each", "subs")
        rows["full_each"], rows["subs"] = of_revision
        for name in ("exact_n", "exact_sum", "f1_sum"):
            rows[name] = 0.0
        if self.detail is Detail.ANSWERS:
            rows["answers"] = _texts(rows, _given(rows))
            return rows
        if self.detail is Detail.RESPONSES or bank.golds:
            answers = _answers(rows)
            if bank.golds:
                self._measure_exact(rows, answers)
        if self.detail is Detail.RESPONSES:
            answers[~_is_known(rows)] = None
            rows["answer"] = _texts(rows, answers)
            before = np.array([bank.sittings[run][1] for run in runs.tolist()], dtype=np.int64)
            rows["repeat"] += before[places]
        return rows

    def _measure_exact(self, rows: pd.DataFrame, answers: np.ndarray[Any, Any]) -> None:
        """Add the exact matches and F1 of the exact answers with points."""
        golds = self.bank.golds
        held = (rows["revision"].isin(golds) & (rows["scored"] > 0)).to_numpy()
        pairs = list(zip(rows.loc[held, "revision"].tolist(), answers[held], strict=True))
        measured = {
            (revision, answer): (
                float(exact_match(golds[revision][0], answer)),
                token_f1(golds[revision][0], answer, golds[revision][1]),
            )
            for revision, answer in set(pairs)
        }
        same, f1 = np.array([measured[pair] for pair in pairs], dtype=float).reshape(-1, 2).T
        if self.strict:
            same = (rows.loc[held, "outcome"] == LedgerOutcome.CORRECT).to_numpy(dtype=float)
        n = rows.loc[held, "scored"].to_numpy(dtype=float)
        rows.loc[held, "exact_n"] = n
        rows.loc[held, "exact_sum"] = n * same
        rows.loc[held, "f1_sum"] = n * f1


def _texts(rows: pd.DataFrame, column: np.ndarray[Any, Any]) -> pd.Series:
    """Return *column* of texts for *rows* as it is: pandas would make Arrow texts of them."""
    import pandas as pd

    return pd.Series(column, index=rows.index, dtype=object, copy=False)


def _set_levels(rows: pd.DataFrame) -> None:
    """Put the outcome of marks that follows from their points in the place of none."""
    open_ = rows["outcome"] == ""
    unscored = (rows["scored"] == 0).to_numpy()
    levels = np.array([one.value for one in LEVELS], dtype=object)[rows["each"].astype(int)]
    outcomes = np.where(unscored, LedgerOutcome.NOT_SCORED.value, levels)
    rows.loc[open_, "outcome"] = outcomes[open_.to_numpy()]


def _answers(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return what was read in each of *rows*, in printed letters; "" for nothing."""
    letters = _letters(rows.loc[rows["option_order"] != "", "revision"])
    texts: dict[tuple[str | None, str, str], str] = {}
    found = np.empty(len(rows), dtype=object)
    keys = zip(rows["read"], rows["option_order"], rows["revision"], strict=True)
    for place, (read, order, revision) in enumerate(keys):
        key = (read, order, letters[revision] if order else "")
        if (text := texts.get(key)) is None:
            text = texts[key] = spelled(read, key[2], order) if read is not None else ""
        found[place] = text
    return found


def _given(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return the ``Answers`` of each of *rows*; equal ones are one object."""
    texts = set(rows["given"]) - {None}
    lines = {text: [line.split(" ", 2) for line in text.split("\n")] for text in texts}
    moved = {text for text, own in lines.items() if any(order for _points, order, _read in own)}
    letters = _letters(rows.loc[rows["given"].isin(moved), "revision"]) if moved else {}
    read: dict[tuple[str, str], Answers] = {}
    found = np.empty(len(rows), dtype=object)
    columns = zip(_is_known(rows), rows["given"], rows["revision"], rows["n"], strict=True)
    for place, (is_known, text, revision, n) in enumerate(columns):
        if not is_known:
            found[place] = ((None, None),) * n
        elif text is None:  # calls that failed
            found[place] = (("", 0.0),) * n
        else:
            key = (text, letters.get(revision, "") if text in moved else "")
            if key not in read:
                read[key] = tuple(_given_line(line, key[1]) for line in lines[text])
            found[place] = read[key]
    return found


def _given_line(line: Sequence[str], letters: str) -> tuple[str | None, float | None]:
    """Return the answer and the points of a ``GIVEN_LINE``; None, None if it has no points."""
    points, order, read = line
    if not points:
        return None, None
    return spelled(read, letters if order else "", order) if read else "", float(points)


def _is_known(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return for each of *rows* whether its answers are known.

    They are not where nothing was scored or the score does not count.
    """
    reason = rows["reason"].to_numpy()
    scored = (rows["part"] == Part.OBJECTIVE).to_numpy() & (rows["scored"] > 0).to_numpy()
    known: np.ndarray[Any, Any] = scored & ((reason == "") | (reason == TOOK_NO_IMAGES.reason))
    return known


def _letters(revisions: pd.Series) -> dict[int, str]:
    """Return the letters of *revisions*, whose options were shown in another order."""
    moved = revisions.unique().tolist()
    return dict(QuestionRevision.objects.filter(pk__in=moved).values_list("pk", "letters"))


def _set(rows: pd.DataFrame, held: np.ndarray[Any, Any], points: Points) -> None:
    """Give the rows *held* the outcome and reason of *points*, which are none."""
    if held.any():
        rows.loc[held, ["outcome", "reason"]] = (points.outcome, points.reason)
        rows.loc[held, ["scored", "right", "zero"]] = 0
        rows.loc[held, "points"] = 0.0


def _with_nothing_given(rows: pd.DataFrame, params: ReportParams) -> pd.DataFrame:
    """Put what the marker has not marked in the place of the rows ``unmarked`` of all answers."""
    import pandas as pd

    if not params.is_judge and not params.rounds:
        return rows
    names = ("run", "question", "revision", "is_message", "response", "repeat")
    of_answer = [name for name in names if name in rows.columns]
    base = (rows["marker"] == FactMarker.TEACHERS) & (rows["reason"] == UNMARKED)
    given = rows[~base & (rows["marker"] != FactMarker.KEY)]
    left = rows[base].set_index(of_answer)
    taken = given.groupby(of_answer)["n"].sum()
    left["n"] = left["n"].sub(taken, fill_value=0).reindex(left.index).astype("int64")
    left["reason"] = NOT_JUDGED if params.is_judge else UNMARKED
    left = left[left["n"] > 0].reset_index()[list(rows.columns)]
    return pd.concat([rows[~base], left], ignore_index=True)
