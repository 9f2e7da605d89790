"""Closed lists whose members have an English and a Chinese name."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Named(StrEnum):
    """A closed list whose members have an English and a Chinese name."""

    english: str
    chinese: str

    def __new__(cls, value: str, english: str = "", chinese: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.english = english
        member.chinese = chinese
        return member

    def label(self, language: str) -> str:
        """The member's name in *language* (``zh...`` is Chinese, all else English)."""
        return self.chinese if language.startswith("zh") else self.english

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        """Pairs for a model field: stored value, English name."""
        return [(member.value, member.english) for member in cls]


class WorkStatus(Named):
    """Where work in the background stands; a worker takes what is queued."""

    QUEUED = "queued", "Waiting", "等待中"
    WORKING = "working", "Running", "进行中"
    STOPPED = "stopped", "Stopped", "已停止"
    INTERRUPTED = "interrupted", "Interrupted", "已中断"
    FAILED = "failed", "Failed", "失败"
    DONE = "done", "Finished", "已完成"
