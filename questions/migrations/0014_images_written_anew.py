"""Images are written anew at import; the digest of the file that came is kept beside."""

from django.db import migrations, models
from django.db.models import F


def keep_digests(apps, schema_editor):
    """The images of before are still the files that came."""
    apps.get_model("questions", "Asset").objects.update(source_sha256=F("sha256"))


class Migration(migrations.Migration):
    dependencies = [("questions", "0012_label_resolutions")]

    operations = [
        migrations.AddField(
            model_name="asset",
            name="source_sha256",
            field=models.CharField(blank=True, max_length=64, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="asset",
            name="reencoded",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(keep_digests, migrations.RunPython.noop),
    ]
