"""Recognition of error messages stored instead of an answer: HTTP errors, exceptions, limits.

The whole text must be a message. An answer that mentions or quotes an error is an answer.
"""

from __future__ import annotations

import json
import re

from gradeapp.common.strict_json import check_depth

# The longest texts that are checked; pages and tracebacks are longer than sentences.
MOST_OF_A_PAGE = 8_000
MOST_OF_A_MESSAGE = 700
MOST_OF_A_CHINESE_MESSAGE = 120

# Only answers contain these: the tags that prompts ask for, and sentences that name an answer.
_ANSWERS = re.compile(
    r"【(?:答案|解析|解答|分析)】|<eo[ae]>|\\boxed|答案|故选|应选|the answer|(?:answer|option) is",
    re.IGNORECASE,
)

_PHRASE = (
    r"(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out"
    r"|too many requests|(?:server|proxy|gateway) error|request time-?out)"
)
# Phrases that also occur in ordinary English need the number.
_NUMBERED = (
    r"(?:bad request|unauthorized|forbidden|not found|method not allowed|payload too large"
    r"|request entity too large|unprocessable entity|client error|conflict|payment required)"
)
_CALLED = r"(?:(?:http(?:/\d(?:\.\d)?)?|error|status|status code|error code)[ :]*){0,3}"
_CODE = r"[\[(]?[45]\d\d[\])]?[ :,-]*"
_HTTP = re.compile(
    rf"{_CALLED}(?:{_CODE})?{_PHRASE}[.!]?"
    rf"|{_CALLED}{_CODE}{_NUMBERED}[.!]?"
    rf"|{_CALLED}[45]\d\d (?:server|client) error: [\w ]+ for url: \S+"
    r"|(?:http|http error|error|status|status code|error code)[ :]*[45]\d\d[.!]?"
    r"|request failed with status code [45]\d\d[.!]?",
    re.IGNORECASE,
)
# ``IndexError: list index out of range``, ``openai.error.RateLimitError: ...``: one line.
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Timeout|Interrupt)(?:\(.*\)|: ?.*)?"
)
_ERROR_COLON = re.compile(r"(?:an )?(?:api |unknown )?error(?: occurred)?: .+", re.IGNORECASE)
_TECHNICAL = re.compile(
    r"\b(?:api|requests?|response|servers?|connection|network|proxy|time[d ]?-?out|status"
    r"|tokens?|rate limit|limit(?:s|ed)?|quota|context length|index|range|exception|failed|failure"
    r"|invalid|unavailable|overloaded|unexpected|undefined|null|none(?:type)?|memory|cuda|gpu"
    r"|http|https|url|json|decode|keyerror|try again|went wrong|not found|unknown|occurred)\b"
    r"|\b[45]\d\d\b",
    re.IGNORECASE,
)
_MESSAGES = re.compile(
    r"rate limit (?:reached|exceeded)\b.*"
    r"|(?:you (?:have )?)?exceeded your current quota\b.*"
    r"|this model'?s maximum context length is \d+ tokens\b.*"
    r"|(?:the|that|this) (?:server|model|engine) (?:is|had) (?:currently |an )?"
    r"(?:overloaded|error|busy|unavailable)\b.*"
    r"|(?:the )?server (?:is )?(?:overloaded|busy|error)[.!,]?(?: please .*)?"
    r"|(?:torch\.)?cuda (?:out of memory|error)\b.*"
    r"|out of memory[.!]?"
    r"|(?:incorrect|invalid) api key\b.*"
    r"|(?:(?:the )?(?:request|connection|read|operation)) timed out[.!]?"
    r"|connection (?:error|aborted|refused|reset(?: by peer)?|closed)[.!]?"
    r"|upstream (?:request timeout|connect error\b.*)|no healthy upstream|stream timeout"
    r"|unknown error[.,!]?(?: please .*)?|user requesting, please wait and try again[.!]?"
    r"|input (?:no more than \d+ characters|max length exceeded\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_CHINESE = re.compile(
    r"单次输入(?:限长|超长).*"
    r"|上一次请求还未结束.*"
    r"|未知错误.{0,3}请.*"
    r"|(?:服务器|系统|网络|接口|服务)(?:内部|调用|连接|请求)?"
    r"(?:错误|异常|繁忙|超时|出错|失败|(?:暂时)?不可用)(?:[，,。.！!].*)?"
    r"|请求(?:过于频繁|频率过高|超时|失败|出错|错误)(?:[，,。.！!:：].*)?"
    r"|(?:当前)?(?:访问|请求)(?:人数|量|次数)?(?:过多|过大|超限)(?:[，,。.！!].*)?"
    r"|输入(?:文本|内容|长度)?(?:过长|超长|超出(?:长度)?限制)(?:[，,。.！!].*)?",
    re.DOTALL,
)
_PAGE = re.compile(r"(?:<!doctype html[^>]*>\s*|<\?xml[^>]*>\s*)?<html\b", re.IGNORECASE)
_HEADING = re.compile(r"<(title|h1)\b[^<>]{0,200}>([^<]{0,300})</\1>", re.IGNORECASE | re.DOTALL)
_HEADED = re.compile(rf"[45]\d\d\b.*|{_PHRASE}|error\b.*", re.IGNORECASE | re.DOTALL)
_TRACEBACK = "Traceback (most recent call last):"


def is_error_text(text: str) -> bool:
    """Return whether *text* is a message of a program instead of a model's answer.

    False for an empty text: there the answer is missing.
    """
    words = text.strip()
    if not words or len(words) > MOST_OF_A_PAGE:
        return False
    if words.startswith(_TRACEBACK):
        return _EXCEPTION.fullmatch(words.splitlines()[-1].strip()) is not None
    if words[0] == "<":
        # An HTML page is a message if its title or heading is one.
        headings = _HEADING.findall(words) if _PAGE.match(words) else []
        return any(_HEADED.fullmatch(" ".join(heading.split())) for _tag, heading in headings)
    if words[0] == "{":
        return _is_error_object(words)
    if len(words) > MOST_OF_A_MESSAGE or _ANSWERS.search(words):
        return False
    if _HTTP.fullmatch(words) or _EXCEPTION.fullmatch(words) or _MESSAGES.fullmatch(words):
        return True
    if _ERROR_COLON.fullmatch(words):
        return _TECHNICAL.search(words.partition(":")[2]) is not None
    return len(words) <= MOST_OF_A_CHINESE_MESSAGE and _CHINESE.fullmatch(words) is not None


def _is_error_object(words: str) -> bool:
    """Return whether *words* is a JSON object that reports an error and contains no answer."""
    try:
        check_depth(words, "text")
        content = json.loads(words)
    except ValueError:
        return False
    if not isinstance(content, dict) or not content.keys().isdisjoint(
        {"answer", "choices", "response"}
    ):
        return False
    if content.get("error") or content.get("error_code") or content.get("error_msg"):
        return True
    code = content.get("code", content.get("status"))
    if (
        isinstance(code, int)
        and 400 <= code < 600
        and {"message", "msg", "detail"} & content.keys()
    ):
        return True
    detail = content.get("detail", content.get("message"))
    return len(content) == 1 and isinstance(detail, str) and _HTTP.fullmatch(detail) is not None
