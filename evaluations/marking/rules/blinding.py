"""What a teacher may know of a response, and signs by which its text names its model.

Blindness is kept by an allow-list: a marking page and the marking API are given a
``BlindItem`` and nothing else, so what has no field here cannot leak there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from gradeapp.common.normal_form import normal_form
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint

# A shorter name of a model ("o1", "Yi") would be found in other words by chance.
SHORTEST_SIGN = 4


@dataclass(frozen=True, slots=True)
class BlindItem:
    """One response as its teacher sees it.

    ``public_id`` is random and ``alias`` a number within the round; neither
    tells the model, the run, the repeat, the slot, nor that anybody else marks
    it. Everything else is the question's or the round's.
    """

    public_id: str
    alias: str
    subject: str
    question_type: str
    year: int | None
    paper: str
    stem: str
    answer_key: str
    analysis: str
    full_marks: Decimal
    step: Decimal
    tolerance: Decimal
    scoring_points: tuple[ScoringPoint, ...]
    point_groups: tuple[PointGroup, ...]
    response_text: str
    marking_notes: str

    @property
    def rubric(self) -> str:
        """The code of the rubric that is shown; a mark that is sent names it."""
        return RubricLines(self.scoring_points, self.point_groups).code


def alias(number: int) -> str:
    """The name of a response within its round: ``R-0412``. Raises ValueError below 1.

    Numbers must be dealt out in shuffled order: counted in the order of the
    responses they would tell models apart.
    """
    if number < 1:
        raise ValueError("aliases count from 1")
    return f"R-{number:04d}"


# Families rather than versions: "GPT-4", "gpt-3.5-turbo" and "ChatGPT" are all found. Names that
# are also words (palm, moss, llama, 书生, 百川, 混元) only in the spelling of the model.
_MODELS = (
    r"(?:chat\s?)?gpt(?:-?\d[\w.\-]*)?|text-davinci-\d+|claude|gemini|bard|(?-i:PaLM)|"
    r"(?-i:LLaMA|LLAMA|Llama)(?:[\s\-]?\d)?|(?-i:Vicuna|Alpaca|MOSS)|mistral|mixtral|grok|copilot|"
    r"qwen[\w.\-]*|tongyi(?:\s?qianwen)?|通义千问|通义|千问|ernie(?:[\s\-]?bot)?|文心一言|文心大模型|"
    r"(?:讯飞)?星火(?:认知)?大模型|讯飞星火|sparkdesk|chatglm[\w.\-]*|glm-?\d[\w.\-]*|智谱清言|kimi|"
    r"豆包|doubao|deepseek[\w.\-]*|混元大模型|腾讯混元|hunyuan|baichuan[\w.\-]*|百川大模型|internlm[\w.\-]*|"
    r"书生·?浦语|minimax|smollm\d?"
)
_MAKERS = (
    r"openai|anthropic|google|deepmind|meta(?:\s+ai)?|microsoft|mistral\s+ai|baidu|alibaba|tencent|"
    r"bytedance|zhipu|moonshot|deepseek|xai|hugging\s?face|百度|阿里(?:巴巴|云)?|腾讯|字节跳动|智谱|"
    r"月之暗面|科大讯飞|讯飞|深度求索|谷歌|微软|华为|商汤"
)
# A name alone is no sign (a text may be about ChatGPT, and Claude is a first name): it must follow
# words by which a speaker names itself or its maker. Gaps are bounded to keep matching linear.
_SIGNS = re.compile(
    rf"""
      \b(?:as|i\s+am|i['’]m|my\s+name\s+is|this\s+is)\s+
        (?:an?\s+|the\s+)?(?:(?:ai|large|language|model|assistant|called|named)[\s,]+){{0,6}}
        (?:{_MODELS})(?![a-z])
    | \b(?:developed|trained|created|made|built)\s+by\s+(?:{_MAKERS})(?![a-z])
    | (?:作为|身为|我是|我叫|我的名字是|本人是)[^，。；！？\n]{{0,16}}?(?:{_MODELS})(?![a-z])
    | 由\s?(?:{_MAKERS})[^，。；！？\n]{{0,8}}?(?:开发|训练|研发|推出|创建|打造)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def self_mention(text: str) -> list[str]:
    """The passages in which a response names its own model or maker, in order.

    ``As ChatGPT``, ``I'm Claude``, ``trained by OpenAI``, ``作为文心一言``,
    ``由百度研发``. Empty for a text that shows none. A sign for the lead to look
    at, not a proof, and not complete: models that the lists do not name are not
    found, and a style that gives a model away cannot be. The text is never changed.
    """
    return [" ".join(found.group().split()).rstrip(".-") for found in _SIGNS.finditer(text)]


def names_model(text: str, model: str) -> bool:
    """Whether a short *text* that teachers read, such as a round's name, tells *model*.

    It does where it holds the model's name, or its family with the first number:
    ``gpt4`` of ``gpt-4-0314``. Only letters and digits are compared, without case and
    width; a maker before a slash (``THUDM/glm-4``) may be left out. Signs of fewer
    than ``SHORTEST_SIGN`` characters are not looked for.
    """
    own = model.rpartition("/")[2]
    family = re.match(r"\D+\d+", own)
    signs = [_plain(name) for name in (model, own, family.group() if family else "")]
    said = _plain(text)
    return any(len(sign) >= SHORTEST_SIGN and sign in said for sign in signs)


def _plain(text: str) -> str:
    folded = normal_form("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())
