"""The evaluations' tables, one module a feature."""

from evaluations.models.judging import Judge, Judgement
from evaluations.models.marking import (
    BlindAnswer,
    Draft,
    FinalMark,
    Mark,
    MarkingRound,
    PointMark,
    RoundTeacher,
    Slot,
)
from evaluations.models.responses import Extraction, ObjectiveScore, Response
from evaluations.models.runs import Attempt, Endpoint, Job, LanguageModel, Run

__all__ = [
    "Attempt",
    "BlindAnswer",
    "Draft",
    "Endpoint",
    "Extraction",
    "FinalMark",
    "Job",
    "Judge",
    "Judgement",
    "LanguageModel",
    "Mark",
    "MarkingRound",
    "ObjectiveScore",
    "PointMark",
    "Response",
    "RoundTeacher",
    "Run",
    "Slot",
]
