"""The product's database and nothing else of it: no middleware, no session, no people."""

from gradeapp.settings import (
    ALLOWED_HOSTS,
    DATABASES,
    DEFAULT_AUTO_FIELD,
    DEMO,
    HTTPS,
    IMPORT_MAX_UPLOAD_MB,
    PROXIES,
    SECRET_KEY,
    USE_TZ,
)

__all__ = ["ALLOWED_HOSTS", "DATABASES", "DEFAULT_AUTO_FIELD", "SECRET_KEY", "USE_TZ"]
# What the web server asks for
__all__ += ["DEMO", "HTTPS", "IMPORT_MAX_UPLOAD_MB", "PROXIES"]

INSTALLED_APPS = ["bench.bare"]
ROOT_URLCONF = "bench.bare.views"
TEMPLATES = [
    {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True},
]
