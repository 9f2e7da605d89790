"""One answer in the forms in which models write it, for the check of the readers on the keys.

A scorer that does not give full marks to the key itself in every form cannot be
trusted with answers. We chose the forms after the published outputs of GAOKAO-Bench
and the prompts of AGIEval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from questions.rules.vocabulary import QuestionType

# Sub-questions are numbered as in the paper, where they seldom begin at 1.
FIRST_NUMBER = 36


class SurfaceForm(NamedTuple):
    """One way to write an answer: its name, and the output of a model that writes it so."""

    name: str
    output: str


def surface_forms(key: Sequence[str], question_type: str) -> list[SurfaceForm]:
    """Return *key* (one entry per sub-question) in at least six forms.

    Entries are letters for choices, texts for exact answers. Raises ValueError without
    a key.
    """
    if not key:
        raise ValueError("without a key there is no answer to write")
    if question_type == QuestionType.EXACT_ANSWER:
        return _single(
            key[0], key[0], key[0].replace("\\$", "\0").replace("$", "").replace("\0", "\\$")
        )
    if len(key) > 1:
        return _several(key)
    return _single(key[0], "、".join(key[0]), ", ".join(key[0]), brackets=len(key[0]) == 1)


def _single(bare: str, chinese: str, english: str, *, brackets: bool = False) -> list[SurfaceForm]:
    shown = f"({english})" if brackets else english
    return [
        SurfaceForm("bare", bare),
        SurfaceForm("tagged", f"【解析】略。<eoe>\n【答案】{bare} <eoa>"),
        SurfaceForm("chinese", f"综上所述，本题的答案是{chinese}。"),
        SurfaceForm("english", f"Putting this together, the answer is {shown}."),
        SurfaceForm("boxed", f"We find $\\boxed{{{english}}}$."),
        SurfaceForm("dollars", f"The final answer is ${english}$."),
        SurfaceForm("bold", f"**Answer: {english}**"),
    ]


def _several(key: Sequence[str]) -> list[SurfaceForm]:
    def numbered(line: Callable[[int, str], str], first: int, between: str = "\n") -> str:
        return between.join(line(number, answer) for number, answer in enumerate(key, first))

    paper = FIRST_NUMBER
    last = paper + len(key) - 1
    return [
        SurfaceForm("bare", " ".join(key)),
        SurfaceForm("tagged", numbered(lambda n, a: f"（{n}）【答案】{a} <eoa>", 1)),
        SurfaceForm("one tag", f"【答案】{' '.join(key)} <eoa>"),
        SurfaceForm("chinese", numbered(lambda n, a: f"第{n}题选{a}", 1, "；") + "。"),
        SurfaceForm("english", numbered(lambda n, a: f"{n}. The answer is {a}.", 1)),
        SurfaceForm("boxed", numbered(lambda n, a: f"{n}. $\\boxed{{{a}}}$", paper)),
        SurfaceForm("dollars", numbered(lambda n, a: f"{n}. ${a}$", paper)),
        SurfaceForm("paper", numbered(lambda n, a: f"{n}. {a}", paper)),
        SurfaceForm("range", f"{paper}-{last} {''.join(key)}"),
    ]
