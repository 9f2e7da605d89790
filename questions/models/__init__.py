"""The bank's tables, one module a feature."""

from questions.models.bank import Asset, Dataset, Question, QuestionRevision, Task
from questions.models.imports import ImportBatch, ImportProblem
from questions.models.labels import Knowledge, LabelRevision
from questions.models.rubric import Rubric, ScoringPoint

__all__ = [
    "Asset",
    "Dataset",
    "ImportBatch",
    "ImportProblem",
    "Knowledge",
    "LabelRevision",
    "Question",
    "QuestionRevision",
    "Rubric",
    "ScoringPoint",
    "Task",
]
