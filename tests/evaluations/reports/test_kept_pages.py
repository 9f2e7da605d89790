"""A report page that is kept for a second look is new after every change of what it shows."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.models import BlindAnswer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus, SlotKind
from evaluations.reports.selectors.kept_reports import forget
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.selectors.report_pages import overview
from gradeapp.accounts.models import User
from gradeapp.common.kept import KeptValues
from tests.conftest import logged_in
from tests.evaluations.report_world import BETA, chosen, mark, run_of, written

PAGE = "/reports/"


@pytest.mark.django_db(transaction=True)
def test_whatever_changes_a_pair_of_marks_makes_the_kept_ones_old() -> None:
    """First and second marks are in no fact, so their pairs have a state of their own."""
    forget()
    run = run_of()
    mark(written(run), "4", "7")
    params = ReportParams(run.dataset.slug, marker=TEACHERS)
    (slot,) = Slot.objects.filter(kind=SlotKind.FIRST)

    def pairs() -> list[tuple[float, float, float | None]]:
        """Both marks in per cent, and the share of pairs within the tolerance."""
        made = overview(params)
        assert made.state is not None
        shares = [row.figures["within_tolerance"].value for row in made.agreement.rows[-1:]]
        places = [place for own in made.pairs.places.values() for place in own]
        return [(x, y, share) for (x, y, _n), share in zip(places, shares, strict=True)]

    assert pairs() == [(40, 70, 0)]
    with CaptureQueriesContext(connection) as again:
        assert pairs() == [(40, 70, 0)]
    assert not any("total" in one["sql"] for one in again.captured_queries)
    about = {"slot": slot, "teacher": slot.marks.get().teacher, "full": 10}
    Mark.objects.create(**about, version=2, key=uuid.uuid4(), total=6)
    assert pairs() == [(60, 70, 1)]
    Mark.objects.filter(version=2).update(total=5)  # past the services
    assert pairs() == [(50, 70, 0)]
    BlindAnswer.objects.update(tolerance=2)
    assert pairs() == [(50, 70, 1)]
    Slot.objects.filter(pk=slot.pk).update(void_version=2)  # returned to the teacher
    assert pairs() == []
    Slot.objects.filter(pk=slot.pk).update(void_version=0)
    assert pairs() == [(50, 70, 1)]
    BlindAnswer.objects.update(final=None)
    MarkingRound.objects.update(arbiter_marks_first=True, status=RoundStatus.OPEN)
    assert pairs() == []  # leads mark before they see the others


@pytest.mark.django_db(transaction=True)
def test_the_kept_page_is_the_same_page_and_new_after_a_mark(lead: User) -> None:
    forget()
    run = run_of()
    chosen(run, "A", "B")
    mark(written(run), "4", "7")
    chosen(run_of(BETA), "A")
    client = logged_in(lead)

    def main(**query: str) -> str:
        text = client.get(PAGE, query).content.decode()
        return text[text.index('id="totals-title"') :]

    def marked() -> list[int]:
        return [one.marked for one in choices(run.dataset.slug).markers]

    first = main()
    with CaptureQueriesContext(connection) as again:
        assert main() == first
    assert not any("COUNT(DISTINCT" in one["sql"] for one in again.captured_queries)
    assert marked() == [1]
    chinese = client.get(PAGE, headers={"accept-language": "zh-hans"}).content.decode()
    assert "物理" in chinese
    assert "物理" not in main()
    of_part = main(part="objective")
    assert of_part != first
    assert main() == first
    mark(written(run), "8", "8")
    assert main() != first
    assert marked() == [2]
    forget()
    assert main() != first


def test_what_is_kept_stays_within_its_bytes_and_the_oldest_goes_first() -> None:
    kept = KeptValues(100)
    for name in ("a", "b"):
        kept.put(name, name.upper(), 40)
    assert kept.get("a") == "A"  # used last
    kept.put("c", "C", 40)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == ("A", None, "C")
    kept.put("d", "D", 101)
    assert kept.get("d") is None
    kept.put("a", "A", 60)
    assert kept.size == 100
    kept.forget()
    assert (kept.get("a"), kept.size) == (None, 0)
