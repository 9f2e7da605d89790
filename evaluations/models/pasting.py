"""Questions whose answers a person copies from a website, because its model has no API."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from evaluations.conditions import ImagePolicy
from evaluations.models.conditions import PromptSetVersion
from evaluations.models.runs import Run
from gradeapp.common.checks import known


class PasteList(models.Model):
    """The *questions* that a model with a website is asked by a person, under frozen prompts.

    ``run`` is the imported run that gets the answers: it names dataset, model and condition.
    ``questions`` are the keys of the questions in their order, ``choice`` the frozen
    ``QuestionChoice`` that gave them. What is answered is what the run has responses to in
    ``repeat``.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="paste_lists")
    prompts = models.ForeignKey(
        PromptSetVersion, on_delete=models.PROTECT, related_name="paste_lists"
    )
    images = models.CharField(max_length=8, choices=ImagePolicy.choices())
    max_prompt_tokens = models.PositiveIntegerField()
    repeat = models.PositiveSmallIntegerField(default=1)
    choice = models.JSONField(default=dict)
    questions = models.JSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="paste_lists"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [known("paste_list_images_known", images=ImagePolicy)]

    def __str__(self) -> str:
        return f"{self.run} ({len(self.questions)})"
