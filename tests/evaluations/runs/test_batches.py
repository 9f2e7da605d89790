"""Calls by batch files: written once, read in any order, stored and paid as live replies are."""

from __future__ import annotations

import json
from decimal import Decimal
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluations.conditions import Asking, PromptSetting
from evaluations.llm.client import KEPT_BODY
from evaluations.models import (
    Attempt,
    Batch,
    Endpoint,
    Job,
    ObjectiveScore,
    Response,
    Spending,
)
from evaluations.models.vocabulary import AttemptStatus, BatchState, JobStatus, RunStatus
from evaluations.runs.selectors.runs import money
from evaluations.runs.services import batch_making, batches
from evaluations.runs.services.batch_making import make_batches, owner_of
from evaluations.runs.services.batches import (
    give_up,
    read_replies,
    request_lines,
    take_file,
)
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.job_queue import release_lost_jobs
from evaluations.runs.services.run_estimates import estimate
from evaluations.templatetags import run_words
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import BadInput, Conflict
from tests.conftest import logged_in
from tests.evaluations.run_world import planned
from tests.evaluations.runs.batch_world import (
    answered,
    by_batch,
    line_of,
    requests_of,
    silent_endpoint,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint() -> Endpoint:
    return silent_endpoint()


def test_replies_come_in_any_order_and_are_stored_as_live_ones(endpoint: Endpoint) -> None:
    run = by_batch(endpoint)
    assert run.pk not in look_for_work()
    assert work_on_run(run.pk) == []
    (batch,) = make_batches(run, acting_user=None)
    requests = requests_of(batch)
    assert (batch.requests, len(requests)) == (3, 3)
    assert requests[0]["url"] == "/v1/chat/completions"
    assert requests[0]["body"]["temperature"] == 0
    assert requests == requests_of(batch)  # the same file as often as wanted
    release_lost_jobs(database_now())
    assert Attempt.objects.filter(status=AttemptStatus.SENT).count() == 3
    replies = [answered(one) for one in reversed(requests)]
    report = read_replies(run, replies, acting_user=None)
    assert (report.answered, report.failed, report.problems) == (3, 0, [])
    run.refresh_from_db()
    batch.refresh_from_db()
    assert (run.status, batch.state, batch.answered) == ("finished", BatchState.READ, 3)
    assert ObjectiveScore.objects.filter(policy="strict").count() == 3
    # 100 × 1000 + 10 × 2000 per million, halved, three times.
    assert money(run).spent == Decimal("0.18")
    again = read_replies(run, replies, acting_user=None)
    assert (again.answered, again.same, Response.objects.count()) == (0, 3, 3)


def test_the_estimate_is_halved(endpoint: Endpoint) -> None:
    run = by_batch(endpoint, 1)
    given = {"endpoint": endpoint, "dataset": run.dataset, "repeats": 1}
    live, batch = estimate(**given).answering, estimate(**given, by_batch=True).answering
    assert (batch.expected * 2, batch.at_most * 2) == (live.expected, live.at_most)


def test_a_second_step_is_due_when_the_first_is_read(endpoint: Endpoint) -> None:
    run = by_batch(endpoint, 2, asking=Asking(setting=PromptSetting.ZERO_SHOT_COT))
    (first,) = make_batches(run, acting_user=None)
    with pytest.raises(Conflict, match="No request is due"):
        make_batches(run, acting_user=None)
    read_replies(run, [answered(one, "I think.") for one in requests_of(first)], acting_user=None)
    (second,) = make_batches(run, acting_user=None)
    requests = requests_of(second)
    assert "I think." in json.dumps(requests[0]["body"]["messages"])
    read_replies(run, [answered(one) for one in requests], acting_user=None)
    assert Response.objects.filter(run=run).count() == 2


@pytest.mark.parametrize("taken", [True, False])
def test_replies_to_a_discarded_batch_leave_no_call_open(endpoint: Endpoint, taken: bool) -> None:
    """Its requests were made again, in a batch that waits if somebody may have sent it."""
    run = by_batch(endpoint, 1)
    (one,) = make_batches(run, acting_user=None)
    replies = [answered(request) for request in requests_of(one)]
    list(take_file(one, acting_user=None))
    give_up(one, "lost", BatchState.DISCARDED, acting_user=None)
    (two,) = make_batches(run, acting_user=None)
    if taken:
        list(take_file(two, acting_user=None))
    read_replies(run, replies, acting_user=None)
    assert Response.objects.count() == 1
    two.refresh_from_db()
    assert two.state == (BatchState.WAITING if taken else BatchState.READ)
    if taken:
        assert give_up(two, "not needed", BatchState.DISCARDED, acting_user=None) == 1
    else:
        assert money(run).exposed == money(run).spent, "nothing is reserved for it any more"
    assert not Attempt.objects.filter(status=AttemptStatus.SENT).exists()


def test_each_bad_line_has_a_sentence_and_loses_nothing(endpoint: Endpoint) -> None:
    run = by_batch(endpoint, 4)
    (batch,) = make_batches(run, acting_user=None)
    good, expired, refused, left = requests_of(batch)
    other = good["custom_id"].replace(run.public_id.hex, "0" * 32)
    bad = {"status_code": 400, "body": {"error": {"message": "no such parameter", "code": "x"}}}
    report = read_replies(
        run,
        [
            b"{half\n",
            b"\n",
            answered({**good, "custom_id": other}),
            answered({**good, "custom_id": f"{run.public_id.hex}-999999999"}),
            # Of before a backup was restored, since when its key is that of another request.
            answered({**good, "custom_id": f"{good['custom_id'][:-8]}{left['custom_id'][-8:]}"}),
            answered(good),
            answered(good, "another"),
            line_of(expired["custom_id"], error={"code": "batch_expired", "message": "late"}),
            line_of(refused["custom_id"], response=bad),
            *(line_of(left["custom_id"], error=odd) for odd in (["x"], 5, True)),
        ],
        acting_user=None,
    )
    assert (report.answered, report.failed, report.same, report.unknown) == (1, 2, 1, 3)
    said = "\n".join(report.problems)
    for words in ("Line 1: it is not", "Line 12: it is not", "no request of this run", "(late)"):
        assert words in said
    states = list(Job.objects.filter(run=run).order_by("pk").values_list("status", flat=True))
    assert sorted(states) == sorted(
        [JobStatus.DONE, JobStatus.PENDING, JobStatus.FAILED, JobStatus.LEASED]
    )
    # The batch still waits for the last one; without it, its request and the expired one go again.
    batch.refresh_from_db()
    assert batch.state == BatchState.WAITING
    assert give_up(batch, "gone", BatchState.DISCARDED, acting_user=None) == 1
    (again,) = make_batches(run, acting_user=None)
    assert again.requests == 2
    assert money(run).spent == Decimal("0.06")
    with pytest.raises(BadInput, match="no request of this run"):
        read_replies(run, [answered({**left, "custom_id": "x"})], acting_user=None)
    # An error may be a text alone.
    text = line_of(requests_of(again)[0]["custom_id"], error="overloaded")
    report = read_replies(run, [text], acting_user=None)
    assert (report.failed, "overloaded" in report.problems[0]) == (1, True)


@pytest.mark.parametrize("how", ["one file", "in pieces", "two files"])
def test_an_answer_counts_though_an_error_of_its_request_came_first(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """An endpoint that lists a request as expired, and as answered further down, bills it."""
    run = by_batch(endpoint, 3)
    (batch,) = make_batches(run, acting_user=None)
    requests = requests_of(batch)
    expired = {"error": {"code": "batch_expired", "message": "late"}}
    errors = [line_of(one["custom_id"], **expired) for one in requests]
    replies = [answered(one) for one in requests]
    if how == "in pieces":
        monkeypatch.setattr(batches, "TOGETHER", 2)
    for file in [errors, replies] if how == "two files" else [errors + replies]:
        report = read_replies(run, file, acting_user=None)
    assert (report.answered, report.same, report.ended) == (3, 0, 0)
    run.refresh_from_db()
    assert (run.status, Response.objects.filter(run=run).count()) == ("finished", 3)
    # 100 × 1000 + 10 × 2000 per million, halved, three times.
    assert money(run).spent == money(run).exposed == run.committed * Spending.UNIT
    assert money(run).spent == Decimal("0.18")
    again = read_replies(run, errors + replies, acting_user=None)
    assert (again.answered, again.failed, Response.objects.count()) == (0, 0, 3)


def test_hostile_lines_break_neither_the_upload_nor_the_page(
    endpoint: Endpoint, admin: User
) -> None:
    """Half a surrogate pair, a status that no column holds, and a file of another kind."""
    run = by_batch(endpoint, 2)
    (batch,) = make_batches(run, acting_user=None)
    first, second = requests_of(batch)
    client, read = logged_in(admin), reverse("runs:batch-read", args=[run.pk])
    half = f"{run.public_id.hex}\ud800"
    said = {"error": {"code": "x", "message": "half \ud800"}}
    statuses = ("1" + "0" * 30, "1e999", "true", "-1")
    lines = [line_of(half, **said), line_of(first["custom_id"], **said)]
    lines += [
        b'{"custom_id": "%s", "response": {"status_code": %s, "body": {}}}\n'
        % (second["custom_id"].encode(), status.encode())
        for status in statuses
    ]
    page = client.post(read, {"file": BytesIO(b"".join(lines))}, follow=True)
    assert page.status_code == 200
    assert "Failed: 1. Stored before: 0. Not of this run: 1." in page.text
    assert page.text.count("it is not a reply of a batch file") == len(statuses)
    assert "half \ufffd" in page.text
    taken: list[int] = []
    endless = (taken.append(1) or b"{}\n" for _ in range(10**6))
    with pytest.raises(BadInput, match="the rest was not read"):
        read_replies(run, endless, acting_user=None)
    assert len(taken) == 1001


def test_a_reply_in_a_file_far_beyond_its_tokens_is_too_large(endpoint: Endpoint) -> None:
    run = by_batch(endpoint, 2)
    (batch,) = make_batches(run, acting_user=None)
    first, second = requests_of(batch)
    report = read_replies(
        run, [answered(first, "甲" * 500_000), answered(second)], acting_user=None
    )
    assert (report.answered, report.failed) == (1, 1)
    attempt = Attempt.objects.get(error="oversize")
    assert (attempt.status, len(attempt.body)) == ("unknown", KEPT_BODY), "it was paid"


def test_files_keep_the_limits_and_the_budget(endpoint: Endpoint) -> None:
    run = by_batch(endpoint, 5)
    made = make_batches(run, acting_user=None, most_requests=2)
    assert [one.requests for one in made] == [2, 2, 1]
    size = len(b"".join(request_lines(made[0])))
    assert size <= made[0].size
    other = by_batch(endpoint, 3)
    sizes = make_batches(other, acting_user=None, most_bytes=made[0].size)
    assert all(len(b"".join(request_lines(one))) <= made[0].size for one in sizes)
    assert sum(one.requests for one in sizes) == other.jobs.count()
    most = Attempt.objects.filter(job__lease_owner=owner_of(made[0])).first()
    assert most is not None
    poor = by_batch(endpoint, 3, budget=most.reserved * 2)
    assert [one.requests for one in make_batches(poor, acting_user=None)] == [2]
    live = planned(endpoint, 1)
    with pytest.raises(BadInput, match="not by batch"):
        make_batches(live, acting_user=None)


def test_the_commands_write_and_read_files(endpoint: Endpoint, tmp_path: Path) -> None:
    run = by_batch(endpoint, 2)
    out = StringIO()
    command = {"format": "json", "stdout": out}
    call_command("write_batch", str(run.pk), output=tmp_path, **command)
    said = json.loads(out.getvalue())
    (file,) = said["files"]
    assert said["requests"] == 2
    replies = tmp_path / "replies.jsonl"
    lines = Path(file).read_bytes().splitlines()
    replies.write_bytes(b"".join(answered(json.loads(line)) for line in lines))
    call_command("read_batch", str(run.pk), str(replies), format="json", stdout=StringIO())
    assert Response.objects.filter(run=run).count() == 2


def test_a_file_that_was_taken_may_be_billed(endpoint: Endpoint, admin: User) -> None:
    """Discarded at no cost, file after file would pass every budget, and paid replies be lost."""
    run = by_batch(endpoint, 2)
    client = logged_in(admin)
    (batch,) = make_batches(run, acting_user=admin)
    file = client.get(reverse("runs:batch-file", args=[run.pk, batch.pk]))
    requests = [json.loads(line) for line in b"".join(file.streaming_content).splitlines()]
    assert AuditEntry.objects.get(tag="run.batch_taken").detail["requests"] == 2
    reserved = sum(one.reserved for one in Attempt.objects.all())
    discarded = client.post(reverse("runs:batch-discard", args=[run.pk, batch.pk]), follow=True)
    assert "The endpoint may have this batch and bill it" in discarded.text
    assert money(run).exposed == reserved > 0
    report = read_replies(run, [answered(one) for one in requests], acting_user=None)
    assert (report.answered, report.same, report.ended) == (2, 0, 0)
    # What nobody took costs nothing, until a reply says that somebody sent it.
    (other,) = make_batches(by_batch(endpoint, 1), acting_user=admin)
    lines = [answered(one) for one in requests_of(other)]
    give_up(other, "Discarded.", BatchState.DISCARDED, acting_user=admin)
    assert not money(other.run).exposed
    ids = [json.loads(line)["custom_id"] for line in lines]
    late = [line_of(one, error={"code": "batch_expired", "message": "late"}) for one in ids]
    report = read_replies(other.run, late, acting_user=None)
    assert (report.answered, report.same, report.ended) == (0, 0, len(lines))
    assert "has ended without a reply" in report.problems[0]
    report = read_replies(other.run, lines, acting_user=None)
    assert (report.answered, report.same, report.ended) == (len(lines), 0, 0)
    assert money(other.run).exposed == money(other.run).spent > 0


def test_what_still_waits_in_a_finished_run_is_shown_with_its_cost(
    endpoint: Endpoint, admin: User
) -> None:
    """The first batch, which was discarded, answers all; the second waits for two requests."""
    run = by_batch(endpoint, 3)
    client, page = logged_in(admin), reverse("runs:run", args=[run.pk])
    files = []
    for _time in range(2):
        (batch,) = make_batches(run, acting_user=admin)
        files.append([json.loads(line) for line in take_file(batch, acting_user=admin)])
        if len(files) == 1:
            give_up(batch, "Discarded.", BatchState.DISCARDED, acting_user=admin)
    read_replies(run, [answered(files[1][0])], acting_user=admin)
    read_replies(run, [answered(one) for one in files[0]], acting_user=admin)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED
    waiting = Attempt.objects.filter(status="sent")
    assert waiting.count() == 2
    at_most = sum((one.reserved for one in waiting), Decimal(0))
    assert money(run).possible == at_most > 0
    amount = run_words.money(at_most, run.run_settings["currency"])
    note = f"wait for replies to batches · at most {amount}"
    assert f"<dt>{note}</dt><dd>2</dd>" in client.get(page).text
    give_up(batch, "Discarded.", BatchState.DISCARDED, acting_user=admin)
    discarded = client.get(page).text
    assert "<dt>wait for replies to batches</dt><dd>0</dd>" in discarded
    assert f"possibly billed: 2, at most {amount}" in discarded


def test_what_went_wrong_with_a_batch_is_read_in_the_own_language(
    endpoint: Endpoint, admin: User
) -> None:
    run = by_batch(endpoint, 1)
    (batch,) = make_batches(run, acting_user=admin)
    client, page = logged_in(admin), reverse("runs:run", args=[run.pk])
    chinese, english = ({"HTTP_ACCEPT_LANGUAGE": one} for one in ("zh-hans", "en"))
    client.post(reverse("runs:batch-discard", args=[run.pk, batch.pk]), **chinese)
    for error, words in (
        (None, "人工放弃。"),
        ("The endpoint has changed. Set it back, or discard the batch.", "接口已有变动。"),
        ("the file has fewer replies than the endpoint counts", "文件中的回复少于接口所计的数量"),
        ("Batch is no good", "Batch is no good"),
        ("", "已放弃"),
    ):
        if error is not None:
            Batch.objects.update(error=error)
        assert words in client.get(page, **chinese).text
        assert Batch.objects.get().error in client.get(page, **english).text


def test_a_batch_is_nobodys_until_it_is_made(
    endpoint: Endpoint, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another admin sees it on the page while requests are still being put into it."""
    run = by_batch(endpoint, 4)
    real = batch_making.claim_calls
    told: list[tuple[int, str]] = []

    def meanwhile(*args: Any, **options: Any) -> Any:
        claimed = real(*args, **options)
        client, batch = logged_in(admin), Batch.objects.get()
        for answer in (
            client.get(reverse("runs:batch-file", args=[run.pk, batch.pk])),
            client.post(reverse("runs:batch-discard", args=[run.pk, batch.pk])),
        ):
            told.append((answer.status_code, answer.text))
        return claimed

    monkeypatch.setattr(batch_making, "TOGETHER", 2)
    monkeypatch.setattr(batch_making, "claim_calls", meanwhile)
    (batch,) = make_batches(run, acting_user=None)
    assert [status for status, _text in told] == [409] * 4
    assert all("still being made" in text for _status, text in told)
    assert (batch.state, batch.requests, batch.taken_at) == (BatchState.WAITING, 4, None)
    assert (batch.holder, len(requests_of(batch))) == ("", 4)


def test_a_person_carries_the_files(endpoint: Endpoint, admin: User) -> None:
    run = by_batch(endpoint, 2)
    client = logged_in(admin)
    page = reverse("runs:run", args=[run.pk])
    client.post(reverse("runs:batches-make", args=[run.pk]))
    batch = Batch.objects.get()
    shown = client.get(page).text
    assert "Waiting for replies" in shown
    assert "wait for replies to batches" in shown
    assert "No worker is running" not in shown, "people carry the files: no worker is needed"
    address = reverse("runs:batch-file", args=[run.pk, batch.pk])
    assert client.head(address)["Content-Disposition"].startswith("attachment")
    batch.refresh_from_db()
    assert batch.taken_at is None, "who asks for the headers alone has not taken the file"
    file = client.get(address)
    requests = [json.loads(line) for line in b"".join(file.streaming_content).splitlines()]
    read = reverse("runs:batch-read", args=[run.pk])
    broken = client.post(read, {"file": BytesIO(b"nothing")}, follow=True)
    assert "is not a reply of a batch file" in broken.content.decode()
    # 30 MB without a line break: it is read in pieces, not joined anew for each.
    endless = client.post(read, {"file": BytesIO(b"[" * 30_000_000)}, follow=True)
    assert "is not a reply of a batch file" in endless.content.decode()
    upload = BytesIO(answered(requests[0]))
    done = client.post(read, {"file": upload}, follow=True).content.decode()
    assert "Replies stored: 1." in done
    client.post(reverse("runs:batch-discard", args=[run.pk, batch.pk]))
    batch.refresh_from_db()
    assert (batch.state, batch.answered) == (BatchState.DISCARDED, 1)
    assert client.get(reverse("runs:batch-file", args=[run.pk, batch.pk])).status_code == 400
