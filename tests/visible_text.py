"""What a person reads or hears of a page, without what people, models and code wrote into it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "link", "meta", "source", "wbr", "path", "rect", "circle"}
NOT_READ = {"script", "style", "template", "code", "kbd", "pre", "svg"}
# Content of questions, responses and people goes through the renderer, or says its language.
CONTENT = {"rich", "raw", "welcome-sample"}
SPOKEN = {"aria-label", "title", "placeholder", "alt"}
# Names with a digit or a sign in them, as of models, tasks and files, are no words.
NAME = re.compile(r"\S*[\d_./@%:=-]\S*")
# Brand, keys, formats, parameters of a call, statistics: the same in every language.
KNOWN_WORDS = frozenset(
    {
        *("Gradeapp", "CSV", "API", "Enter", "Esc", "Tab", "Ctrl", "token", "Token", "CNY"),
        *("temperature", "top", "max", "tokens", "Spearman", "Kendall", "ICC", "Krippendorff"),
        *("JSON", "JSONL", "Schema", "UTC", "Cohen", "AGIEval", "AGIBench", "MB", "Excel", "PDF"),
        *("SVG", "PNG", "XLSX", "Parquet", "Lines"),
        *("OpenAI", "gradeapp", "none", "minimal", "low", "medium", "high", "xhigh"),
        *("DeepSeek", "Qwen", "DashScope", "Moonshot", "Kimi", "Zhipu", "GLM", "SiliconFlow"),
        *("OpenRouter", "Ollama", "vLLM", "llama", "cpp", "LM", "Studio", "SGLang"),
        # The command that starts a worker
        *("celery", "worker"),
        # The name of a condition is as the interfaces give it.
        *("as", "published"),
    }
)
WORD = re.compile(r"[A-Za-z]{2,}")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[tuple[str, bool]] = []

    @property
    def silent(self) -> bool:
        return bool(self.open) and self.open[-1][1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        silent = self.silent or tag in NOT_READ or _is_content(tag, values)
        if not silent:
            self.texts += [value for name, value in values.items() if _is_spoken(name, value)]
        if tag not in VOID:
            self.open.append((tag, silent))

    def handle_endtag(self, tag: str) -> None:
        while self.open:
            name, _ = self.open.pop()
            if name == tag:
                break

    def handle_data(self, data: str) -> None:
        if data.strip() and not self.silent:
            self.texts.append(" ".join(data.split()))


def _is_content(tag: str, attributes: dict[str, str]) -> bool:
    says_language = tag != "html" and "lang" in attributes
    return says_language or bool(CONTENT & set(attributes.get("class", "").split()))


def _is_spoken(name: str, value: str) -> bool:
    """Also the sentences that scripts read from ``data-`` attributes."""
    return name in SPOKEN or (name.startswith("data-") and " " in value)


def visible_text(html: str) -> list[str]:
    """The pieces of text of *html*, in order."""
    reader = _Reader()
    reader.feed(html)
    return reader.texts


def latin_words(texts: list[str], known: frozenset[str]) -> Iterator[str]:
    """Words in Latin letters that are neither names nor *known*, each with its text."""
    for text in texts:
        found = set(WORD.findall(NAME.sub(" ", text))) - known
        if found:
            yield f"{', '.join(sorted(found))}: {text}"
