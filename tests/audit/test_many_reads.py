"""T130: an alert for admins where one account reads many items in a short time."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from gradeapp.accounts.models import User
from gradeapp.audit import reads
from gradeapp.audit.counted import counted_routes
from gradeapp.audit.models import AuditEntry, ItemRead, ReadAlert
from gradeapp.audit.reads import ReadCounter, count_items, forget_old_reads
from gradeapp.audit.tags import Tag
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round
from tests.factories import make_question, make_response, make_task
from tests.test_authorization import ROUTES

pytestmark = pytest.mark.django_db
NAMES_AN_ITEM = {"public_id", "answer_id", "item_id", "response_id"}
# Routes that name an item, or something else by the same argument, and show none that counts.
SHOW_NO_ITEM = {
    "questions:image",  # its address stands only on pages that count
    "questions:labelling-history",
    "questions:rubric-propose",
    "questions:rubric-accept",
    "api-labels",
    "api-problem-report",
    "api-opinions",
    "api-human-rates",
    "marking:draft",
    "rounds:claim",
    "answer-imports:paste",  # a list of questions, marks and responses are not on it
    "runs:condition",
    "runs:condition-rename",
    "judging:sample",
    "judging:sample-next",
    "api-capability-review",
    "api-sample",
    "api-sample-next",
}
# These count in their views, with files and lists.
COUNT_THEMSELVES = {"marking:print"}


class Clock:
    """The time of the counter, which stands still until it is moved on."""

    def __init__(self) -> None:
        self.time = timezone.now()

    def now(self) -> datetime:
        """What the counter takes for the time."""
        return self.time

    def shift(self, **by: float) -> None:
        """Move on."""
        self.time += timedelta(**by)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the counter for one test."""
    made = Clock()
    monkeypatch.setattr(reads, "timezone", made)
    return made


def alerts_on(person: User) -> list[AuditEntry]:
    """The alerts in the trail."""
    return list(AuditEntry.objects.filter(tag=Tag.MANY_READS, target=f"user:{person.pk}"))


def test_every_route_that_names_an_item_is_decided() -> None:
    named = {name for name, arguments in ROUTES.items() if NAMES_AN_ITEM & set(arguments)}
    by_address = {name for name, shown in counted_routes().items() if not shown.rows}
    assert named - by_address - COUNT_THEMSELVES == SHOW_NO_ITEM
    assert all(shown.rows or shown.by in ROUTES[name] for name, shown in counted_routes().items())


def test_the_500th_item_in_ten_minutes_raises_one_alert(curator: User, clock: Clock) -> None:
    for number in range(499):
        count_items(curator, "question", [number])
        count_items(curator, "question", [number // 2])  # again: not another item
    assert not alerts_on(curator)
    count_items(curator, "response", ["one"])
    (alert,) = alerts_on(curator)
    assert (alert.actor, alert.detail["items_read"], alert.detail["minutes"]) == (
        curator,
        500,
        10,
    )
    assert alert.detail["kinds"] == {"question": 499, "response": 1}
    count_items(curator, "mark", range(300))
    assert len(alerts_on(curator)) == 1, "one in the time watched"
    clock.shift(minutes=10, seconds=1)
    count_items(curator, "question", range(499))
    assert len(alerts_on(curator)) == 1, "what was read before is no part of these ten minutes"
    count_items(curator, "question", range(500))
    assert len(alerts_on(curator)) == 2
    clock.shift(minutes=10, seconds=1)
    forget_old_reads(clock.now())
    assert not ItemRead.objects.exists()


def test_all_processes_count_together_and_one_of_them_raises_the_alert(
    curator: User, clock: Clock
) -> None:
    """Two web processes have answered every other request."""
    processes = (ReadCounter(), ReadCounter())
    for number in range(520):
        clock.shift(seconds=1)
        processes[number % 2].count(curator, {f"response:{number}": 1})
    assert len(alerts_on(curator)) == 1
    assert ReadAlert.objects.get(person=curator).items <= 520


def test_a_page_writes_nothing_but_every_25th_item(curator: User) -> None:
    """Two statements with a savepoint around them, for 25 pages."""
    with CaptureQueriesContext(connection) as queries:
        for number in range(24):
            count_items(curator, "question", [number])
    assert not len(queries)
    with CaptureQueriesContext(connection) as queries:
        count_items(curator, "question", [24])
    stored = [query["sql"] for query in queries if "audit_itemread" in query["sql"]]
    assert [sql.split()[0] for sql in stored] == ["INSERT", "SELECT"]
    assert ItemRead.objects.filter(person=curator).count() == 25


def test_somebody_who_reads_slowly_is_stored_once_a_minute(teacher: User, clock: Clock) -> None:
    """300 responses an hour, as at a busy desk: 50 in ten minutes."""
    with CaptureQueriesContext(connection) as queries:
        for number in range(300):
            clock.shift(seconds=12)
            count_items(teacher, "response", [number])
    stored = [query for query in queries if query["sql"].startswith("INSERT INTO")]
    assert len(stored) == 50, "each with the six of the last minute"
    assert not alerts_on(teacher)


def test_the_desk_counts_a_response_once(
    teacher: User, other_teacher: User, settings: pytest.FixtureRequest
) -> None:
    """Shown, fetched ahead, and saved: one item."""
    settings.READ_ALERT_ITEMS = 20  # type: ignore[attr-defined]
    made = small_round([teacher, other_teacher], responses=3)
    page = logged_in(teacher)
    shown = page.post(f"/marking/rounds/{made.public_id}/next/")["Location"]
    for _again in range(2):
        assert page.get(shown).status_code == 200
        page.post(f"{shown}ahead/")
    (row,) = ItemRead.objects.filter(person=teacher)
    assert row.item == f"response:{shown.strip('/').rpartition('/')[2]}"


def test_pages_lists_and_files_count_their_items(
    curator: User, lead: User, clock: Clock, settings: pytest.FixtureRequest
) -> None:
    settings.READ_ALERT_ITEMS = 20  # type: ignore[attr-defined]
    task = make_task()
    questions = [make_question(task) for _ in range(3)]
    response = make_response(questions[0])
    own = logged_in(curator)
    page = reverse("questions:question", args=[questions[0].public_id])
    missing = reverse("questions:question", args=[uuid.uuid4()])
    assert [own.get(one).status_code for one in (page, missing)] == [200, 404]
    assert own.head(page).status_code == 200
    assert set(read_by(curator, clock)) == {f"question:{questions[0].public_id}"}
    assert own.get("/api/v1/questions/").status_code == 200
    assert set(read_by(curator, clock)) == {f"question:{one.public_id}" for one in questions}
    b"".join(own.get("/questions/export/?as=csv").streaming_content)
    files = {
        item: number for item, number in read_by(curator, clock).items() if item.startswith("row:")
    }
    assert list(files.values()) == [3]
    leads = logged_in(lead)
    for address in (
        f"/runs/responses/{response.public_id}/",
        f"/runs/{response.run_id}/responses/",
        f"/api/v1/runs/{response.run_id}/responses/",
        "/api/v1/responses/",
    ):
        ItemRead.objects.all().delete()
        assert leads.get(address).status_code == 200
        assert set(read_by(lead, clock)) == {f"response:{response.public_id}"}, address


def test_rows_of_the_operators_site_count(
    admin: User, clock: Clock, settings: pytest.FixtureRequest
) -> None:
    """Its lists, the row that is opened and its history; neither people nor the first page."""
    settings.READ_ALERT_ITEMS = 20  # type: ignore[attr-defined]
    User.objects.filter(pk=admin.pk).update(is_staff=True)
    task = make_task()
    keys = [make_response(make_question(task)).pk for _ in range(3)]
    site = logged_in(User.objects.get(pk=admin.pk))
    for address in ("/admin/", "/admin/accounts/user/", f"/admin/accounts/user/{admin.pk}/change/"):
        assert site.get(address).status_code == 200
    assert site.head("/admin/evaluations/response/").status_code == 200
    assert read_by(admin, clock) == {}
    opened = f"/admin/evaluations/response/{keys[0]}"
    for address in (f"{opened}/change/", f"{opened}/history/"):
        ItemRead.objects.all().delete()
        assert site.get(address).status_code == 200
        assert read_by(admin, clock) == {f"table:evaluations.response {keys[0]}": 1}, address
    assert site.get("/admin/evaluations/response/").status_code == 200
    assert set(read_by(admin, clock)) == {f"table:evaluations.response {key}" for key in keys}


def read_by(person: User, clock: Clock) -> dict[str, int]:
    """What *person* has read, with how many items each is; a minute later all of it is stored."""
    clock.shift(seconds=60)
    count_items(person, "later", [""])
    rows = ItemRead.objects.filter(person=person).exclude(item="later:")
    return dict(rows.values_list("item", "number"))


def test_admins_see_the_alert_and_the_reader_does_not(
    admin: User, curator: User, settings: pytest.FixtureRequest
) -> None:
    settings.READ_ALERT_ITEMS = 20  # type: ignore[attr-defined]
    question = make_question()
    reader, api = logged_in(curator), f"/api/v1/questions/{question.public_id}/"
    before = reader.get(api)
    count_items(curator, "question", range(20))
    assert len(alerts_on(curator)) == 1
    after = reader.get(api)
    assert (after.content, after.headers) == (before.content, before.headers)
    assert "Accounts that read many items" not in reader.get("/").text
    page = logged_in(admin)
    assert "Accounts that read many items" in page.get("/").text
    trail = page.get(f"/audit/?action={Tag.MANY_READS}")
    assert [one.entry.pk for one in trail.context["entries"]] == [alerts_on(curator)[0].pk]
    assert 'id="alerts"' in trail.text
    alert = ReadAlert.objects.get(person=curator)
    address = reverse("audit:alert-acknowledge", args=[alert.pk])
    assert reader.post(address).status_code == 403
    ReadAlert.objects.filter(pk=alert.pk).update(person=admin)
    assert page.post(address).status_code == 403, "not the one whom it is about"
    ReadAlert.objects.filter(pk=alert.pk).update(person=curator)
    assert page.post(address).status_code == 302
    assert page.post(address).status_code == 404, "somebody did already"
    assert 'id="alerts"' not in page.get("/audit/").text
    assert "Accounts that read many items" not in page.get("/").text
    noted = AuditEntry.objects.get(tag=Tag.READS_ACKNOWLEDGED)
    assert (noted.actor, noted.target) == (admin, f"user:{curator.pk}")
    assert len(alerts_on(curator)) == 1, "the alert stays in the trail"


def test_no_alert_where_the_setting_is_0(curator: User, settings: pytest.FixtureRequest) -> None:
    settings.READ_ALERT_ITEMS = 0  # type: ignore[attr-defined]
    count_items(curator, "question", range(1000))
    assert not ItemRead.objects.exists()
    assert not alerts_on(curator)
