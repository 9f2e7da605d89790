"""Blindness as non-interference: worlds that differ only in hidden facts look the same.

Every address that a GET can reach is taken from the URLconf, so that a page
made later is tried as well. In between two looks only what a marker may not
know is changed: the other teacher's mark, comment, flags and times, whether it
led to a final mark or to the lead, what the judge said, the model and its run,
and what the other said of wrong answers that both review.
The answers must be equal byte for byte, and hold no word of what is hidden.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import product

import pytest
from django.db import connection, transaction
from django.db.models import Q
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from evaluations.marking.desk.services.slots import claim_next
from evaluations.models import (
    BlindAnswer,
    CapabilityJudgement,
    CapabilityReview,
    FinalMark,
    FinalMarkSource,
    Judge,
    Judgement,
    LanguageModel,
    Mark,
    MarkingRound,
    Response,
    ReviewItem,
    ReviewSlot,
    Slot,
)
from evaluations.models.vocabulary import Flag, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    NOW,
    RUBRIC,
    answers_of,
    give,
    held_slot,
    small_round,
    subjective_question,
)
from tests.evaluations.review_world import items_of, review_of, say, taken, wrong_answers

pytestmark = pytest.mark.django_db
CANARY = re.compile(rb"canary", re.IGNORECASE)
TOKEN = re.compile(
    rb'(csrfmiddlewaretoken" value="|x-csrftoken": "|csrfToken":\s*"|"token": ")[^"]+'
)
# The key of a form that makes something is random (version 4); that of a mark is not (5).
FORM_KEY = re.compile(rb'(name="key" value=")[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}')
WRITES = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM) "?(\w+)')
HTMX = {"HX-Request": "true"}
CHANGING = {"Date", "Expires", "Set-Cookie"}


@dataclass(frozen=True)
class Hidden:
    """Facts that a marker may not learn while the response is not final."""

    points: tuple[str, ...]
    comment: str
    flag: Flag
    judge: str
    model: str
    days: int


AGREES = Hidden(("3", "3", "6"), "canary-agrees", Flag.CUT_OFF, "12", "canary-gpt-7f3a", 0)
DIFFERS = Hidden(("0", "0", "0"), "canary-differs", Flag.REFUSES, "6", "canary-qwen-91bc", 4000)
NEARLY = Hidden(("3", "2.5", "6"), "", Flag.OFF_TOPIC, "0", "canary-glm-55aa", 3)
WORLDS = [AGREES, DIFFERS, NEARLY]


@dataclass
class World:
    """A round in which *teacher* has marked one response, holds one, and has one to come."""

    made: MarkingRound
    teacher: User
    other: User
    marked: BlindAnswer
    held: BlindAnswer
    coming: BlindAnswer
    review: CapabilityReview
    judged: ReviewItem
    at_hand: ReviewItem

    def set(self, hidden: Hidden) -> None:
        """Change what the other teacher, the judge and the model did, and nothing else."""
        for answer in (self.marked, self.held):
            self._forget(answer)
            self._judge(answer.response, hidden)
            give(
                answer,
                self.other,
                hidden.points,
                comment=hidden.comment,
                flags=(hidden.flag,),
                seconds=hidden.days + 1,
            )
        theirs = Mark.objects.filter(teacher=self.other)
        theirs.update(created_at=NOW + timedelta(days=hidden.days))
        self._judge_the_wrong(hidden)
        in_round = Q(runs__responses__blind_answers__round=self.made)
        for model in LanguageModel.objects.filter(in_round | Q(runs__reviews=self.review)):
            model.name = f"{hidden.model}-{model.pk}"
            model.save()

    def _judge_the_wrong(self, hidden: Hidden) -> None:
        """Give each wrong answer that both review what the other says of it in this world."""
        ReviewSlot.objects.filter(judgement__reviewer=self.other).update(judgement=None)
        CapabilityJudgement.objects.filter(reviewer=self.other).delete()
        for item in (self.judged, self.at_hand):
            item.slots.filter(holder=self.other).update(reviewed=False, holder=None)
            ones = "ukr" if hidden is AGREES else ""
            say(item, self.other, ones, note=hidden.comment, seconds=hidden.days + 1)

    def _forget(self, answer: BlindAnswer) -> None:
        BlindAnswer.objects.filter(pk=answer.pk).update(final=None, one_more_for=None)
        FinalMarkSource.objects.filter(final__answer=answer).delete()
        FinalMark.objects.filter(answer=answer).delete()
        for mark in Mark.objects.filter(slot__answer=answer, teacher=self.other):
            mark.points.all().delete()
            mark.delete()
        answer.slots.filter(kind__in=[SlotKind.THIRD, SlotKind.ARBITRATION]).delete()
        answer.slots.filter(holder=self.other).update(marked=False, holder=None)

    def _judge(self, response: Response, hidden: Hidden) -> None:
        judge = Judge.objects.get_or_create(name="canary-judge")[0]
        Judgement.objects.update_or_create(
            response=response,
            judge=judge,
            defaults={
                "total": Decimal(hidden.judge),
                "full": Decimal(12),
                "status": "scored",
                "reply": f"canary-judge-says {hidden.judge}",
                "flags": [],
            },
        )


@pytest.fixture(params=[Scheme.MEAN, Scheme.TWO_AND_LEAD, Scheme.THREE_AND_LEAD])
def world(
    request: pytest.FixtureRequest, teacher: User, other_teacher: User, third_teacher: User
) -> World:
    """Two teachers share every response; the third is only there for third marks.

    One more mark is asked for where the judge is far from the teachers', as in ``NEARLY``.
    """
    made = small_round(
        [teacher, other_teacher, third_teacher],
        3,
        scheme=request.param,
        marking_notes="Half.",
        judge_check_share=Decimal("0.25"),
    )
    pair = [teacher, other_teacher]
    for answer in answers_of(made):
        for person, slot in zip(pair, answer.slots.order_by("kind"), strict=True):
            Slot.objects.filter(pk=slot.pk).update(planned=person)
    Response.objects.update(text="$t = 1$ seconds.")
    marked, at_desk, coming = answers_of(made)
    give(marked, teacher, ["3", "3", "6"], comment="my own", seconds=30)
    held_slot(at_desk, teacher)
    review = review_of(wrong_answers(2, "canary-reviewed"), pair, reviewers_each=2)
    judged, at_hand = items_of(review)
    say(judged, teacher, "u", note="my own")
    taken(at_hand, teacher)
    rooms = (review, judged, at_hand)
    return World(made, teacher, other_teacher, marked, at_desk, coming, *rooms)


def arguments(world: World) -> dict[str, list[object]]:
    """Values for each kind of argument in an address: own, others' and none at all."""
    answer = world.marked
    uuids = [world.made, world.marked, world.held, world.coming, answer.response, answer.question]
    uuids += [world.review, world.judged, world.at_hand]
    rows = [answer, answer.response, answer.response.run, Judgement.objects.first()]
    return {
        "UUIDConverter": [*[thing.public_id for thing in uuids], uuid.UUID(int=7)],
        "IntConverter": [*{row.pk for row in rows if row}, 999_999],
        "StringConverter": ["rates", "agreement", "canary"],
        "SlugConverter": ["rates", "agreement", "exam"],
        "PathConverter": ["rates"],
    }


def routes(
    patterns: list[URLPattern | URLResolver], prefix: str = "/", kinds: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every route but the Django admin's, with the kinds of its arguments."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        here = (*kinds, *(type(kind).__name__ for kind in pattern.pattern.converters.values()))
        if isinstance(pattern, URLPattern):
            assert "(?P" not in route, f"{route}: this test does not know how to fill a regex"
            yield route, here
        elif pattern.namespace != "admin":
            yield from routes(pattern.url_patterns, route, here)


def addresses(world: World, client: Client) -> list[str]:
    """Every address that a route can make of the world's ids.

    A route that refuses two different ids alike with 403 or 405 asks for a
    capability or the method first (test_authorization): these two stand for all.
    """
    known = arguments(world)
    found: list[str] = []
    for route, kinds in routes(get_resolver().url_patterns):
        filled = [fill(route, values) for values in product(*(known[kind] for kind in kinds))]
        ends = list(dict.fromkeys((filled[0], filled[-1])))
        closed = all(client.get(address).status_code in (403, 405) for address in ends)
        found += ends if closed else filled
    return sorted(set(found))


def fill(route: str, values: tuple[object, ...]) -> str:
    """The route with its arguments in place."""
    for value in values:
        route = re.sub(r"<[^>]+>", str(value), route, count=1)
    return route


def look(client: Client, address: str, headers: dict[str, str]) -> tuple[int, bytes, bytes]:
    """Status, headers and body, without the clock and the token that is new each time."""
    response = client.get(address, headers=headers)
    kept = {k: v for k, v in response.headers.items() if k not in CHANGING}
    return response.status_code, repr(sorted(kept.items())).encode(), masked(response.getvalue())


def masked(body: bytes) -> bytes:
    return FORM_KEY.sub(rb"\1", TOKEN.sub(rb"\1", body))


def written(queries: CaptureQueriesContext) -> list[str]:
    """Statements that changed a table of the domain; the trail and sessions are none."""
    assert len(connection.queries_log) < connection.queries_limit, "a full log captures nothing"
    changed = [found[1] for query in queries if (found := WRITES.match(query["sql"]))]
    return [table for table in changed if table not in ("audit_auditentry", "django_session")]


@pytest.mark.parametrize("world", [Scheme.THREE_AND_LEAD], indirect=True, ids=["2+1+1"])
def test_worlds_that_differ_in_hidden_facts_look_the_same(world: World) -> None:
    """Each address as a page and as a fragment; test_blindness_roles.py has another scheme.

    What refuses by a capability (403) or the method (405) does so before it looks at a header: it
    is asked as a page.
    """
    client = logged_in(world.teacher)
    world.set(WORLDS[0])
    tried = addresses(world, client)
    assert sum("/marking/" in address for address in tried) > 10
    assert sum("/reviewing/" in address for address in tried) > 10
    tried.append(f"/marking/marks/?round={world.made.public_id}")
    headers = {"page": {}, "fragment": HTMX}
    seen = {(address, "page"): look(client, address, {}) for address in tried}
    refused = {address for address in tried if seen[address, "page"][0] in (403, 405)}
    refused.remove("/runs/")  # one of them is asked in every way
    fragments = (address for address in tried if address not in refused)
    seen |= {(address, "fragment"): look(client, address, HTMX) for address in fragments}
    asked = list(seen)
    for kind in headers:
        assert {seen[one][0] for one in asked if one[1] == kind} >= {200, 403, 404}
    for hidden in WORLDS[1:]:
        world.set(hidden)
        for address, kind in asked:
            again = look(client, address, headers[kind])
            assert again == seen[address, kind], (address, kind)
            assert not CANARY.search(again[1] + again[2].replace(address.encode(), b"")), address


def test_the_desk_asks_the_database_the_same_questions(world: World) -> None:
    """Time would tell as well: the same number of queries, whatever the others did."""
    client, desk = logged_in(world.teacher), f"/marking/responses/{world.marked.public_id}/"
    client.get(desk)  # what one has opened oneself is remembered
    counts = []
    for hidden in WORLDS:
        world.set(hidden)
        for address in (desk, "/marking/"):
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            counts.append((address, len(queries)))
    assert len(set(counts)) == 2


def test_what_is_fetched_ahead_tells_nothing_of_the_others(world: World) -> None:
    """Whether the others have marked the next response, and how: one fragment, one print of it."""
    client = logged_in(world.teacher)
    where = f"/marking/responses/{world.marked.public_id}/ahead/"
    alone = masked(client.post(where, headers=HTMX).content)
    assert b'id="marks"' in alone
    assert b"data-digest" in alone
    for hidden in WORLDS:
        world.set(hidden)
        again = client.post(where, headers=HTMX)
        assert masked(again.content) == alone
        assert not CANARY.search(again.content)


def test_the_end_of_the_queue_tells_nothing_of_the_others(world: World) -> None:
    """Own marks are all given: whether the others are through, or not begun, reads the same."""
    client = logged_in(world.teacher)
    for answer in (world.held, world.coming):
        give(answer, world.teacher, ["3", "3", "6"], seconds=30)
    own = f"/marking/rounds/{world.made.public_id}/"

    def ends() -> list[object]:
        claimed = client.post(f"{own}next/", headers=HTMX)
        kept = {k: v for k, v in claimed.headers.items() if k not in CHANGING}
        return [look(client, own, {}), claimed.status_code, kept, masked(claimed.content)]

    alone = ends()
    assert b"All done" in alone[-1]  # type: ignore[operator]
    for hidden in WORLDS:
        world.set(hidden)
        assert ends() == alone
    give(world.coming, world.other, ["3", "3", "6"])
    assert ends() == alone


def test_what_is_not_mine_does_not_exist_and_was_withdrawn_read_the_same(world: World) -> None:
    client = logged_in(world.teacher)
    places = [f"/marking/responses/{key}/" for key in (world.coming.public_id, uuid.uuid4())]
    withdrawn = f"/marking/responses/{world.held.public_id}/"
    world.held.slots.update(holder=None)
    answers = [look(client, place, HTMX) for place in [*places, withdrawn]]
    assert answers[0][0] == 404
    assert answers.count(answers[0]) == 3


def test_the_order_of_the_queue_does_not_follow_the_others(world: World) -> None:
    def order() -> list[int]:
        got = []
        with transaction.atomic():
            while slot := claim_next(world.teacher, round=world.made, now=NOW):
                got.append(slot.answer_id)
                Slot.objects.filter(pk=slot.pk).update(marked=True)
            transaction.set_rollback(True)
        return got

    orders = []
    for hidden in WORLDS:
        world.set(hidden)
        orders.append(order())
    assert orders[0] == orders[1] == orders[2]


def test_own_counts_do_not_move_when_others_save(world: World) -> None:
    client = logged_in(world.teacher)
    places = ["/marking/", f"/marking/responses/{world.held.public_id}/", "/api/v1/marks/"]
    before = [look(client, place, {}) for place in places]
    world.set(DIFFERS)
    give(world.coming, world.other, ["1", "1", "1"])
    assert [look(client, place, {}) for place in places] == before


def test_a_third_marker_cannot_tell_it_from_a_first_one(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    judge = Judge.objects.create(name="canary-judge")
    pages = []
    for why in ("marks", "judge", ""):
        share = Decimal("0.25") if why == "judge" else None
        made = small_round(
            people, 1, scheme=Scheme.THREE_AND_LEAD, name="Round", judge_check_share=share,
            question=subjective_question(stem="How far?"),
        )  # fmt: skip
        (answer,) = answers_of(made)
        first, second = answer.slots.order_by("kind")
        Slot.objects.filter(pk=first.pk).update(planned=teacher)
        Slot.objects.filter(pk=second.pk).update(planned=other_teacher)
        Judgement.objects.create(
            response=answer.response, judge=judge, total=0, full=12, status="scored"
        )
        if why:
            give(answer, teacher, ["3", "3", "6"])
            give(answer, other_teacher, ["0", "0", "0"] if why == "marks" else ["3", "3", "6"])
        slot = claim_next(third_teacher, round=made, now=NOW)
        assert slot is not None
        assert (slot.kind == SlotKind.THIRD) is bool(why)
        page = logged_in(third_teacher).get(f"/marking/responses/{answer.public_id}/").content
        for own in (str(answer.public_id), str(made.public_id)):
            page = page.replace(own.encode(), b"id")
        page = re.sub(rb'name="key" value="[^"]+"|data-digest="\w+"', b"", page)
        page = re.sub(rb"20\d\d (?=<)|Physics_\w+", b"", page)
        pages.append(masked(page))
    assert pages[0] == pages[1] == pages[2]


def test_the_world_of_these_tests_is_not_empty(world: World) -> None:
    """The hidden facts are there to be leaked: final mark or arbitration, judge, points."""
    world.set(DIFFERS)
    scheme = Scheme(world.made.scheme)
    kinds = set(world.marked.slots.values_list("kind", flat=True))
    assert world.marked.finals.exists() is (scheme is Scheme.MEAN)
    assert (SlotKind.ARBITRATION in kinds) is (scheme is Scheme.TWO_AND_LEAD)
    assert (SlotKind.THIRD in kinds) is (scheme is Scheme.THREE_AND_LEAD)
    assert Mark.objects.get(teacher=world.other, slot__answer=world.marked).points.count() == len(
        RUBRIC
    )
    world.set(NEARLY)
    asked = BlindAnswer.objects.get(pk=world.marked.pk)
    assert asked.one_more_for is not None, "the judge asks for one more mark"
    assert asked.slots.filter(kind=SlotKind.THIRD).exists()
    world.set(DIFFERS)
    assert CapabilityJudgement.objects.filter(reviewer=world.other).count() == 2
    for item in (world.judged, world.at_hand):
        page = logged_in(world.teacher).get(f"/reviewing/answers/{item.public_id}/")
        assert page.status_code == 200
