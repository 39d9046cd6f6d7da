"""One settings file, driven by the environment. `.env.example` documents every variable.

Without any variable set it is the embedded default: SQLite, Celery's filesystem broker, the embedded
marketplace on another host name of the same server, everything under `var/`.
"""

import logging
import os
import secrets
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.environment import (
    env,
    env_bool,
    env_choice,
    env_database,
    env_decimal,
    env_folder,
    env_hosts,
    env_int,
    env_list,
    env_origin,
    env_pairs,
    env_rates,
    env_recipients,
    env_redis,
    env_time_zone,
    unknown_names,
)
from config.mail import read_mail_url
from config.schedule import beat_schedule

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
DEMO_PORT = env_int("ASSENT_PORT", 8000, least=1, most=65_535)


DATA_DIR = env_folder("ASSENT_DATA_DIR", BASE_DIR / "var")


def secret_key() -> str:
    """Return SECRET_KEY, or a random key kept in the data folder so that a restart keeps sessions valid."""
    if given := env("SECRET_KEY"):
        return given
    path = DATA_DIR / "secret_key"
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return path.read_text()


SECRET_KEY = secret_key()
# What was signed under an earlier key stays good as long as that key is named here, the newest first.
SECRET_KEY_FALLBACKS = env_list("SECRET_KEY_FALLBACKS")
# Pseudonyms, and the marketplace's codes, invitations and access keys, hang on keys of their own where these are set.
PSEUDONYM_KEY = env("ASSENT_PSEUDONYM_KEY")
PSEUDONYM_KEY_FALLBACKS = env_list("ASSENT_PSEUDONYM_KEY_FALLBACKS")
MARKETPLACE_KEY = env("MARKETPLACE_KEY")
MARKETPLACE_KEY_FALLBACKS = env_list("MARKETPLACE_KEY_FALLBACKS")
DEBUG = env_bool("DEBUG")

# -- Addresses ---------------------------------------------------------------------------------------------
# The app and the embedded marketplace answer on two different sites, as an ExternalQuestion and
# mturk.com do, so that cookies and frames behave here as they do there.
APP_URL = env_origin("ASSENT_APP_URL", "http://127.0.0.1:8000")
MARKETPLACE_URL = env_origin("ASSENT_MARKETPLACE_URL", "http://localhost:8000")
APP_HOST = urlsplit(APP_URL).hostname or ""
MARKETPLACE_HOST = urlsplit(MARKETPLACE_URL).hostname or ""
if APP_HOST == MARKETPLACE_HOST:
    raise ImproperlyConfigured("ASSENT_APP_URL and ASSENT_MARKETPLACE_URL need two different host names.")
ALLOWED_HOSTS = [APP_HOST, MARKETPLACE_HOST, *env_list("ALLOWED_HOSTS")]
CSRF_TRUSTED_ORIGINS = [APP_URL, MARKETPLACE_URL]

HTTPS = APP_URL.startswith("https://")
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
YEAR = 31_536_000  # seconds
SECURE_HSTS_SECONDS = env_int("SECURE_HSTS_SECONDS", YEAR if HTTPS else 0, least=0, most=10 * YEAR)
# For a whole domain, and for good: only somebody who knows the other names of that domain can say so.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env_bool("SECURE_HSTS_INCLUDE_SUBDOMAINS")
SECURE_HSTS_PRELOAD = env_bool("SECURE_HSTS_PRELOAD")
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # that these two are off
SESSION_ENGINE = "config.session_store"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env_bool("TRUST_PROXY") else None

# -- Applications ------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "config.late_admin.LateAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "crispy_forms",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "annotators",
    "surveys",
    "marketplace",
]
MIDDLEWARE = [
    "config.content_security.ContentSecurityPolicyMiddleware",
    "config.access_log.AccessLogMiddleware",
    "config.compression.PageCompressionMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.sites.UrlconfByHostMiddleware",
    "config.languages.WorkerLanguageMiddleware",
    "config.admin_requests.MalformedAdminRequestMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "surveys.pages.sign_in.factors.SecondFactorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "surveys.pages.study.missing_type.MissingTypeMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
MARKETPLACE_URLCONF = "marketplace.urls"
WSGI_APPLICATION = "config.wsgi.application"
TASK_APPLICATION = "config.celery.app"
X_FRAME_OPTIONS = "DENY"
# For every page without a policy of its own; frame-ancestors follows from X-Frame-Options (config.content_security).
SECURE_CSP: dict[str, list[str]] = {
    "default-src": ["'self'"],
    "img-src": ["'self'", "data:"],
    "object-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
}

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n"],
            "libraries": {
                "kept_parts": "config.kept_parts",
                "language": "config.language_tags",
                "styles": "surveys.pages.answering.styles",
            },
        },
    }
]
CRISPY_ALLOWED_TEMPLATE_PACKS = ["assent"]
CRISPY_TEMPLATE_PACK = "assent"
CRISPY_FAIL_SILENTLY = False

# -- Database ----------------------------------------------------------------------------------------------
# WAL + IMMEDIATE + a 20 s timeout: no "database is locked" with 8 writing processes. FULL: the log is on the disk
# before a commit returns, so what somebody was told survives a power loss; with NORMAL the latest commits may not
# (sqlite.org/pragma.html#pragma_synchronous).
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=20000;",
}
DATABASES = {"default": env_database("DATABASE_URL", f"sqlite:///{DATA_DIR / 'db.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- Automatic metrics ----------------------------------------------------------------------------------------
METRICS_IN_USE = env_list("ASSENT_METRICS", "text_f1,captioning_meteor,one_minus_ned")
METRICS_THESAURUS = env("ASSENT_THESAURUS")

# -- Broker and cache --------------------------------------------------------------------------------------
REDIS_URL = env_redis("REDIS_URL")
CELERY_DB_REUSE_MAX = sys.maxsize  # Django's own rules say how long a connection is kept (config.celery)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Thousands of HITs are published at once, and simulated people take turns for minutes: whatever else waits is taken
# first. With Redis 0 is before 9.
CELERY_TASK_ROUTES = {
    "surveys.sync.simulate": {"priority": 9},
    "surveys.sync.publish_questionnaire": {"priority": 9},
    "surveys.sync.make_smaller_pictures": {"priority": 9},
}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
WORKER_READY_FILE = env("ASSENT_WORKER_READY_FILE")
SYNC_EVERY_SECONDS = env_int("ASSENT_SYNC_SECONDS", 60, least=1, most=86_400)
# Below this share of free space, in percent, health checks, a gauge and a mail say so. 0: never.
DISK_FREE_PERCENT = env_int("ASSENT_DISK_FREE_PERCENT", 5, least=0, most=99)
# Whoever is named for alarms is mailed where the last backup is older. 0: never.
BACKUP_ALARM_HOURS = env_int("ASSENT_BACKUP_ALARM_HOURS", 0, least=0, most=8_760)
HEARTBEAT_SECONDS = env_int("ASSENT_HEARTBEAT_SECONDS", 15, least=1, most=3600)
CELERY_BEAT_SCHEDULE = beat_schedule(sync_seconds=SYNC_EVERY_SECONDS, heartbeat_seconds=HEARTBEAT_SECONDS)
CELERY_BEAT_SCHEDULER = "config.scheduler:SteadyScheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "celerybeat-schedule")
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL},
        "heartbeats": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "heartbeats",
            "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
        },
    }
else:
    CELERY_BROKER_URL = "filesystem://localhost"
    CELERY_BROKER_TRANSPORT = "config.filesystem_broker:Transport"
    BROKER_DIR = DATA_DIR / "broker"
    for name in ("queue", "processed", "control"):
        (BROKER_DIR / name).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_DIR / "queue"),
        "data_folder_out": str(BROKER_DIR / "queue"),
        "processed_folder": str(BROKER_DIR / "processed"),
        "control_folder": str(BROKER_DIR / "control"),
        "polling_interval": 0.02,  # one task is taken a look; 0.1 holds a study to ten tasks a second
    }
    CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
        "heartbeats": {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": DATA_DIR / "heartbeats",
        },
    }

# -- Files -------------------------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = Path(env("ASSENT_STATIC_DIR", str(DATA_DIR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = False
MEDIA_ROOT = env_folder("ASSENT_MEDIA_DIR", DATA_DIR / "media")
FIXTURE_DIRS = [BASE_DIR / "fixtures"]
MB = 1024 * 1024
MOST_MB = 1_000_000  # that any of these four may be set to
UPLOAD_MAX_BYTES = env_int("ASSENT_UPLOAD_MAX_MB", 50, least=1, most=MOST_MB) * MB
# What one file of a block may have; a picture has UPLOAD_MAX_BYTES.
MEDIA_MAX_BYTES = {
    "audio": env_int("ASSENT_AUDIO_MAX_MB", 50, least=1, most=MOST_MB) * MB,
    "video": env_int("ASSENT_VIDEO_MAX_MB", 100, least=1, most=MOST_MB) * MB,
}
IMAGE_ARCHIVE_MAX_BYTES = env_int("ASSENT_IMAGE_ARCHIVE_MAX_MB", 500, least=1, most=MOST_MB) * MB
# Pictures may be fetched from addresses inside our own network (off: a URL must not reach what only we can).
FETCH_PRIVATE = env_bool("ASSENT_FETCH_PRIVATE")
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000

# -- People ------------------------------------------------------------------------------------------------
# Days after a worker's last work that their id is kept; 0: for ever.
KEEP_WORKER_IDS_DAYS = env_int("ASSENT_KEEP_WORKER_IDS_DAYS", 0, least=0, most=36_500)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "admin:login"
# Staff without a second factor are led to setting one up, and nowhere else.
REQUIRE_SECOND_FACTOR = env_bool("ASSENT_REQUIRE_SECOND_FACTOR")
OTP_TOTP_ISSUER = f"Assent {APP_HOST}"  # what an app calls the account
# Sign-in by a university, where its three are set; mozilla-django-oidc reads those that begin with OIDC_RP_.
OIDC_ISSUER = env("ASSENT_OIDC_ISSUER")
OIDC_RP_CLIENT_ID = env("ASSENT_OIDC_CLIENT_ID")
OIDC_RP_CLIENT_SECRET = env("ASSENT_OIDC_CLIENT_SECRET")
OIDC_IS_ON = all([OIDC_ISSUER, OIDC_RP_CLIENT_ID, OIDC_RP_CLIENT_SECRET])
OIDC_LABEL = env("ASSENT_OIDC_LABEL", "your university")
# Whoever has a link into a study's team may make an account, which sees that study and no other.
INVITED_ACCOUNTS = env_bool("ASSENT_INVITED_ACCOUNTS", True)
OIDC_CREATE_ACCOUNTS = env_bool("ASSENT_OIDC_CREATE_ACCOUNTS")
# Values of the university's `amr` that count as a second factor (RFC 8176): mfa, otp, hwk and so on.
OIDC_SECOND_FACTORS = frozenset(env_list("ASSENT_OIDC_SECOND_FACTORS"))
OIDC_USE_PKCE = True
OIDC_TIMEOUT = 10  # seconds
LOGIN_REDIRECT_URL = "admin:index"
AUTHENTICATION_BACKENDS = ["surveys.teams.StudyRoles", "django.contrib.auth.backends.ModelBackend"]
if OIDC_IS_ON:
    AUTHENTICATION_BACKENDS.append("surveys.pages.sign_in.provider.UniversityBackend")
TIME_ZONE = env_time_zone("TIME_ZONE", "UTC")
USE_TZ = True

# -- Languages of workers' pages (config.languages); everything else is English ---------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ru", "Русский")]  # each in its own words
LANGUAGE_COOKIE_NAME = "language"
USE_I18N = True
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "config.formats"

# -- E-mail to researchers -----------------------------------------------------------------------------------
MAIL = read_mail_url(env("EMAIL_URL"))
EMAIL_BACKEND, EMAIL_HOST, EMAIL_PORT = MAIL.backend, MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.name, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL, EMAIL_TIMEOUT = MAIL.tls, MAIL.ssl, 20
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env("ASSENT_MAIL_FROM", f"Assent <assent@{APP_HOST}>")
ALARM_RECIPIENTS = env_recipients("ASSENT_ALARM_RECIPIENTS")

# -- Where HITs go -----------------------------------------------------------------------------------------
# Credentials for the AWS endpoints are boto3's own (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or a profile).
# The pair that stands in fixtures/marketplace_demo.json: public, and taken from this machine only.
PUBLIC_ACCESS_KEY_ID = "AKIDASSENTDEMO"
MTURK_ENDPOINTS: dict[str, dict[str, Any]] = {
    "embedded": {
        "endpoint_url": MARKETPLACE_URL,
        "aws_access_key_id": env("MARKETPLACE_ACCESS_KEY_ID", PUBLIC_ACCESS_KEY_ID),
        "aws_secret_access_key": env("MARKETPLACE_SECRET_ACCESS_KEY", "assent-demo-secret-loopback-only"),
        "submit_origins": [MARKETPLACE_URL],
        "is_paying": False,
    },
    "sandbox": {
        "endpoint_url": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
        "submit_origins": ["https://workersandbox.mturk.com"],
        "is_paying": False,
    },
    "production": {
        "endpoint_url": "https://mturk-requester.us-east-1.amazonaws.com",
        "submit_origins": ["https://www.mturk.com", "https://worker.mturk.com"],
        "is_paying": True,
    },
}
# Dollars an hour below which a batch's price is shown with a warning; the default is the US federal minimum wage.
WAGE_FLOOR = env_decimal("ASSENT_WAGE_FLOOR", "7.25")
# Third-party frames that may show a HIT.
FRAME_ANCESTORS = [origin for end in MTURK_ENDPOINTS.values() for origin in end["submit_origins"]]
# The marketplace's own switches.
MARKETPLACE_ALLOW_HTTP_QUESTIONS = env_bool("MARKETPLACE_ALLOW_HTTP_QUESTIONS", not HTTPS)
MARKETPLACE_OPEN_SIGNUP = env_bool("MARKETPLACE_OPEN_SIGNUP")
MARKETPLACE_STRICT_FRAMES = env_bool("MARKETPLACE_STRICT_FRAMES")
MARKETPLACE_CONTROL_TOKEN = env("MARKETPLACE_CONTROL_TOKEN")
MARKETPLACE_WEBHOOK_HOSTS = env_hosts("MARKETPLACE_WEBHOOK_HOSTS")
MARKETPLACE_NOTIFICATION_TARGETS = env_pairs("MARKETPLACE_NOTIFICATION_TARGETS")
MARKETPLACE_VISIBILITY_LAG_SECONDS = env_int("MARKETPLACE_VISIBILITY_LAG_SECONDS", 0, least=0, most=86_400)
# Calls a second that one requester may make, for an operation by its name or for each of the others by *.
MARKETPLACE_RATE_LIMITS = env_rates("MARKETPLACE_RATE_LIMITS")

# -- Operations --------------------------------------------------------------------------------------------
METRICS_TOKEN = env("METRICS_TOKEN")
LOG_FORMAT = env_choice("LOG_FORMAT", "plain", ["plain", "json"])
LOG_LEVEL = env_choice("LOG_LEVEL", "INFO", logging.getLevelNamesMapping())

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "config.logs.PlainFormatter",
            "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # Plain, gunicorn's own access log is enough.
        "assent.access": {"level": "INFO" if LOG_FORMAT == "json" else "WARNING"},
        "django.server": {"handlers": ["console"], "level": "INFO", "propagate": False},
        "botocore": {"level": "WARNING"},
        "urllib3": {"level": "WARNING"},
        # It warns that the filesystem broker has no host name.
        "kombu.connection": {"level": "ERROR"},
        # It tells where its dictionaries lie.
        "pymorphy3": {"level": "WARNING"},
    },
}

# Set and read by nobody, perhaps misspelt: `check` tells. After all that is read.
UNKNOWN_VARIABLES = unknown_names()
