from functools import partial
from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts import blindness
from gradeapp.audit import counted
from gradeapp.audit.objects import hold_back, when_read
from gradeapp.audit.objects import register as register_object
from gradeapp.audit.sources import Source
from gradeapp.audit.sources import register as register_source
from gradeapp.audit.triggers import guard
from gradeapp.waiting import register

# Pages, fragments and answers of the API that show a response, to be marked or with its marks.
ITEMS = {
    **{
        f"marking:{name}": counted.Shown("response", "answer_id")
        for name in ("desk", "ahead", "save", "skip", "revise")
    },
    **{
        f"reviewing:{name}": counted.Shown("response", "item_id")
        for name in ("desk", "save", "skip")
    },
    "rounds:response": counted.Shown("response", "answer_id"),
    "rounds:seed": counted.Shown("response", "answer_id"),
    "runs:response": counted.Shown("response", "public_id"),
    "runs:compare": counted.Shown("question", "public_id"),
    "checks:item": counted.Shown("response", "public_id"),
    "judging:judgement": counted.Shown("response", "response_id"),
    "api-run-responses": counted.Shown("response", "id", rows=True),
    "api-response": counted.Shown("response", "public_id"),
    "api-responses": counted.Shown("response", "id", rows=True),
    "api-answer-checks-waiting": counted.Shown("response", "response", rows=True),
}


class EvaluationsConfig(AppConfig):
    name = "evaluations"
    verbose_name = _("evaluations")

    def ready(self) -> None:
        """Register run kinds, counts for the home page, who marks blind, and what follows."""
        from evaluations.capability.selectors.capability_review import capability_shares
        from evaluations.facts.answer_facts import record_part_moves
        from evaluations.facts.open_marking import (
            marks_in_a_round,
            reviews_in_a_review,
            waits_for_the_lead,
        )
        from evaluations.facts.trail_looks import keep_trail_looks
        from evaluations.facts.trail_words import register_codes
        from evaluations.imports.selectors import imports_waiting
        from evaluations.judging.kinds import JudgeFollower, JudgeKind
        from evaluations.marking.desk.selectors.desk_home import marks_waiting
        from evaluations.marking.monitoring.selectors.key_flags import keys_waiting
        from evaluations.marking.rounds.selectors.waiting import round_addresses, rounds_waiting
        from evaluations.models import ArbiterMark, FinalMark, Mark, MarkChange
        from evaluations.reading.kinds import ReadKind, ScoredAnswerKind
        from evaluations.reading.selectors.answer_check_queue import checks_waiting
        from evaluations.reports.providers import register_capabilities
        from evaluations.runs import kinds
        from evaluations.runs.selectors.runs import run_addresses, runs_waiting
        from evaluations.runs.selectors.studies import study_addresses
        from evaluations.suggesting.kinds import SuggestKind
        from questions.services import part_moves

        for provider in (marks_waiting, rounds_waiting, imports_waiting, checks_waiting):
            register(provider)
        register(runs_waiting)
        register(keys_waiting)
        counted.register(ITEMS)
        for asks in (marks_in_a_round, reviews_in_a_review):
            blindness.register(asks)
        for kind in (ScoredAnswerKind(), JudgeKind(), ReadKind(), SuggestKind()):
            kinds.register(kind)
        kinds.register_follower(JudgeFollower())
        register_capabilities(capability_shares)
        part_moves.register(record_part_moves)
        register_object("run", run_addresses)
        register_object("study", study_addresses)
        register_object("markinground", round_addresses)
        hold_back("mark", waits_for_the_lead(Mark, "slot__answer__"))
        hold_back("finalmark", waits_for_the_lead(FinalMark, "answer__"))
        hold_back("arbitermark", waits_for_the_lead(ArbiterMark, "answer__"))
        when_read(keep_trail_looks)
        register_codes()
        fields = ("id", "table", "row", "answer", "action", "before", "changed_at", "actor")
        register_source(Source("marks", MarkChange, fields, "changed_at"))
        _guard_marks()


def _guard_marks() -> None:
    """Have verify_audit look at the triggers of the marks and of their history."""
    from evaluations.migrations import _mark_history

    newest = import_module("evaluations.migrations.0100_history_of_marks_is_new")
    guard("marks", newest.TABLE, newest.expected)
    for table in _mark_history.TABLES:
        guard("marks", table, partial(_mark_history.statements, table=table))
