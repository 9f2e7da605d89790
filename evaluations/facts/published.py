"""Which answers the policy ``published`` scores: those that were asked as the benchmark asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluations.conditions import ConditionOrigin, OptionOrder, PromptSetting, PromptSource
from evaluations.models import Run
from evaluations.statistics.policies import PublishedRules, published_rules
from questions.rules.vocabulary import QuestionType

OTHER_PROMPTS = "not_published_prompts"
# AGIEval's program writes two of its settings so.
AGIEVAL_SETTINGS = {
    PromptSetting.ZERO_SHOT_COT.value: "zero-shot-CoT",
    PromptSetting.FEW_SHOT_COT.value: "few-shot-CoT",
}


@dataclass(frozen=True, slots=True)
class HowAsked:
    """How the answers of a run were asked, as far as the benchmarks' rules need it.

    ``prompt_set`` is empty for imported answers: they count as asked by the published prompts.
    ``edited``: a person changed the prompts here.
    """

    prompt_set: str = ""
    setting: str = ""
    options_moved: bool = False
    edited: bool = False

    @property
    def offered(self) -> bool:
        """Whether ``published`` is offered: unchanged published prompts, options as printed."""
        benchmark = self.prompt_set.partition(":")[0]
        changed = self.options_moved or self.edited
        return not changed and benchmark in ("", *PublishedRules)

    @property
    def agieval_setting(self) -> str:
        """The setting in the words of AGIEval's program."""
        return AGIEVAL_SETTINGS.get(self.setting, self.setting or PromptSetting.ZERO_SHOT.value)

    def rules(self, dataset: str, question_type: str) -> PublishedRules | None:
        """Return the rules for an item of *dataset*; None if there are none, or none is offered.

        Imported answers have those of their dataset, others those of the benchmark whose prompts
        were used. AGIEval's rules go by its tasks, so they are for its own items only.
        """
        if not self.offered:
            return None
        if not self.prompt_set:
            return published_rules(dataset, question_type)
        rules = PublishedRules(self.prompt_set.partition(":")[0])
        if rules is PublishedRules.AGIEVAL and dataset != rules:
            return None
        if rules is PublishedRules.AGIBENCH and question_type != QuestionType.SINGLE_CHOICE:
            return None
        if rules is PublishedRules.GAOKAO_BENCH and question_type == QuestionType.EXACT_ANSWER:
            return None
        return rules


def how_asked(runs: Iterable[int]) -> dict[int, HowAsked]:
    """Return by run how its answers were asked, for the *runs* that answer."""
    rows = Run.objects.filter(pk__in=set(runs), condition__isnull=False).values_list(
        *("pk", "condition__origin", "condition__setting", "condition__settings"),
        *("condition__prompts__prompt_set__slug", "condition__prompts__source"),
    )
    return {
        pk: HowAsked(
            prompt_set="" if origin == ConditionOrigin.IMPORTED else prompts,
            setting=setting,
            edited=source == PromptSource.EDITED,
            options_moved=settings.get("option_order", OptionOrder.PRINTED) != OptionOrder.PRINTED,
        )
        for pk, origin, setting, settings, prompts, source in rows
    }
