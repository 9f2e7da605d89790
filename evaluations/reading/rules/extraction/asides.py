"""Passages that name a letter without answering: choices of others, and suppositions.

A later letter replaces an earlier answer only if the writer commits to it. "很多同学会选B",
"the answer would be B if ..." and a section about common mistakes do not. All quantifiers
are bounded, so the search takes linear time.
"""

from __future__ import annotations

import re

from evaluations.reading.rules.extraction.source_text import SourceText

# Capital letters of options; "A" before a small word is an article.
_LETTERS = (
    r"[(\[\"']?(?<![A-Za-z])(?:[B-G]|A(?!\s(?!(?:if|when|because|is|since|but|by|for|and|or)\b)[a-z]))(?:(?:\s?(?:[、,/&+和与或]|and|or)\s?|)[A-G]){0,6}"
    r"(?![A-Za-z])[)\]\"']?"
)
_ZH_LETTERS = rf"\s?{_LETTERS}(?:选?项)?"
_ZH_VERDICT = (
    r"(?:[,;]?\s?但?[这此](?:个?(?:答案|选择|选项|样))?[^,。;\n]{0,4}"
    r"(?:错|不对|不正确)[^,。;\n]{0,6})?"
)
_ZH_WHO = (
    r"(?:小[明红华刚丽强李张王](?=选)|(?:[很许]多|不少|部分|有[些的]?|一些|大(?:多数?|部分)|多数|某些)的?(?:同学|学生|考生|读者|人)们?"
    r"|(?:同学|学生|考生)们?(?=[^,。;\n]{0,6}(?:会|常|往往|容易|误|错|可能|认为|以为|觉得)))"
)
_ZH_OWN = r"(?!应|须|需|可以|正确|只能|但|故|所以|因此)[^,。;\n]"
_EN_OWN = (
    r"(?!\b(?:but|however|actually|correctly|should|must|while|whereas|yet|though|so|therefore|thus"
    r"|hence|not)\b)[^.,;\n]"
)
_EN_VERB = (
    r"(?:choos(?:e|es|ing)|chose|pick(?:s|ed|ing)?|select(?:s|ed|ing)?|say|think|believe|argue"
    r"|assume|claim|answer|conclude|guess|go (?:with|for)|opt for|mark)"
)
_HEARSAY = re.compile(
    rf"(?:注意\s?:?\s?)?(?:第\s?\d{{1,3}}\s?小?题[,:]?\s?)?{_ZH_WHO}(?:{_ZH_OWN}){{0,16}}?"
    r"(?:选[择了成取]?|答案|认为|以为|觉得|[,](?:从而|于是|就|便|而|因此|所以)?[错误]?选[择了成])"
    rf"(?:{_ZH_OWN}){{0,8}}?{_ZH_LETTERS}{_ZH_VERDICT}"
    rf"|误(?:[认以]为|判)[^,。;\n]{{0,10}}?{_ZH_LETTERS}{_ZH_VERDICT}"
    rf"|(?:容易|易|常)(?:误|错)?选成?{_ZH_LETTERS}{_ZH_VERDICT}"
    rf"|常见的?错误(?:答案|选项|选择|做法)?(?:是|为|:)[^,。;\n]{{0,10}}?{_ZH_LETTERS}"
    r"|(?:并?不是说|不能说|不认为|不觉得|不[同愿]意|不赞[成同]|不认同|反对|否认)"
    rf"[^,。;\n]{{0,10}}?(?:答案|选)[^,。;\n]{{0,4}}?{_ZH_LETTERS}"
    r"|(?i:\b(?:(?:(?:an?|many|some|most|several|other|certain|careless)(?: of the)?"
    r" (?:\w{1,14} )?)?"
    r"(?:students?|people|readers?|test[- ]takers?|candidates?|learners)"
    r"|(?:nobody|no[- ]one|hardly any(?:one|body))(?! (?:\w{2,6} )?(?:doubt|den[iy]|disput))"
    r"|(?:many|some|most|others)(?= (?:may|might|could|would|will|often|think|say|choose))"
    r"|(?:one|you)(?= (?:may|might|could) ))"
    rf" (?:{_EN_OWN}){{0,24}}?\b{_EN_VERB}\b(?:{_EN_OWN}){{0,40}}?)"
    rf"{_LETTERS}"
    r"|(?i:\bcommon (?:mistake|error|misconception|trap|pitfall|wrong answer|distractor)s?\b"
    rf"(?:{_EN_OWN}){{0,50}}?\b(?:{_EN_VERB}|is|option)\b(?:{_EN_OWN}){{0,20}}?){_LETTERS}"
    rf"|(?i:\b(?:an? )?(?:tempt(?:ing|ed)|wrong|incorrect|mistake) to {_EN_VERB}\b"
    rf"(?:{_EN_OWN}){{0,20}}?){_LETTERS}"
    rf"|没有(?:任何|什么)?(?:理由|依据|根据)(?!的)[^,。;\n]{{0,6}}?(?:答案|选)[^,。;\n]{{0,4}}?{_ZH_LETTERS}"
    r"|(?i:\b(?:it is not the case|it's not the case|it is not true|it isn't true|it is false"
    r"|i doubt|i (?:do not|don't) (?:think|believe)|nobody (?:would|could) (?:say|think))"
    r"(?: that)? (?:the )?(?:\w{1,8} )?"
    rf"(?:answer|choice|option)(?: is)?(?: option)?\s?){_LETTERS}"
)
_SUPPOSED = re.compile(
    r"(?:若|如果|假如|倘若|要是)(?:(?!故|所以|因此|综上|但)[^。;\n]){0,60}?"
    r"(?:则|那么|就|便|应|会|,(?=答案|选))[^,。;\n]{0,6}?(?:选|答案[^,。;\n]{0,4}?[是为成])择?"
    rf"{_ZH_LETTERS}"
    rf"|[也还亦]?可以?先?[选将把][取择]?{_ZH_LETTERS}(?:进行)?(?:代入|验证|检验)"
    r"|(?i:\bif\b(?:(?!\b(?:so|therefore|thus|hence|but)\b)[^.;\n]){0,80}?\b(?:answer|choice|option)"
    rf" (?:would|could|might)(?: then)?(?: have)? (?:be|been)(?: option)? ){_LETTERS}"
    r"|(?i:\b(?:answer|choice|option) (?:would|could|might)(?: then)?(?: have)? (?:be|been)"
    rf"(?: option)? ){_LETTERS}"
    r"(?i:[^.,;\n]{0,20}?\b(?:if|had|were|unless|without)\b[^.;\n]{0,80})"
    rf"|(?i:\b{_EN_VERB}(?: option)? ){_LETTERS}(?i: (?:only )?(?:if|when) you\b[^.;\n]{{0,80}})"
    r"|(?i:\b(?:incorrect|wrong) (?:answers|options|choices)\s?(?:are)?\s?:?\s?)"
    rf"{_LETTERS}(?:,?\s{{0,2}}(?:and )?[A-G](?![A-Za-z])){{0,5}}"
    r"|(?:\A|(?<=[\n。.!\s】]))【?(?:易错(?:点|提醒|警示|提示|分析|选项)?|常见(?:错误|误区)|误区(?:警示|提醒)?)"
    r"\s?[】:](?:(?!\n\n|【)(?s:.)){0,1000}"
    r"|(?:\A|(?<=[\n。.!\s】]))(?:【?(?:变式|拓展|举一反三|同类题?|相似题)(?:训练|练习|延伸|题)?\d?\s?[】:]"
    r"|(?i:(?:variants?|variations?|follow-up question)\s?:))(?s:.){0,4000}"
)


def without_hearsay(source: SourceText) -> SourceText:
    """Remove letters that other people choose, or that are denied to be the answer."""
    return source.edited([(*found.span(), " ") for found in _HEARSAY.finditer(source.text)])


def without_suppositions(source: SourceText) -> SourceText:
    """Remove answers under a condition, answers of variants, and common mistakes."""
    return source.edited([(*found.span(), " ") for found in _SUPPOSED.finditer(source.text)])
