"""Arguments of ``run_model``: how the questions are asked, and which."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from evaluations.conditions import (
    LARGEST_SIDE,
    LEAST_SIDE,
    MOST_PROMPT_TOKENS,
    MOST_SIDE,
    Asking,
    ImagePolicy,
    OptionOrder,
    PromptSetting,
)
from evaluations.runs.rules.question_choice import STRATA, QuestionChoice, read_years
from gradeapp.cli import whole_number
from gradeapp.common.refusals import BadInput


def asking_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that give a run its condition."""
    parser.add_argument(
        "--setting",
        default="zero-shot",
        type=str.lower,  # papers write "few-shot-CoT"
        choices=[one.value for one in PromptSetting],
    )
    parser.add_argument("--prompts", default="gradeapp", metavar="SET", help="a prompt set")
    parser.add_argument(
        "--max-prompt-tokens",
        type=whole_number,
        default=MOST_PROMPT_TOKENS,
        help="examples that pass so many tokens are left out",
    )
    parser.add_argument("--images", default="omit", choices=[one.value for one in ImagePolicy])
    parser.add_argument(
        "--largest-side",
        type=whole_number,
        default=LARGEST_SIDE,
        metavar="PIXELS",
        help="larger images are scaled down to this",
    )
    parser.add_argument(
        "--option-order", default="printed", choices=[one.value for one in OptionOrder]
    )
    parser.add_argument("--option-seed", type=whole_number, default=0, help="of shuffled options")


def sampling_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``sampling_for``, which reads and checks them."""
    parser.add_argument("--temperature", help="such as 0, 0.3, or half of the maximum (half)")
    parser.add_argument("--top-p")
    parser.add_argument("--max-tokens", help="the most tokens of a reply")
    parser.add_argument("--stop", action="append", help="a text that ends a reply; up to 4")
    parser.add_argument("--seed", help="of the endpoint's sampling")
    parser.add_argument("--reasoning-effort")
    parser.add_argument("--extra", metavar="JSON", help="more parameters of the endpoint")


def asking_of(options: dict[str, Any]) -> Asking:
    """Return how *options* ask. Raises BadInput."""
    if options["max_prompt_tokens"] < 0:
        raise BadInput(_("The number of prompt tokens must not be negative."))
    if not LEAST_SIDE <= options["largest_side"] <= MOST_SIDE:
        words = {"least": LEAST_SIDE, "most": MOST_SIDE}
        raise BadInput(
            _("The longer side of an image must have from %(least)d to %(most)d pixels.") % words
        )
    return Asking(
        setting=PromptSetting(options["setting"]),
        prompt_set=options["prompts"],
        max_prompt_tokens=options["max_prompt_tokens"],
        images=ImagePolicy(options["images"]),
        largest_side=options["largest_side"],
        option_order=OptionOrder(options["option_order"]),
        random_seed=options["option_seed"],
    )


def choice_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that choose questions."""
    parser.add_argument("--tasks", default="", help="only these tasks, with commas between")
    parser.add_argument("--subjects", default="", help="only these subjects, with commas between")
    parser.add_argument("--part", default="", help="objective or subjective")
    parser.add_argument("--years", default="", help="only these years: 2019-2022 or 2021")
    parser.add_argument("--filter", default="", help="the address of a list of the bank, after ?")
    parser.add_argument("--limit", type=whole_number, help="ask only so many items, over all tasks")
    parser.add_argument("--sample", type=whole_number, help="draw so many items at random")
    parser.add_argument("--random-seed", type=whole_number, default=0, help="which sample is drawn")
    parser.add_argument(
        "--stratified-by", default="", choices=["", *STRATA], help="a sample in proportion to this"
    )


def choice_of(options: dict[str, Any]) -> QuestionChoice:
    """Return the questions that *options* choose. Raises BadInput."""
    try:
        years = read_years(options["years"])
    except ValueError:
        words = {"text": options["years"]}
        raise BadInput(_("Years are written 2019-2022 or 2021, not %(text)s.") % words) from None
    return QuestionChoice(
        tasks=_listed(options["tasks"]),
        subjects=_listed(options["subjects"]),
        part=options["part"],
        years=years,
        query=options["filter"].removeprefix("?"),
        limit=options["limit"],
        sample=options["sample"],
        random_seed=options["random_seed"],
        stratified_by=options["stratified_by"],
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
