"""A version of the question bank, raised by triggers."""

from django.db import migrations, models

from questions.migrations import _bank_version


class Migration(migrations.Migration):
    dependencies = [("questions", "0014_images_written_anew")]

    operations = [
        migrations.CreateModel(
            name="BankVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("shard", models.PositiveSmallIntegerField(unique=True)),
                ("number", models.PositiveBigIntegerField()),
            ],
        ),
        migrations.RunPython(_bank_version.install, _bank_version.remove),
    ]
