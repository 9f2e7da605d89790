"""The bank's tables, one module a feature."""

from questions.models.bank import (
    Asset,
    Dataset,
    FewShotExample,
    Question,
    QuestionRevision,
    SavedView,
    SearchText,
    Task,
)
from questions.models.gate import ItemDecision, ItemProblem
from questions.models.human_rates import HumanRate
from questions.models.imports import ImportBatch, ImportProblem
from questions.models.labels import (
    Knowledge,
    LabelBatch,
    LabelOpinion,
    LabelResolution,
    LabelRevision,
)
from questions.models.rubric import Rubric, RubricGroup, ScoringPoint
from questions.models.version import BankVersion

__all__ = [
    "Asset",
    "BankVersion",
    "Dataset",
    "FewShotExample",
    "HumanRate",
    "ImportBatch",
    "ImportProblem",
    "ItemDecision",
    "ItemProblem",
    "Knowledge",
    "LabelBatch",
    "LabelOpinion",
    "LabelResolution",
    "LabelRevision",
    "Question",
    "QuestionRevision",
    "Rubric",
    "RubricGroup",
    "SavedView",
    "ScoringPoint",
    "SearchText",
    "Task",
]
