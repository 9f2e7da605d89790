"""Marking schemes, the rules of final marks and a round's defaults (docs/marking-protocol.md).

Tables store these lists and pure rules compute with them, so this imports no Django.
"""

from __future__ import annotations

from decimal import Decimal

from gradeapp.common.named import Named


class Scheme(Named):
    """How many marks a response gets and how they become one."""

    SINGLE = "1", "One teacher", "单评"
    MEAN = "mean", "Two teachers, always the mean", "双评取均值"
    TWO_AND_LEAD = "2+1", "Two teachers, then the lead", "双评加仲裁"
    THREE_AND_LEAD = "2+1+1", "Two teachers, a third, then the lead", "双评、三评加仲裁"

    @property
    def planned_marks(self) -> int:
        """Marks that every response gets; a third is asked for only when needed."""
        return 1 if self is Scheme.SINGLE else 2

    @property
    def most_marks(self) -> int:
        """Marks by teachers that a response can get, arbitration not counted."""
        return 3 if self is Scheme.THREE_AND_LEAD else self.planned_marks

    @classmethod
    def fitting(cls, teachers: int) -> Scheme:
        """The scheme with the most marks that so many *teachers* can give, a lead behind them."""
        if teachers < 2:
            return cls.SINGLE
        return cls.TWO_AND_LEAD if teachers == 2 else cls.THREE_AND_LEAD


class FinalRule(Named):
    """The rule that produced a final mark; stored, shown and exported beside it."""

    SINGLE = "single mark", "Single mark", "单评分"
    MEAN_OF_TWO = "mean of two", "Mean of two", "一评、二评均值"
    CLOSEST_1_3 = (
        "mean of closest pair (1 and 3)",
        "Mean of closest pair (1 and 3)",
        "最接近两评均值（一评与三评）",
    )
    CLOSEST_2_3 = (
        "mean of closest pair (2 and 3)",
        "Mean of closest pair (2 and 3)",
        "最接近两评均值（二评与三评）",
    )
    THIRD_MIDWAY = "third mark midway", "Third mark midway", "三评居中"
    ARBITRATION = "arbitration", "Arbitration", "仲裁"
    REFERENCE = "reference mark", "Reference mark", "种子卷标准分"


DEFAULT_SCHEME = Scheme.THREE_AND_LEAD
DEFAULT_STEP = Decimal("0.5")
MARK_STEPS = (DEFAULT_STEP, Decimal(1), Decimal("0.25"))
DEFAULT_TOLERANCE_POINTS = Decimal(1)
DEFAULT_TOLERANCE_SHARE = Decimal("0.10")
DEFAULT_REPEAT_SHARE = Decimal("0.01")
DEFAULT_WINDOW_MINUTES = 15
# What one person may hold of a round on marking sheets at once, and for how many days.
DEFAULT_SHEET_RESPONSES = 30
DEFAULT_SHEET_DAYS = 7
