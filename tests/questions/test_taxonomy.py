"""The published taxonomy: its size, its names, and the rows made from it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from questions.models import Knowledge
from questions.rules.taxonomy import TAXONOMY, branch_of, subclass_slug
from questions.rules.vocabulary import AbilityBranch
from questions.services.label_rows import ensure_taxonomy

SUBCLASSES = [subclass for category in TAXONOMY for subclass in category.subclasses]


def test_the_taxonomy_has_twenty_categories_and_the_subclasses_of_the_file() -> None:
    assert Counter(category.branch for category in TAXONOMY) == {
        AbilityBranch.COMMON_SENSE: 6,
        AbilityBranch.UNDERSTANDING: 4,
        AbilityBranch.REASONING: 10,
    }
    assert len(SUBCLASSES) == 69


def test_every_slug_names_one_place() -> None:
    slugs = [category.slug for category in TAXONOMY] + [subclass.slug for subclass in SUBCLASSES]
    assert len(set(slugs)) == len(slugs) == 89
    longest = Knowledge._meta.get_field("slug").max_length
    assert longest is not None
    assert max(map(len, slugs)) <= longest


def test_a_subclass_is_found_by_its_published_names() -> None:
    assert subclass_slug("数学运算", " 核心方法 ") == "mathematical-calculation-core-methods"
    assert subclass_slug("政治常识", "政治常识") == "political-political"
    assert subclass_slug("法律常识", "核心方法") is None


def test_a_place_has_the_branch_of_its_category() -> None:
    assert branch_of("law") is AbilityBranch.COMMON_SENSE
    assert branch_of("passage-reading-title-insertion") is AbilityBranch.UNDERSTANDING
    assert branch_of("alchemy") is None


@pytest.mark.django_db
def test_the_rows_are_made_once() -> None:
    Knowledge.objects.create(slug="law", english="Statute law", chinese="成文法")
    own = Knowledge.objects.create(slug="own", english="Own", chinese="自有")
    keys = ensure_taxonomy()
    assert ensure_taxonomy() == keys
    assert len(keys) == Knowledge.objects.count() == 90
    assert keys["own"] == own.pk
    assert Knowledge.objects.get(slug="law").english == "Statute law"
    civil = Knowledge.objects.get(slug="law-civil-law")
    assert (civil.chinese, civil.ability_branch) == ("民法", "common_sense")
    assert civil.parent is not None
    assert civil.parent.slug == "law"


@pytest.mark.shareddata
def test_the_names_are_those_of_the_published_file(shared_data: Path) -> None:
    items = json.loads((shared_data / "agibench" / "datasets.json").read_text("utf-8"))
    published = {
        (
            item["Ability Branch"].lower().replace(" ", "_"),
            *(item[key] for key in ("Knowledge", "Knowledge (EN)")),
            *(item[key] for key in ("Knowledge Subclass", "Knowledge Subclass (EN)")),
        )
        for item in items
    }
    assert published == {
        (category.branch.value, category.chinese, category.english, sub.chinese, sub.english)
        for category in TAXONOMY
        for sub in category.subclasses
    }


@pytest.mark.shareddata
def test_the_places_are_those_of_the_papers_table_2(shared_data: Path) -> None:
    paper = json.loads((shared_data / "papers" / "agibench.json").read_text("utf-8"))
    (table,) = (one for one in paper["tables"] if one["id"] == "table-2")
    printed = {tuple(row["key"].values()) for row in table["rows"]}
    ours = {
        (category.branch.label("en").title(), category.english, sub.english)
        for category in TAXONOMY
        for sub in category.subclasses
    }
    branch = "Common Sense"
    of_file = {(branch, name, name) for name in ("Economic", "Political")}
    of_table = {(branch, name, name) for name in ("Economics", "Politics")}
    assert (ours - printed, printed - ours) == (of_file, of_table)
