"""What can be written into the audit trail."""

from __future__ import annotations

from enum import StrEnum


class Tag(StrEnum):
    """One kind of deed; the stored value is stable."""

    QUESTIONS_IMPORTED = "questions.imported"
    QUESTIONS_UPLOADED = "questions.uploaded"
    QUESTIONS_EXPORTED = "questions.exported"
    IMPORT_STOPPED = "import.stopped"
    IMPORT_RESUMED = "import.resumed"
    IMPORT_DISCARDED = "import.discarded"
    ANSWERS_IMPORTED = "answers.imported"
    ENDPOINT_SAVED = "endpoint.saved"
    RUN_STARTED = "run.started"
    RUN_STOPPED = "run.stopped"
    RUN_RESUMED = "run.resumed"
    ROUND_OPENED = "round.opened"
    ROUND_CLOSED = "round.closed"
    ROUND_LOOKED_AT = "round.looked_at"
    MARK_SAVED = "mark.saved"
    MARK_REVISED = "mark.revised"
    MARK_STALE = "mark.stale"
    MARK_SETTLED = "mark.settled"
    ARBITRATED = "mark.arbitrated"
    EXPORTED = "report.exported"
    RESCORED = "objective.rescored"
    ITEM_DECIDED = "item.decided"
    LABELS_SET = "labels.set"
    LABELS_BULK = "labels.bulk"
    LABELS_UNDONE = "labels.undone"
    LABELS_SETTLED = "labels.settled"
    SUGGESTIONS_KEPT = "labels.suggestions"
    HUMAN_RATE_ADDED = "human_rate.added"
    HUMAN_RATE_CORRECTED = "human_rate.corrected"
    RUBRIC_DRAFTED = "rubric.drafted"
    RUBRIC_ACCEPTED = "rubric.accepted"
    RUBRICS_IMPORTED = "rubrics.imported"
    RUBRICS_EXPORTED = "rubrics.exported"
    RUBRICS_PROPOSED = "rubrics.proposed"
