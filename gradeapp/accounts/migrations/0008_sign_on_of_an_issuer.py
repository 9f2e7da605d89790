"""Who was connected by single sign-on stays so, at the issuer of the settings and at no other."""

from django.conf import settings
from django.db import migrations

from gradeapp.accounts.single_sign_on import uid_of


def name_the_issuer(apps, schema_editor):
    if not settings.OIDC_ISSUER:
        return  # nobody can log in by them, and another issuer may come
    for account in apps.get_model("socialaccount", "SocialAccount").objects.filter(provider="sso"):
        account.uid = uid_of(account.uid)
        account.save(update_fields=["uid"])


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_token_form_key"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [migrations.RunPython(name_the_issuer, migrations.RunPython.noop)]
