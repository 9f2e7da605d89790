"""No mark, point or final mark is replaced (SQLite) or truncated (PostgreSQL): no trigger keeps it."""

from django.db import migrations

from evaluations.migrations._mark_history import allow, refuse


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0094_batch_taken_at")]

    operations = [migrations.RunPython(refuse, allow)]
