"""A text that a model gives to many questions is kept, with who looked at it."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("evaluations", "0078_endings_of_replies"),
    ]

    operations = [
        migrations.CreateModel(
            name="RepeatedTexts",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("compared", models.PositiveIntegerField()),
                ("reviewed_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "responses",
                    models.ManyToManyField(related_name="+", to="evaluations.response"),
                ),
                (
                    "reviewed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=models.deletion.PROTECT,
                        related_name="repeated_texts",
                        to="evaluations.run",
                    ),
                ),
            ],
            options={"ordering": ["id"]},
        ),
    ]
