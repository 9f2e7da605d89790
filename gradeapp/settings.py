"""Settings: every value comes from the environment or has a default that needs no service."""

from __future__ import annotations

import base64
import hashlib
import secrets
from pathlib import Path

from celery.schedules import schedule
from csp.constants import NONE, SELF

from gradeapp import start_rules
from gradeapp.env import Environment
from gradeapp.providers import PROVIDERS
from gradeapp.redis_policy import OPTIONS as REDIS_OPTIONS
from gradeapp.start_rules import check_field_keys, check_hosts, check_key, stored_secret

env = Environment()
BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = start_rules.var_folder(Path(env.text("GRADEAPP_VAR", str(BASE_DIR / "var"))))

DEBUG = env.flag("DEBUG", default=False)
DEMO = env.flag("GRADEAPP_DEMO", default=False)
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = start_rules.check_origins(env.words("CSRF_TRUSTED_ORIGINS", []))
check_hosts(ALLOWED_HOSTS, demo=DEMO, debug=DEBUG)

# The key from the environment, or one made once for this folder and kept in ``var``.
SECRET_KEY = check_key(
    "SECRET_KEY",
    env.text("SECRET_KEY")
    or stored_secret(VAR_DIR / "secret-key", secrets.token_urlsafe(60).encode()),
)
# The keys of before, so that a new SECRET_KEY logs nobody out.
SECRET_KEY_FALLBACKS = [
    check_key("SECRET_KEY_FALLBACKS", key) for key in env.words("SECRET_KEY_FALLBACKS", [])
]


def field_keys() -> list[str]:
    """The keys that encrypt stored API keys, newest first; demo and DEBUG keep one in ``var``."""
    keys = env.words("GRADEAPP_FIELD_KEYS", [])
    if not keys and (DEMO or DEBUG):
        new = base64.urlsafe_b64encode(secrets.token_bytes(32))
        keys = [stored_secret(VAR_DIR / "field-key", new)]
    check_field_keys(keys)
    return keys


FIELD_KEYS = field_keys()

INSTALLED_APPS = [
    "gradeapp.accounts",
    "gradeapp.audit",
    "questions",
    "evaluations",
    "gradeapp.apps.OperatorsConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
]

MIDDLEWARE = [
    "gradeapp.http.this_machine_alone",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "gradeapp.http.plain_session_keys",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "gradeapp.body_limit.BodyLimit",
    "django.middleware.csrf.CsrfViewMiddleware",
    "gradeapp.http.StorableTexts",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "gradeapp.accounts.session_rules.SessionRules",
    "gradeapp.accounts.api_auth.ExportsByToken",
    "gradeapp.common.current_request.current_request_middleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "gradeapp.http.private_pages",
    "gradeapp.http.visible_characters",
    "gradeapp.http.htmx_login",
    "gradeapp.http.post_addresses",
    "gradeapp.http.refusals",
    "gradeapp.audit.reads.CountReads",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "gradeapp.urls"
WSGI_APPLICATION = "gradeapp.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "gradeapp.context.navigation",
            ],
            "builtins": ["gradeapp.common.times"],
        },
    }
]

DATABASES = {"default": env.database("DATABASE_URL", VAR_DIR / "gradeapp.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# People
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["gradeapp.accounts.backend.Backend"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_HASHERS = [
    "gradeapp.accounts.passwords.BoundedArgon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "gradeapp.accounts.passwords.MinimumLength", "OPTIONS": {"min_length": 10}},
]

# Proxies of one's own in front of the site: that many last entries of X-Forwarded-For are true
PROXIES = env.number("GRADEAPP_PROXIES", 0, low=0, high=5)
# How many passwords all processes of this machine hash at once
LOGIN_HASHES = env.number("LOGIN_HASHES", 2, low=1, high=64)

# Whether the Django admin is mounted, under /admin/
ADMIN_SITE = env.flag("GRADEAPP_ADMIN_SITE", default=DEMO)
# The second factor, sessions and single sign-on (django-allauth; docs/decisions/0006-accounts.md)
SECOND_FACTOR_ROLES = env.roles("GRADEAPP_SECOND_FACTOR", [] if DEMO else ["admin", "lead"])
ACCOUNT_ADAPTER = "gradeapp.accounts.adapter.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_FORMS = {"reauthenticate": "gradeapp.accounts.forms.ConfirmForm"}
ACCOUNT_RATE_LIMITS = False  # gradeapp.accounts.throttle counts, before the guess
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
MFA_ADAPTER = "gradeapp.accounts.adapter.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Gradeapp"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEMO or DEBUG
_FORMS = {
    "authenticate": "CodeForm", "reauthenticate": "ConfirmCodeForm", "activate_totp": "AppForm",
    "authenticate_webauthn": "KeyLoginForm", "reauthenticate_webauthn": "ConfirmKeyForm",
    "add_webauthn": "KeyForm", "edit_webauthn": "KeyNameForm",
}  # fmt: skip
MFA_FORMS = {name: f"gradeapp.accounts.forms.{form}" for name, form in _FORMS.items()}
USERSESSIONS_ADAPTER = "gradeapp.accounts.adapter.SessionsAdapter"
SOCIALACCOUNT_ADAPTER = "gradeapp.accounts.single_sign_on.SocialAdapter"
# A link, not a form: the CSP lets no form lead to another site.
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_STORE_TOKENS = False
_CLIENT = {"client_id": env.text("OIDC_CLIENT_ID"), "secret": env.text("OIDC_CLIENT_SECRET")}
OIDC_ISSUER = start_rules.check_issuer(env.text("OIDC_ISSUER"), **_CLIENT)
OIDC_NAME = env.text("OIDC_NAME", "OpenID Connect")
SOCIALACCOUNT_PROVIDERS: dict[str, dict[str, object]] = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "sso",
                "name": OIDC_NAME,
                **_CLIENT,
                "settings": {"server_url": OIDC_ISSUER},
            }
        ]
        if OIDC_ISSUER
        else [],
    }
}
SERIALIZATION_MODULES = {"json": "gradeapp.exact_json"}  # for a database that is moved
# A code that was used is remembered where all processes see it.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "shared_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},  # the codes go first when it is full
    }
}

ONLY_MARKERS_MARK = env.flag("GRADEAPP_ONLY_MARKERS_MARK", default=False)
# The password is asked for again before changes of people, at most once in five minutes
CONFIRM_CHANGES = env.flag("CONFIRM_CHANGES", default=not DEMO)
# And, unless it was given so many minutes ago, before a run that may cost more, and before exports
CONFIRM_COST = env.number("GRADEAPP_CONFIRM_COST", 50, low=0, high=1_000_000)
CONFIRM_MINUTES = env.number("GRADEAPP_CONFIRM_MINUTES", 15, low=1, high=1440)
# Mail: only to send links for new passwords; without a host an admin makes them
EMAIL_HOST = env.text("EMAIL_HOST")
EMAIL_PORT = env.number("EMAIL_PORT", 587, low=1, high=65535)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", default=True)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "gradeapp@localhost")

# Sessions, cookies, transport
# 0 is no limit; the desk keeps what was typed when a session ends
SESSION_HOURS = env.number("SESSION_HOURS", 12 if DEMO else 8, low=0, high=720)
SESSION_IDLE_MINUTES = env.number("SESSION_IDLE_MINUTES", 0 if DEMO else 60, low=0, high=1440)
HTTPS = env.flag("GRADEAPP_HTTPS", default=False)
SESSION_COOKIE_AGE = (SESSION_HOURS or 720) * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
# The folder is part of the name, so that two copies on one host do not log each other out.
SESSION_COOKIE_NAME = "gradeapp_" + hashlib.sha256(str(VAR_DIR).encode()).hexdigest()[:8]
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "gradeapp.http.csrf_failure"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "script-src-attr": [NONE],
        "style-src": [SELF],
        "style-src-attr": [NONE],
        "font-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "frame-src": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}

env.file("SSL_CERT_FILE")  # read where a call is made; a wrong path is said at once

# The audit trail: whether entries name the network address of who did it
AUDIT_ADDRESSES = env.flag("AUDIT_ADDRESSES", default=False)
# How long sealed entries are kept, in days; 0 keeps all
AUDIT_RETENTION_DAYS = env.number("AUDIT_RETENTION_DAYS", 0, low=30, high=36500, or_zero=True)
# An alert where one person reads so many items in so many minutes; 0 items raises none
READ_ALERT_ITEMS = env.number("READ_ALERT_ITEMS", 500, low=0, high=1_000_000)
READ_ALERT_MINUTES = env.number("READ_ALERT_MINUTES", 10, low=1, high=1440)

# Languages
LANGUAGE_CODE = "en"
LANGUAGES = [("zh-hans", "中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
TIME_ZONE = env.time_zone("TIME_ZONE", "Asia/Shanghai")
USE_I18N = USE_TZ = True

# Files
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
DATA_UPLOAD_MAX_NUMBER_FILES = 100
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20
FILE_UPLOAD_PERMISSIONS = 0o600
# Pages draw no total and no rate from fewer marked answers than this, in per cent
REPORT_MARKED_PERCENT = env.number("REPORT_MARKED_PERCENT", 80, low=0, high=100)
# The largest request: an upload of questions, and anything else (gradeapp.body_limit).
IMPORT_MAX_UPLOAD_MB = env.number("IMPORT_MAX_UPLOAD_MB", 100, low=1, high=1024)
REQUEST_MAX_BYTES = 4 * 2**20

# The API: requests a minute of one API token, and twice as many of all tokens of a person
API_REQUESTS_PER_MINUTE = env.number("API_REQUESTS_PER_MINUTE", 120, low=1, high=100_000)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["gradeapp.accounts.api_auth.TokenOrSession"],
    "DEFAULT_PERMISSION_CLASSES": ["gradeapp.accounts.permissions.NobodyUnlessAllowed"],
    "DEFAULT_RENDERER_CLASSES": ["gradeapp.api_json.AnyTextJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["gradeapp.api_json.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "gradeapp.http.api_refusal",
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "gradeapp",
    "DESCRIPTION": "Examinations for language models: questions, runs, responses, marks, reports.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "gradeapp.openapi.add_refusals",
    ],
    "ENUM_NAME_OVERRIDES": {
        "RunStatusEnum": "evaluations.models.vocabulary.RunStatus.choices",
        "ItemStatusEnum": "questions.rules.vocabulary.ItemStatus.choices",
        "ImportStatusEnum": "questions.rules.vocabulary.ImportStatus.choices",
        "AbilityBranchEnum": "questions.rules.vocabulary.AbilityBranch.choices",
        "ModalEnum": "questions.rules.vocabulary.Modal.choices",
        "SubjectEnum": "questions.rules.vocabulary.Subject.choices",
    },
}

# The worker
CELERY_BROKER_URL = env.broker("CELERY_BROKER_URL", "filesystem://localhost")
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
if CELERY_BROKER_URL.startswith("filesystem://"):
    CELERY_BROKER_TRANSPORT = "gradeapp.broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "folder": str(VAR_DIR / "broker"),
        # A worker takes one message a free process at each look: at 0.5 s the clock alone filled
        # the queue of a worker with one free process.
        "polling_interval": 0.1,
    }
elif CELERY_BROKER_URL.startswith("redis"):
    CELERY_BROKER_TRANSPORT_OPTIONS = dict(REDIS_OPTIONS)
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat")
# How often the clock looks for work that no message points to
CLOCK_SECONDS = env.number("CLOCK_SECONDS", 10, low=1, high=300)
CELERY_BEAT_SCHEDULE = {
    name: {"task": task, "schedule": schedule(float(seconds))}
    for name, task, seconds in (
        ("look-for-work", "evaluations.look_for_work", CLOCK_SECONDS),
        ("look-for-imports", "questions.look_for_imports", CLOCK_SECONDS),
        ("look-for-answers", "evaluations.look_for_answers", CLOCK_SECONDS),
        ("look-for-searches", "evaluations.look_for_searches", CLOCK_SECONDS),
        ("look-for-rescorings", "evaluations.look_for_rescorings", CLOCK_SECONDS),
        ("look-for-exports", "evaluations.look_for_exports", CLOCK_SECONDS),
        ("finalize-due-marks", "evaluations.finalize_due_marks", CLOCK_SECONDS),
        # Entries are sealed within a minute
        ("seal-entries", "audit.seal_entries", min(CLOCK_SECONDS * 2, 30)),
        ("forget-sessions", "accounts.forget_sessions", 600),
    )
}

# Runs: how much one worker keeps in flight and how long a claim lasts
RUN_LEASE_SECONDS = env.number("RUN_LEASE_SECONDS", 120, low=5, high=3600)
# The most calls of one run or study: questions times repeats times runs
RUN_MOST_CALLS = env.number("RUN_MOST_CALLS", 250_000, low=1, high=10_000_000)
RUN_MAX_IN_FLIGHT = env.number("RUN_MAX_IN_FLIGHT", 64, low=1, high=1024)
# Seconds that a run waits for an endpoint that fails: at first, and at most. A probe that may be
# billed is sent at most every ten minutes.
RUN_OUTAGE_WAIT = env.number("RUN_OUTAGE_WAIT", 10, low=1, high=3600)
RUN_OUTAGE_LONGEST_WAIT = env.number("RUN_OUTAGE_LONGEST_WAIT", 60, low=1, high=3600)
# How long a worker that imports may be silent before its import counts as interrupted
IMPORT_LEASE_SECONDS = env.number("IMPORT_LEASE_SECONDS", 60, low=5, high=3600)
# Private networks in which endpoints may be; the models of the demo run on loopback.
ENDPOINT_ALLOW_CIDRS = env.networks(
    "ENDPOINT_ALLOW_CIDRS", ["127.0.0.0/8", "::1/128"] if DEMO else []
)

# Where the key in a variable may be sent: well-known providers, and what the setting adds
KEY_HOSTS = env.key_hosts("GRADEAPP_KEY_HOSTS", PROVIDERS)

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "gradeapp.log_lines.LineFormatter",
            "fmt": "{asctime} {levelname} {name} {message}",
            "style": "{",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    # It warns of each request that waits for a thread.
    "loggers": {"waitress.queue": {"level": "ERROR"}},
    "root": {"handlers": ["console"], "level": env.choice("LOG_LEVEL", "WARNING", LOG_LEVELS)},
}
