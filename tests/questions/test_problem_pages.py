"""The gate's pages: the list with its filters and counts, both versions, the decision."""

from __future__ import annotations

import time
from random import Random

import pytest
from django.test import Client
from django.urls import reverse

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from questions.models import ItemDecision, ItemProblem, Question, QuestionRevision
from questions.rules.differences import different_pieces
from questions.services.gate import check_duplicates, check_items
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task
from tests.questions.test_gate_service import same_question, status

LIST = "/questions/problems/"


@pytest.fixture
def bank(db: None) -> dict[str, ItemProblem]:
    """A key that is not on offer, a figure that is not there, and two keys for one question."""
    bad = make_question(make_task(make_dataset("agibench")), key=("F",), stem="哪个质数？")
    figure = make_question(stem="如图，哪个正确？")
    one, _two = same_question("one", "C"), same_question("two", "D")
    check_items([bad.pk, figure.pk])
    check_duplicates(make_dataset("one"))
    return {
        "bad": bad.problems.get(),
        "figure": figure.problems.get(),
        "conflict": one.problems.get(code="conflicting_key"),
        "duplicate": one.problems.get(code="exact_duplicate"),
    }


def listed(client: Client, query: str = "") -> set[int]:
    page = client.get(f"{LIST}{query}").context["page"]
    return {problem.pk for problem in page}


def test_the_list_shows_what_waits(bank: dict[str, ItemProblem], lead: User) -> None:
    client = logged_in(lead)
    mirrored = ItemProblem.objects.filter(code="conflicting_key").latest("pk")
    assert listed(client) == {problem.pk for problem in bank.values()} | {mirrored.pk}, (
        "a duplicate once, a conflict for each of its items"
    )
    page = client.get(LIST)
    counts = {count.code: (count.open, count.quarantining) for count in page.context["counts"]}
    assert counts == {
        "key_outside_options": (1, 1),
        "missing_figure": (1, 0),
        "exact_duplicate": (1, 0),
        "conflicting_key": (2, 2),
    }
    text = page.content.decode()
    for words in ("answer key F, options ABCD", "similarity 100 %", "C ↔ D", "…如图，哪个正确？…"):
        assert words in text


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("?code=missing_figure", {"figure"}),
        ("?quarantines=no", {"figure", "duplicate"}),
        ("?pairs=across&quarantines=no", {"duplicate"}),
        ("?pairs=within", set()),
        ("?dataset=agibench", {"bad"}),
        ("?dataset=agibench&quarantines=no", set()),
        ("?state=decided", set()),
        ("?code=key_outside_options&state=all", {"bad"}),
    ],
)
def test_filters_stand_in_the_address(
    bank: dict[str, ItemProblem], lead: User, query: str, names: set[str]
) -> None:
    assert listed(logged_in(lead), query) == {bank[name].pk for name in names}


def test_pairs_are_counted_once_within_and_across(
    bank: dict[str, ItemProblem], curator: User
) -> None:
    """Three equal items, two in one dataset: three pairs. Keys C, D, C: two conflicts."""
    same_question("one", "C")
    check_duplicates(make_dataset("one"))
    client = logged_in(curator)
    page = client.get(LIST)
    counts = {count.code: count for count in page.context["counts"]}
    exact, conflict = counts["exact_duplicate"], counts["conflicting_key"]
    assert (exact.open, exact.within, exact.across) == (3, 1, 2)
    assert (conflict.open, conflict.within, conflict.across) == (4, 0, 2)
    assert counts["missing_figure"].pairs == 0
    assert "3 pairs: 2 across datasets, 1 within one" in page.text
    assert "Same question with different answer keys" in page.text
    within = client.get(f"{LIST}?pairs=within").context["page"]
    assert [problem.code for problem in within] == ["exact_duplicate"]
    bank["conflict"].decisions.create(decision="keep", reason="so", author=curator)
    counts = {count.code: count for count in client.get(LIST).context["counts"]}
    assert counts["conflicting_key"].across == 2, "the other row of the pair still waits"


def test_one_side_of_a_pair_is_enough_for_its_dataset(
    bank: dict[str, ItemProblem], lead: User
) -> None:
    found = listed(logged_in(lead), "?dataset=two&code=exact_duplicate")
    assert found == {bank["duplicate"].pk}


def test_the_list_as_a_file(bank: dict[str, ItemProblem], lead: User) -> None:
    client = logged_in(lead)
    content = client.get(f"{LIST}export/?quarantines=yes").content.decode("utf-8-sig")
    head, *rows = content.splitlines()
    assert head.startswith('"problem","code","quarantines","dataset"')
    assert len(rows) == 3
    assert any('"agibench"' in row and '"answer key F, options ABCD"' in row for row in rows)
    assert client.get(f"{LIST}export/?color=red").status_code == 400
    assert client.head(f"{LIST}export/").status_code == 200
    entry = AuditEntry.objects.get(tag="problems.exported")
    assert (entry.actor, entry.detail["rows"]) == (lead, 3)
    assert entry.detail["parameters"] == {"quarantines": "yes"}


def test_a_decision_is_written_and_the_next_problem_shown(
    bank: dict[str, ItemProblem], curator: User
) -> None:
    problem, client = bank["bad"], logged_in(curator)
    page = client.get(f"{LIST}{problem.pk}/?quarantines=yes")
    seen = page.context["form"]["seen"].value()
    said = {"decision": "keep", "reason": "the errata sheet", "seen": seen}
    answer = client.post(f"{LIST}{problem.pk}/?quarantines=yes", said)
    assert answer.status_code == 302
    assert answer["Location"].startswith(LIST)
    assert answer["Location"].endswith("?quarantines=yes")
    assert ItemDecision.objects.get().reason == "the errata sheet"
    assert status(problem.question) == "active"
    history = client.get(f"{LIST}{problem.pk}/").content.decode()
    assert "the errata sheet" in history
    assert problem.pk not in listed(client)
    assert listed(client, "?state=decided") == {problem.pk}


def test_a_repair_changes_what_was_changed_and_nothing_else(
    bank: dict[str, ItemProblem], curator: User
) -> None:
    problem, client = bank["bad"], logged_in(curator)
    form = client.get(f"{LIST}{problem.pk}/").context["form"]
    said = {field.html_name: field.value() or "" for field in form}
    said |= {"decision": "repair", "reason": "misprint", "key-0": "b"}
    said["stem"] = said["stem"].replace("\n", "\r\n")
    before = QuestionRevision.objects.get(current_of=problem.question_id)
    assert client.post(f"{LIST}{problem.pk}/", said).status_code == 302
    now = QuestionRevision.objects.get(current_of=problem.question_id)
    assert (now.answer_key, now.published_key, now.stem) == (["B"], ["F"], before.stem)
    page = client.get(f"{LIST}{problem.pk}/")
    assert [one.revision.number for one in page.context["versions"]] == [1, 2]


def test_a_refused_decision_keeps_what_was_typed(
    bank: dict[str, ItemProblem], curator: User
) -> None:
    problem, client = bank["bad"], logged_in(curator)
    said = {"decision": "repair", "reason": "typed", "seen": problem.revision_id, "key-0": "Q"}
    answer = client.post(f"{LIST}{problem.pk}/", said | {"stem": "哪个质数？"})
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "The answer key Q is not among the letters ABCD." in text
    assert 'value="typed"' in text
    stale = client.post(
        f"{LIST}{problem.pk}/", {"decision": "keep", "reason": "x", "seen": 999_999}
    )
    assert stale.status_code == 409
    assert not ItemDecision.objects.exists()


def as_sent(text: str) -> str:
    """*text* of a field as a browser sends it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines.replace("\n", "\r\n")


def test_a_repair_of_one_field_leaves_the_line_ends_of_the_others(
    bank: dict[str, ItemProblem], curator: User
) -> None:
    """In another text earlier answers would keep the key that was repaired away."""
    problem, client = bank["bad"], logged_in(curator)
    kept = {"stem": "One\r\ntwo\rthree\n", "options": [" a\r", "b\r\n", "c ", "d"]}
    of_item = QuestionRevision.objects.filter(question=problem.question_id)
    of_item.update(**kept, letters="ABCD")
    for changed in ({"key-0": "b"}, {"option-1": " B "}):
        form = client.get(f"{LIST}{problem.pk}/").context["form"]
        said = {field.html_name: as_sent(str(field.value() or "")) for field in form}
        said |= {"decision": "repair", "reason": "misprint", **changed}
        assert client.post(f"{LIST}{problem.pk}/", said).status_code == 302
    key, option = of_item.filter(author=curator)
    assert (key.answer_key, key.stem, key.options) == (["B"], kept["stem"], kept["options"])
    assert (option.stem, option.options) == (kept["stem"], [" a\r", "B", "c ", "d"])


def test_a_repair_that_meets_another_keeps_what_was_typed(
    bank: dict[str, ItemProblem], curator: User
) -> None:
    """The other one corrected the key; the analysis that was typed meanwhile joins it."""
    problem, client = bank["bad"], logged_in(curator)
    page = f"{LIST}{problem.pk}/"
    opened = client.get(page).context["form"]
    said = {field.html_name: field.value() or "" for field in opened}
    said |= {"decision": "repair", "reason": "misprint"}
    assert client.post(page, said | {"key-0": "A"}).status_code == 302
    answer = client.post(page, said | {"analysis": "Only two is even."})
    assert (answer.status_code, "changed in the meantime" in answer.text) == (409, True)
    kept = {field.html_name: field.value() or "" for field in answer.context["form"]}
    assert (kept["key-0"], kept["analysis"]) == ("A", "Only two is even.")
    assert [one.revision.number for one in answer.context["versions"]] == [1, 2]
    assert client.post(page, kept).status_code == 302
    now = QuestionRevision.objects.get(current_of=problem.question_id)
    assert (now.answer_key, now.analysis) == (["A"], "Only two is even.")


def test_a_decision_that_meets_another_keeps_what_was_typed(
    bank: dict[str, ItemProblem], curator: User, admin: User
) -> None:
    problem = bank["bad"]
    page = f"{LIST}{problem.pk}/"
    first, second = logged_in(curator), logged_in(admin)
    opened = [client.get(page).context["form"] for client in (first, second)]
    excluded, kept = (
        {field.html_name: field.value() or "" for field in form} | {"seen_decision": "0"}
        for form in opened
    )
    assert 'name="seen_decision" value="0"' in second.get(page).text
    excluded |= {"decision": "exclude", "reason": "no right option"}
    for _ in range(2):  # a double click
        assert first.post(page, excluded).status_code == 302
    kept |= {"decision": "keep", "reason": "looks fine"}
    answer = second.post(page, kept)
    assert (answer.status_code, "decided in the meantime" in answer.text) == (409, True)
    assert "no right option" in answer.text
    assert 'value="looks fine"' in answer.text
    assert (status(problem.question), ItemDecision.objects.count()) == ("excluded", 1)
    shown = {field.html_name: field.value() or "" for field in answer.context["form"]}
    assert second.post(page, shown).status_code == 302
    assert status(problem.question) == "active"


def test_both_versions_stand_side_by_side_with_their_differences(db: None, curator: User) -> None:
    one, two = same_question("one", "C"), same_question("two", "D")
    check_duplicates(make_dataset("one"))
    QuestionRevision.objects.filter(question=two).update(
        stem="化学与生活密切有关。$x^2$ <b>下列</b>叙述错误的是"
    )
    QuestionRevision.objects.filter(question=one).update(
        stem="化学与生活密切相关。$x^3$ <b>下列</b>叙述错误的是"
    )
    problem = one.problems.first()
    assert problem is not None
    text = logged_in(curator).get(f"{LIST}{problem.pk}/").content.decode()
    assert "密切<mark>相</mark>关" in text
    assert "密切<mark>有</mark>关" in text
    assert '<mark><span class="math inline">x^3</span></mark>' in text
    assert "<b>" not in text
    assert "活性炭具有除异味作用" in text


def test_who_may_only_read_sees_no_form(bank: dict[str, ItemProblem], lead: User) -> None:
    page = logged_in(lead).get(f"{LIST}{bank['bad'].pk}/")
    assert 'name="reason"' not in page.content.decode()
    assert logged_in(lead).post(f"{LIST}{bank['bad'].pk}/", {}).status_code == 403
    assert logged_in(lead).get(f"{LIST}999999/").status_code == 404


def test_the_list_asks_few_queries(
    bank: dict[str, ItemProblem], lead: User, django_assert_max_num_queries: object
) -> None:
    make = [make_question(key=("F",)).pk for _ in range(20)]
    check_items(make)
    client = logged_in(lead)
    client.get(LIST)
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        client.get(LIST)


def test_the_question_page_leads_to_its_problem(bank: dict[str, ItemProblem], lead: User) -> None:
    question = Question.objects.get(pk=bank["bad"].question_id)
    page = logged_in(lead).get(reverse("questions:question", args=[question.public_id]))
    assert f"{LIST}{bank['bad'].pk}/" in page.content.decode()


@pytest.mark.parametrize(
    ("one", "other", "left", "right"),
    [
        ("x is 12", "x is 13", "x is [12]", "x is [13]"),
        ("甲乙丙", "甲丁丙", "甲[乙]丙", "甲[丁]丙"),
        ("ａ　b", "a b", "ａ　b", "a b"),
        ("value $x+1$ end", "value $x+2$ end", "value [$x+1$] end", "value [$x+2$] end"),
        ("one\n\ntwo", "one", "one\n\n[two]", "one"),
        ("**bold** a", "bold b", "**bold** [a]", "bold [b]"),
        ("", "", "", ""),
        (
            r"a \(x\) \[y \\[2pt] z\]",
            r"a \(w\) \[y\]",
            r"a [\(x\)] [\[y \\[2pt] z\]]",
            r"a [\(w\)] [\[y\]]",
        ),
        ("![a!](p.png) b", "![a!](q.png) b", "[![a!](p.png)] b", "[![a!](q.png)] b"),
    ],
)
def test_differences(one: str, other: str, left: str, right: str) -> None:
    pieces = different_pieces(one, other)
    shown = ["".join(f"[{t}]" if differs else t for t, differs in side) for side in pieces]
    assert shown == [left, right]
    assert ["".join(t for t, _ in side) for side in pieces] == [one, other]


def test_long_texts_differ_by_their_lines() -> None:
    lines = [f"line {n} of the text with words" for n in range(400)]
    changed = list(lines)
    changed[100] = "another line **here**"
    changed[300] = "line 300 of the text with other words"
    pieces = different_pieces("\n".join(lines), "\n".join(changed))
    shown = ["".join(text for text, differs in side if differs) for side in pieces]
    assert shown == [
        "line100ofthetextwithwordsline300ofthetextwith",
        "anotherlinehereline300ofthetextwithother",
    ]
    assert "".join(text for text, _differs in pieces[1]) == "\n".join(changed)


WORDS = [f"{a}{b}" for a in ("ba", "be", "bi", "bo") for b in ("ca", "ce", "ci", "co")]


@pytest.mark.parametrize(
    "texts",
    [
        [" ".join(Random(seed).choices(WORDS, k=20_000)) for seed in (1, 2)],
        ["\n".join(Random(seed).choices(WORDS, k=20_000)) for seed in (1, 2)],
        [" ".join(f"s{n % 50} {side}{n}" for n in range(10_000)) for side in "xy"],
        [" ".join(f"{side}{n}" for n in range(750)) for side in "xy"],
        ["![" * 150_000, "!" + "![" * 150_000],
        ["![](" * 100_000, "!" + "![](" * 100_000],
        ["\\(" * 150_000, "!" + "\\(" * 150_000],
        ["\\[" * 150_000, "!" + "\\[" * 150_000],
        ["$$" * 150_000 + "$", "!" + "$$" * 150_000],
        ["甲" * 300_000, "乙" * 300_000],
    ],
    ids=[
        "words",
        "lines",
        "mixed",
        "spaces",
        "images",
        "links",
        "inline",
        "display",
        "dollars",
        "signs",
    ],
)
def test_texts_of_any_size_are_compared_at_once(texts: list[str]) -> None:
    """Eight looks at a pair of 100 kB each took all threads of the site for good."""
    started = time.process_time()
    pieces = different_pieces(*texts)
    assert time.process_time() - started < 10
    assert ["".join(text for text, _differs in side) for side in pieces] == texts


@pytest.mark.parametrize("address", ["/questions/problems/export/", "/runs/search/export/"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_file_of_a_filter_that_does_not_exist_is_refused(
    admin: User, address: str, language: str
) -> None:
    """It held everything."""
    answer = logged_in(admin).get(f"{address}?dataset=bogus", headers={"Accept-Language": language})
    words = "The filter dataset has no such value" if language == "en" else "dataset"
    assert (answer.status_code, words in answer.text) == (400, True)
