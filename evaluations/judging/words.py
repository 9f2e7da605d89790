"""What became of a judge's reply, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.judging.rules.judge_reply import JudgeStatus as J

JUDGED: Mapping[str, Promise | str] = {
    J.SCORED: _("scored"),
    J.OVER_FULL_MARKS: _("more than full marks"),
    J.BELOW_ZERO: _("below zero"),
    J.SEVERAL_TOTALS: _("several totals"),
    J.UNCLEAR_TOTAL: _("unclear total"),
    J.WRONG_DENOMINATOR: _("other full marks"),
    J.NO_TOTAL: _("no total"),
    J.EMPTY: _("empty reply"),
    J.REFUSED: _("refused"),
    J.TRUNCATED: _("cut off"),
}


def judge_words(status: str) -> Promise | str:
    """What became of a judge's reply."""
    return JUDGED.get(status, status)
