"""The evaluations' tables, one module a feature."""

from evaluations.models.accounts import CheckPlace, PermitLease, ProviderAccount
from evaluations.models.answer_checks import AnswerCheck, CheckSample, ModelReading
from evaluations.models.batches import Batch
from evaluations.models.capability import (
    CapabilityJudgement,
    CapabilityReview,
    ReviewItem,
    ReviewSlot,
)
from evaluations.models.conditions import Condition, PromptSet, PromptSetVersion, Study
from evaluations.models.exports import Export
from evaluations.models.facts import AnswerFact, FactVersion
from evaluations.models.helping import HelpOffer, PartnerPassed
from evaluations.models.history import MarkChange
from evaluations.models.imports import ImportedRun, ImportReader
from evaluations.models.judging import (
    Canary,
    CanaryReply,
    Judge,
    JudgeCheck,
    Judgement,
    JudgePrompts,
    RepeatedTexts,
)
from evaluations.models.looks import Look
from evaluations.models.marking import (
    ArbiterMark,
    BlindAnswer,
    Draft,
    FinalMark,
    FinalMarkSource,
    Mark,
    PointMark,
    Slot,
)
from evaluations.models.pasting import PasteList
from evaluations.models.patterns import MinedPattern, PatternDecision, PatternSearch
from evaluations.models.rescoring import Rescoring
from evaluations.models.responses import (
    Extraction,
    ObjectiveScore,
    Response,
    SuggestionReading,
    key_under,
)
from evaluations.models.rounds import (
    DeskSettings,
    MarkingNotes,
    MarkingRound,
    MarkingSheet,
    RoundTeacher,
)
from evaluations.models.run_counts import RunCount
from evaluations.models.runs import Attempt, Endpoint, Job, LanguageModel, Run, StepReply
from evaluations.models.samples import MarkingSample
from evaluations.models.seed_answers import SeedAnswer
from evaluations.models.spending import Spending, SpendingCap
from evaluations.models.workers import RunWorker, Worker

__all__ = [
    "AnswerCheck",
    "AnswerFact",
    "ArbiterMark",
    "Attempt",
    "Batch",
    "BlindAnswer",
    "Canary",
    "CanaryReply",
    "CapabilityJudgement",
    "CapabilityReview",
    "CheckPlace",
    "CheckSample",
    "Condition",
    "DeskSettings",
    "Draft",
    "Endpoint",
    "Export",
    "Extraction",
    "FactVersion",
    "FinalMark",
    "FinalMarkSource",
    "HelpOffer",
    "ImportReader",
    "ImportedRun",
    "Job",
    "Judge",
    "JudgeCheck",
    "JudgePrompts",
    "Judgement",
    "LanguageModel",
    "Look",
    "Mark",
    "MarkChange",
    "MarkingNotes",
    "MarkingRound",
    "MarkingSample",
    "MarkingSheet",
    "MinedPattern",
    "ModelReading",
    "ObjectiveScore",
    "PartnerPassed",
    "PasteList",
    "PatternDecision",
    "PatternSearch",
    "PermitLease",
    "PointMark",
    "PromptSet",
    "PromptSetVersion",
    "ProviderAccount",
    "RepeatedTexts",
    "Rescoring",
    "Response",
    "ReviewItem",
    "ReviewSlot",
    "RoundTeacher",
    "Run",
    "RunCount",
    "RunWorker",
    "SeedAnswer",
    "Slot",
    "Spending",
    "SpendingCap",
    "StepReply",
    "Study",
    "SuggestionReading",
    "Worker",
    "key_under",
]
