"""The named cast of every test: admin, curator, lead, two teachers, and an outsider."""

from __future__ import annotations

import gc
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import translation

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.append_only import lifted
from tests.database_template import postgres_template, sqlite_template
from tests.factories import make_user
from tests.faults.table import fault_row as fault_row
from tests.scripted_server import LOOPBACK

# Logins in tests need no slow hash; that the real one is set is tested in test_accounts.
REAL_HASHERS = list(settings.PASSWORD_HASHERS)
# No test asserts a time: a busy machine may take long over one example.
# The same examples in every run; GRADEAPP_FULL=yes tries others each time.
SAME = os.environ.get("GRADEAPP_FULL") != "yes"
hypothesis.settings.register_profile(
    "gradeapp", deadline=None, derandomize=SAME, max_examples=40 if SAME else 200
)
hypothesis.settings.load_profile("gradeapp")
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Static files are looked for when they are asked for; else each test client lists them all first.
settings.WHITENOISE_AUTOREFRESH = True
# Mounted in tests only; that it is off is tested in accounts/test_admin_site.
settings.ADMIN_SITE = True
# Logins in tests have no second factor and are not confirmed; tests/accounts has tests of both.
settings.SECOND_FACTOR_ROLES = []
settings.CONFIRM_CHANGES = False
# The scripted endpoint of the tests is on loopback; workers in processes of their own too.
settings.ENDPOINT_ALLOW_CIDRS = LOOPBACK
os.environ["ENDPOINT_ALLOW_CIDRS"] = ",".join(LOOPBACK)
os.environ["GRADEAPP_SECOND_FACTOR"] = "none"
SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


class _Raises(logging.Handler):
    """Raise the exception that is being logged."""

    def emit(self, record: logging.LogRecord) -> None:
        assert record.exc_info is not None
        assert record.exc_info[1] is not None
        raise record.exc_info[1]


# What is only logged in production, so that other responses go on, fails a test.
logging.getLogger("evaluations.marking.services.finalizing").addHandler(_Raises())

# Not run on a second database: tests that use none, interfaces, which call the same services and
# selectors, and areas that read and write in plain ways, but for what happens at the same moment
# and for searches. That reports read the same from either is asked by evaluations/facts.
DATABASE = frozenset({"db", "transactional_db", "live_server"})
INTERFACES = re.compile(r"/(views|api)/|_(pages?|api)\.py$")
PLAIN = re.compile(
    r"/(accounts|capability|imports|judging|questions|reading|reports|suggesting)/"
    r"|/test_(commands_run_model|demo|exports|images|keys_shown|outages|reply_states)\.py$"
    r"|/test_(round_counts|runs_endpoints|runs_keys|runs_planning|runs_starting)\.py$"
)
AGAIN = re.compile(r"_(at_once|bytes|import_jobs|kill|list|meanwhile|races|rows|search)\.py$")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what need not run on a second database.

    What uses no database, interfaces, plain areas, whole benchmarks, and the tests of the project
    as a whole (routes, words, sizes, docs), but not the migrations.
    """
    root = Path(__file__).parent
    for item in items:
        of_all = item.path.parent == root and item.path.name != "test_migrations.py"
        used = DATABASE & set(getattr(item, "fixturenames", ()))
        pure = not used and item.get_closest_marker("django_db") is None
        file = item.path.as_posix()
        plain = PLAIN.search(file) and not AGAIN.search(file)
        plain = plain or INTERFACES.search(file)
        if pure or plain or of_all or item.get_closest_marker("shareddata"):
            item.add_marker(pytest.mark.once)


def pytest_collection_finish() -> None:
    """Leave what is loaded by now to no later garbage collection: each would look through all."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A database of this process alone, copied from a migrated one.

    SQLite in a file, as in production: in memory its threads would not queue but fail. What a
    test confirmed need not outlive a power cut, so neither database waits for the disk.
    """
    options, test = connection.settings_dict["OPTIONS"], connection.settings_dict["TEST"]
    if connection.vendor == "sqlite":
        file = tmp_path_factory.mktemp("database") / "test.sqlite3"
        options["init_command"] = options["init_command"].replace("=FULL", "=OFF")
        shutil.copyfile(sqlite_template(), file)
        test["NAME"] = str(file)
    else:
        options["options"] += " -c synchronous_commit=off"
        test["TEMPLATE"] = postgres_template(os.environ["DATABASE_URL"])


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Keep the copied file, which would be deleted before it is used."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Let the flush after a test with real transactions empty the tables that are append-only.

    A statement that locks rows must not read what they point to (``gradeapp.common.locking``).
    """
    tables = "audit_auditentry|audit_seal|audit_segment|audit_chain|evaluations_markchange"
    flush = re.compile(rf'TRUNCATE "|DELETE FROM "({tables})";$')

    def run(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        assert "FOR UPDATE" not in sql or "LEFT OUTER JOIN" not in sql, sql
        if not flush.match(sql):
            return execute(sql, params, many, context)
        with lifted(connection):
            return execute(sql, params, many, context)

    with django_db_blocker.unblock(), connection.execute_wrapper(run):
        yield


@pytest.fixture(autouse=True)
def language() -> Iterator[None]:
    """A request leaves its language behind; the next test begins with that of the settings."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def no_read_kept_from_another_test() -> Iterator[None]:
    """Forget what the process has counted as read: in every test keys begin anew."""
    yield
    if reads := sys.modules.get("gradeapp.audit.reads"):
        reads.counter.forget()


@pytest.fixture
def shared_data() -> Path:
    """The published benchmarks beside the project; the test is skipped where they are not."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the published benchmarks are not beside the project")
    return SHARED_DATA


@pytest.fixture
def admin(db: None) -> User:
    return make_user(Role.ADMIN, "ada")


@pytest.fixture
def curator(db: None) -> User:
    return make_user(Role.CURATOR, "chen")


@pytest.fixture
def lead(db: None) -> User:
    return make_user(Role.LEAD, "lin")


@pytest.fixture
def teacher(db: None) -> User:
    return make_user(Role.TEACHER, "tao")


@pytest.fixture
def other_teacher(db: None) -> User:
    return make_user(Role.TEACHER, "wei")


@pytest.fixture
def third_teacher(db: None) -> User:
    return make_user(Role.TEACHER, "yan")


@pytest.fixture
def outsider(db: None) -> User:
    """May log in, and has no role at all."""
    return make_user(None, "otto")


def logged_in(user: User) -> Client:
    """A browser in which *user* is logged in."""
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture(autouse=True)
def no_file_held_by_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that a test asks for and does not read holds its place until it is collected."""
    if files := sys.modules.get("gradeapp.common.long_files"):
        monkeypatch.setattr(files, "PLACES", BoundedSemaphore(2))


@pytest.fixture(autouse=True)
def no_report_kept_from_another_test() -> Iterator[None]:
    """Forget the sums that reports keep by version: in every test versions begin anew."""
    yield
    for name in ("bank_columns", "fact_query", "kept_reports"):
        if keeper := sys.modules.get(f"evaluations.reports.selectors.{name}"):
            keeper.forget()
