"""The Chinese catalogue: every string of the sources, once, whole, and set in one way."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from django.utils.translation.template import templatize

from gradeapp.common.named import Named
from tests import translation_sources as sources
from tests.translation_sources import Message
from tests.visible_text import KNOWN_WORDS, latin_words, visible_text

CATALOGUE = sources.ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
PLACEHOLDER = re.compile(r"%\(\w+\)[.\d]*[a-z]|%%\w+%%|%%")
TAG = re.compile(r"</?[a-z]+>")
TRANSLATED_BLOCK = re.compile(
    r"{% (comment|blocktranslate)\b.*?{% end(comment|blocktranslate) %}", re.DOTALL
)
TEMPLATE_TAG = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)
CHINESE = "[\u4e00-\u9fff]"
# The brand, and statistics that Chinese papers call by the same letters.
SAME_IN_CHINESE = {"Spearman", "Kendall τ-b", "ICC(2,1)", "Krippendorff α"}
NOT_CHINESE = {
    "a space between Chinese and a digit": rf"{CHINESE} \d|(?<!-)\d {CHINESE}",
    "no space between Chinese and Latin letters": rf"{CHINESE}[A-Za-z]|[A-Za-z]{CHINESE}",
    "a half-width sign beside Chinese": rf"{CHINESE}[,;:?!()]|[,;:?!()]{CHINESE}",
}
# What Django tells xgettext beyond its own list.
KEYWORDS = [
    "gettext_noop",
    "gettext_lazy",
    "ngettext_lazy:1,2",
    "pgettext:1c,2",
    "npgettext:1c,2,3",
    "pgettext_lazy:1c,2",
    "npgettext_lazy:1c,2,3",
]


@pytest.fixture(scope="module")
def catalogue() -> polib.POFile:
    return polib.pofile(str(CATALOGUE))


def chinese_of(entry: polib.POEntry) -> str:
    return entry.msgstr_plural.get(0, "") if entry.msgid_plural else entry.msgstr


def english_of(entry: polib.POEntry) -> list[str]:
    return [entry.msgid, entry.msgid_plural] if entry.msgid_plural else [entry.msgid]


def keys_of(entries: polib.POFile) -> dict[Message, polib.POEntry]:
    return {Message(entry.msgctxt, entry.msgid): entry for entry in entries}


def test_every_string_of_the_sources_is_translated(catalogue: polib.POFile) -> None:
    known = keys_of(catalogue)
    missing = [
        f"{file}: {message.text}"
        for message, file in sources.all_messages().items()
        if message not in known or not chinese_of(known[message]).strip()
    ]
    assert not missing, "run make translations, then translate these"


def test_nothing_is_kept_that_no_source_says(catalogue: polib.POFile) -> None:
    stale = set(keys_of(catalogue)) - set(sources.all_messages())
    assert not stale, "run make translations"
    assert not catalogue.obsolete_entries()
    assert not catalogue.fuzzy_entries(), "a guess of msgmerge; translate it"


def test_no_template_has_words_of_its_own() -> None:
    """Also in branches that no test renders: what is not a tag, a variable or markup is no word."""
    found = {}
    for file in sources.templates():
        static = TEMPLATE_TAG.sub(" ", TRANSLATED_BLOCK.sub(" ", file.read_text()))
        if words := list(latin_words(visible_text(static), KNOWN_WORDS)):
            found[str(file)] = words
    assert not found


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="gettext's tools are not installed")
def test_a_fresh_extraction_finds_the_same_strings(tmp_path: Path) -> None:
    """Our reading of the sources against xgettext's own."""
    files = [(file, templatize(file.read_text())) for file in sources.templates()]
    files += [(file, file.read_text()) for file in sources.modules()]
    for number, (_file, text) in enumerate(files):
        (tmp_path / f"{number:03d}.py").write_text(text)
    keywords = [f"--keyword={keyword}" for keyword in KEYWORDS]
    command = ["xgettext", "--language=Python", "--from-code=UTF-8", "--output=found.pot"]
    names = [file.name for file in sorted(tmp_path.iterdir())]
    subprocess.run([*command, *keywords, *names], cwd=tmp_path, check=True)
    found = keys_of(polib.pofile(str(tmp_path / "found.pot")))
    assert set(found) == set(sources.all_messages())


def test_placeholders_and_tags_agree(catalogue: polib.POFile) -> None:
    for entry in catalogue:
        given = chinese_of(entry)
        for english in english_of(entry):
            assert set(PLACEHOLDER.findall(given)) == set(PLACEHOLDER.findall(english)), given
            assert sorted(TAG.findall(given)) == sorted(TAG.findall(english)), given


def test_there_is_one_plural_form(catalogue: polib.POFile) -> None:
    assert catalogue.metadata["Plural-Forms"] == "nplurals=1; plural=0;"
    assert all(set(e.msgstr_plural) == {0} for e in catalogue if e.msgid_plural)


def test_nothing_is_left_in_latin_letters(catalogue: polib.POFile) -> None:
    latin = {
        entry.msgid
        for entry in catalogue
        if not re.search(CHINESE, chinese_of(entry))
        and re.search("[A-Za-z]", PLACEHOLDER.sub("", chinese_of(entry)))
    }
    assert latin == SAME_IN_CHINESE


@pytest.mark.parametrize("fault", NOT_CHINESE)
def test_chinese_is_set_in_one_way(fault: str, catalogue: polib.POFile) -> None:
    texts = [TAG.sub("", PLACEHOLDER.sub("", chinese_of(entry))) for entry in catalogue]
    assert not [text for text in texts if re.search(NOT_CHINESE[fault], text)], fault


def test_closed_lists_have_chinese_names() -> None:
    def lists(of: type[Named]) -> Iterator[type[Named]]:
        for one in of.__subclasses__():
            yield one
            yield from lists(one)

    found = list(lists(Named))
    assert len(found) > 20
    for one in found:
        assert all(re.search(CHINESE, member.label("zh-hans")) for member in one), one
        assert len({member.chinese for member in one}) == len(one), f"two names alike in {one}"
