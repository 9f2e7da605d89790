"""What a model can be asked to suggest to the curators."""

from __future__ import annotations

from gradeapp.common.named import Named


class Asks(Named):
    """One kind of suggestion; nothing of it counts before a person takes it."""

    LABELS = "labels", "Labels", "标注"
    RUBRIC = "rubric", "Rubric drafts", "评分细则草稿"
