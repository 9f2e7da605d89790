"""The pages of searches for patterns: what they show, and who may do what there."""

from __future__ import annotations

import json
import uuid
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluations.models import AnswerCheck, Extraction, MinedPattern, PatternSearch
from evaluations.reading.selectors.reading_patterns import accepted_patterns
from evaluations.reading.services.pattern_searches import start_search
from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from gradeapp.common.named import WorkStatus
from tests.conftest import logged_in
from tests.evaluations.pattern_world import (
    IN_WORDS,
    TAGGED,
    UNREAD,
    newest_patterns,
    run_with,
    searched,
)

pytestmark = pytest.mark.django_db


def page(user: User, name: str, pk: int) -> str:
    answer = logged_in(user).get(reverse(f"runs:{name}", args=[pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_search_is_started_with_the_papers_settings_or_others(lead: User) -> None:
    run = run_with((TAGGED, 8))
    shown = page(lead, "patterns", run.pk)
    for value in ("10", "100", "2"):
        assert f'value="{value}"' in shown
    sent = {"iterations": 3, "sample_size": 20, "least_occurrences": 2, "random_seed": 9}
    answer = logged_in(lead).post(reverse("runs:patterns", args=[run.pk]), sent)
    search = PatternSearch.objects.get()
    assert answer.headers["Location"] == reverse("runs:pattern-search", args=[search.pk])
    assert (search.iterations, search.sample_size, search.random_seed) == (3, 20, 9)
    assert (search.status, search.created_by) == (WorkStatus.QUEUED, lead)
    answer = logged_in(lead).post(reverse("runs:patterns", args=[run.pk]), sent)
    assert answer.status_code == 400
    assert "already running" in answer.content.decode()


def test_the_page_of_a_search_shows_what_it_found_and_what_is_left(lead: User) -> None:
    run = run_with((TAGGED, 12), (IN_WORDS, 6), (UNREAD, 2))
    search = searched(run, lead)
    shown = page(lead, "pattern-search", search.pk)
    assert "90.0 %" in shown
    assert "67 %" in shown
    assert "66,744" in shown
    assert "<mark>【答案】A</mark>" in shown
    assert shown.count(UNREAD) == 2
    assert "the strict rules extracted none of these" in shown
    assert "none of these has been checked by a person" in shown


def test_agreement_is_no_precision_which_is_against_what_people_say(lead: User) -> None:
    run = run_with((TAGGED, 8))
    score_responses(run.responses.all())
    search = searched(run)
    shown = page(lead, "pattern-search", search.pk)
    assert '100.0 %<br><small class="muted">of 8</small>' in shown
    assert "none of these has been checked by a person" in shown
    for response, said in zip(run.responses.order_by("pk"), ("A", "B", "D", ""), strict=False):
        AnswerCheck.objects.create(
            response=response,
            extraction=Extraction.objects.get(response=response, policy="strict"),
            checker=lead,
            number=1,
            key=uuid.uuid4(),
            source="sample",
            answers=[said or None],
            outcome="read" if said else "no_answer",
            confirmed=bool(said),
        )
    # The outputs say A, B, C, D: people agree with the first two of the four checked.
    shown = page(lead, "pattern-search", search.pk)
    assert '50.0 %<br><small class="muted">of 4 checked</small>' in shown


def test_a_person_accepts_and_retires_on_the_page(lead: User) -> None:
    search = searched(run_with((TAGGED, 8)))
    (row,) = newest_patterns(search)
    client = logged_in(lead)
    answer = client.post(reverse("runs:pattern-accept", args=[row.pk]), follow=True)
    assert "accepted" in answer.content.decode()
    assert [one.name for one in accepted_patterns().patterns] == [row.name]
    assert row.name in page(lead, "patterns", search.run_id)
    again = client.post(reverse("runs:pattern-accept", args=[row.pk]))
    assert again.status_code == 409
    client.post(reverse("runs:pattern-retire", args=[row.pk]))
    assert accepted_patterns().patterns == ()


def test_a_page_from_before_a_decision_makes_no_other(lead: User) -> None:
    """A pattern that a colleague retired was accepted again by a page that showed it as new."""
    search = searched(run_with((TAGGED, 8)))
    (row,) = newest_patterns(search)
    client = logged_in(lead)
    accept, retire = (reverse(f"runs:pattern-{one}", args=[row.pk]) for one in ("accept", "retire"))
    assert '<input type="hidden" name="seen" value="0">' in page(lead, "pattern-search", search.pk)
    client.post(accept, {"seen": "0"})
    shown = MinedPattern.objects.get().decision_id
    assert f'name="seen" value="{shown}"' in page(lead, "pattern-search", search.pk)
    assert client.post(retire, {"seen": shown}).status_code == 302
    for old, key in ((accept, "0"), (accept, shown), (retire, shown)):
        assert client.post(old, {"seen": key}).status_code == 409
    assert accepted_patterns().patterns == ()
    assert client.post(accept, {"seen": MinedPattern.objects.get().decision_id}).status_code == 302
    assert len(accepted_patterns().patterns) == 1


def test_pages_say_which_scores_are_from_before_a_decision(lead: User) -> None:
    """A report showed the scores from before as if the patterns of today had been tried."""
    run = run_with((TAGGED, 8), (IN_WORDS, 6), (UNREAD, 2))
    search = searched(run)
    score_responses(run.responses.all())
    row = newest_patterns(search)[0]
    client, pages = logged_in(lead), ("/reports/?policy=strict", "/runs/scoring/")
    pages = (*pages, reverse("scoring:policies", args=[run.pk]))

    def told() -> set[bool]:
        words = "8 responses were scored before the last decision about a pattern"
        return {words in client.get(page).text for page in pages}

    assert told() == {False}
    for decision, seen in (("accept", 0), ("retire", None)):
        seen = MinedPattern.objects.get(pk=row.pk).decision_id if seen is None else seen
        client.post(reverse(f"runs:pattern-{decision}", args=[row.pk]), {"seen": seen})
        assert told() == {True}
        score_responses(run.responses.all())
        assert told() == {False}


def test_the_bar_of_a_search_under_way_and_its_end(lead: User) -> None:
    run = run_with((TAGGED, 8))
    search = start_search(run, acting_user=lead)
    client = logged_in(lead)
    progress = reverse("runs:pattern-progress", args=[search.pk])
    waiting = client.get(progress + "?state=queued").content.decode()
    assert "waiting for a worker" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    assert client.get(progress + "?state=working").headers["HX-Refresh"] == "true"
    client.post(reverse("runs:pattern-stop", args=[search.pk]))
    assert "Nothing was saved" in page(lead, "pattern-search", search.pk)
    client.post(reverse("runs:pattern-resume", args=[search.pk]))
    search.refresh_from_db()
    assert search.status == WorkStatus.QUEUED


def test_a_curator_and_a_teacher_see_no_search(curator: User, teacher: User) -> None:
    search = searched(run_with((TAGGED, 8)))
    for user in (curator, teacher):
        for name, pk in (("patterns", search.run_id), ("pattern-search", search.pk)):
            assert logged_in(user).get(reverse(f"runs:{name}", args=[pk])).status_code == 403


def test_the_page_asks_the_same_number_of_queries_for_many_patterns(lead: User) -> None:
    few = searched(run_with((TAGGED, 8)))
    many = searched(run_with((TAGGED, 8), (IN_WORDS, 6), ("Zug um Zug nehme {x} gern", 6)))
    assert len(newest_patterns(many)) > len(newest_patterns(few))
    counts = []
    client = logged_in(lead)
    for search in (few, few, many):
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("runs:pattern-search", args=[search.pk]))
        counts.append(len(queries))
    assert counts[1] == counts[2]


def test_the_command_searches_here_and_prints_the_same_as_json() -> None:
    run = run_with((TAGGED, 12), (UNREAD, 4))
    out = StringIO()
    call_command("find_patterns", "--run", str(run.pk), "--format", "json", stdout=out)
    said = json.loads(out.getvalue())
    assert (said["responses"], said["covered"], said["cover"]) == (16, 12, 0.75)
    assert said["paper"] == {"cover": 0.67, "responses": 66744}
    (one,) = said["types"]
    assert [pattern["count"] for pattern in one["patterns"]] == [12]
    assert len(said["left"]) == 4
    text = StringIO()
    call_command("find_patterns", "--run", str(run.public_id), stdout=text)
    assert "12 of 16 responses read (75.0 %)" in text.getvalue()
