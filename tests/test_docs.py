"""The documentation is true: settings, commands, options, links and targets exist as written."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand
from django.urls import resolve, reverse

from tests.test_authorization import ROUTES

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
OPERATIONS = ROOT / "docs" / "operations.md"
COMMANDS = ROOT / "docs" / "commands.md"
PAGES = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
APPS = ("gradeapp", "questions", "evaluations")
READERS = {
    "text",
    "flag",
    "number",
    "words",
    "choice",
    "roles",
    "database",
    "broker",
    "networks",
    "key_hosts",
    "time_zone",
}


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


# ---- the proxy ----


def test_the_proxy_lets_large_files_through_wherever_they_are_taken() -> None:
    place = re.search(r"location ~ (\S+) \{\n +client_max_body_size 100m;", text_of(OPERATIONS))
    assert place
    addresses = {reverse(name, kwargs=kwargs) for name, kwargs in ROUTES.items()}
    uploads = {one for one in addresses if getattr(resolve(one).func, "upload_capability", None)}
    assert len(uploads) > 5
    assert {one for one in addresses if re.search(place.group(1), one)} == uploads


# ---- settings ----


@cache
def settings_in_code() -> dict[str, str | None]:
    """Every variable that the code reads with its default, None where that is no literal."""
    found: dict[str, str | None] = {}
    for file in (file for app in APPS for file in sorted((ROOT / app).rglob("*.py"))):
        for call in calls_in(ast.parse(text_of(file))):
            name = call.args[0]
            if is_reader(call) and isinstance(name, ast.Constant):
                found[str(name.value)] = default_of(call)
    return found


def calls_in(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls of methods with an argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            yield node


def is_reader(call: ast.Call) -> bool:
    """``env.text("NAME")`` and its like, and ``os.environ.get("NAME")``."""
    method = call.func
    assert isinstance(method, ast.Attribute)
    owner = ast.unparse(method.value)
    return (owner == "env" and method.attr in READERS) or (owner, method.attr) in {
        ("os.environ", "get"),
        ("os", "getenv"),
    }


def default_of(call: ast.Call) -> str | None:
    given = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "default")]
    if not given:
        return ""
    try:
        value = ast.literal_eval(given[0])
    except ValueError:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(value) if isinstance(value, list) else str(value)


def settings_in_example() -> dict[str, str]:
    return dict(re.findall(r"^#([A-Z_]+)=(.*)$", text_of(ROOT / ".env.example"), re.MULTILINE))


def settings_in_operations() -> dict[str, str]:
    table = section_of(OPERATIONS, "Settings")
    rows = re.findall(r"^\| `([A-Z_]+)` \|([^|]*)\|", table, re.MULTILINE)
    return {name: default.strip().strip("`") for name, default in rows}


def section_of(page: Path, title: str) -> str:
    """What stands below the heading *title* of the second level."""
    for part in re.split(r"^## ", text_of(page), flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        if heading.strip("` ") == title:
            return body
    raise AssertionError(f"{name_of(page)} has no section {title}")


def test_the_code_reads_its_settings_where_this_test_looks() -> None:
    assert {"DATABASE_URL", "RUN_MAX_IN_FLIGHT"} <= settings_in_code().keys()


@pytest.mark.parametrize("documented", [settings_in_example, settings_in_operations])
def test_every_setting_is_documented_and_no_other(documented) -> None:  # type: ignore[no-untyped-def]
    assert documented().keys() == settings_in_code().keys()


@pytest.mark.parametrize("documented", [settings_in_example, settings_in_operations])
def test_documented_defaults_are_those_of_the_code(documented) -> None:  # type: ignore[no-untyped-def]
    literal = {name: value for name, value in settings_in_code().items() if value is not None}
    assert {name: documented()[name] for name in literal} == literal


def test_an_example_holds_no_comment_that_would_become_part_of_a_value() -> None:
    assert not [name for name, value in settings_in_example().items() if "#" in value]


# ---- commands ----


def own_commands() -> list[str]:
    found = (file for app in APPS for file in (ROOT / app).rglob("management/commands/*.py"))
    return sorted(file.stem for file in found if file.stem != "__init__")


def documented_commands() -> list[str]:
    return re.findall(r"^## `(\w+)`$", text_of(COMMANDS), re.MULTILINE)


def options_of(command: str) -> set[str]:
    """The long options of a command, without those that every Django command has."""
    return long_options(loaded(command)) - long_options(BaseCommand())


def loaded(command: str) -> BaseCommand:
    app = get_commands()[command]
    return app if isinstance(app, BaseCommand) else load_command_class(app, command)


def long_options(command: BaseCommand) -> set[str]:
    actions = command.create_parser("manage.py", "x")._actions
    return {word for action in actions for word in action.option_strings if word.startswith("--")}


def options_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def test_every_command_is_documented_and_no_other() -> None:
    assert sorted(documented_commands()) == own_commands()


def test_the_table_of_commands_names_each() -> None:
    listed = re.findall(r"^\| \[`(\w+)`\]\(#\1\)", text_of(COMMANDS), re.MULTILINE)
    assert listed == documented_commands()


@pytest.mark.parametrize("command", documented_commands())
def test_every_option_is_documented_and_no_other(command: str) -> None:
    section = section_of(COMMANDS, command)
    usage = section.split("```")[1]
    assert usage.split()[0] == command
    assert options_in(usage) == options_of(command), "in the usage"
    explained = options_in(" ".join(re.findall(r"^- .*$", section, re.MULTILINE)))
    assert options_of(command) - explained <= {"--format"}, "in the list below it"


@pytest.mark.parametrize("command", documented_commands())
def test_every_argument_without_a_name_stands_in_the_usage(command: str) -> None:
    actions = loaded(command).create_parser("manage.py", command)._actions
    needed = [action.dest.upper() for action in actions if not action.option_strings]
    usage = section_of(COMMANDS, command).split("```")[1]
    assert [word for word in usage.split()[1:] if word in needed][: len(needed)] == needed


def command_lines(page: Path) -> list[list[str]]:
    """What stands after ``manage.py`` in the page's blocks of code, a list of words a line."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)
    joined = "\n".join(blocks).replace("\\\n", " ")
    return [line.split() for line in re.findall(r"manage\.py (.+)$", joined, re.MULTILINE)]


def test_command_lines_in_the_documentation_exist() -> None:
    for command, *words in (line for page in PAGES for line in command_lines(page)):
        assert command in get_commands(), command
        given = {word for word in words if word.startswith("--")}
        assert given <= long_options(loaded(command)) | {"--help"}, " ".join([command, *words])


# ---- links, targets, modules ----


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        links = re.findall(r"\]\(([^)\s]+)\)", without_code(page))
        assert [link for link in links if not leads_somewhere(page, link)] == [], page


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a relative link leads to a file, and its anchor to a heading."""
    if re.match(r"[a-z]+:", link):
        return True
    target, _, place = link.partition("#")
    file = page.parent / target if target else page
    return file.exists() and (not place or place in anchors_of(file))


def without_code(page: Path) -> str:
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!\[)`[^`\n]*`(?!\])", "", text)


def anchors_of(page: Path) -> set[str]:
    """The places that headings make: small letters, digits, hyphens for blanks."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_targets_of_make_and_modules_to_be_run_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    for page in PAGES:
        named = re.findall(r"(?:^|`)make ([a-z]+)", text_of(page), re.MULTILINE)
        assert set(named) <= targets, page
        for module in re.findall(r"python -m ([a-z_]+(?:\.[a-z_]+)*)", text_of(page)):
            assert importlib.util.find_spec(module), f"{page}: {module}"


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md", "docs/how-to-add.md"])
def test_paths_exist(name: str) -> None:
    """Paths below the top folders; capitals such as FEATURE and NAME stand for any name."""
    tops = "|".join(("docs", "tests", "templates", "static", "locale", "bench", *APPS))
    paths = re.findall(rf"`((?:{tops})/[\w./-]*)`", text_of(ROOT / name))
    assert paths
    for path in paths:
        pattern = re.sub(r"\b[A-Z]{4,}\b|(?<=_)[A-Z]{4,}|\.\.\.", "*", path)
        assert any(ROOT.glob(pattern.rstrip("/"))), path


def test_the_readme_leads_to_every_page_of_the_documentation() -> None:
    reached, waiting = set(), [README]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s]+)", without_code(page))
        waiting += [page.parent / link for link in links]
    assert [name_of(page) for page in (ROOT / "docs").glob("*.md") if page not in reached] == []
