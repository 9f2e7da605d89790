"""Questions whose answers a person copies from a website."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0076_one_more_mark_for_a_judge"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PasteList",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "images",
                    models.CharField(
                        choices=[
                            ("send", "Send images"),
                            ("omit", "Omit images and say so"),
                            ("without", "Only questions without images"),
                        ],
                        max_length=8,
                    ),
                ),
                ("max_prompt_tokens", models.PositiveIntegerField()),
                ("repeat", models.PositiveSmallIntegerField(default=1)),
                ("choice", models.JSONField(default=dict)),
                ("questions", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="paste_lists",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "prompts",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="paste_lists",
                        to="evaluations.promptsetversion",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="paste_lists",
                        to="evaluations.run",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("images__in", ["send", "omit", "without"])),
                        name="paste_list_images_known",
                    )
                ],
            },
        ),
    ]
