"""What the filters of the question list offer, in the language of the request."""

from __future__ import annotations

from collections import defaultdict

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from gradeapp.common.named import Named
from questions.models import Knowledge, Task

Choice = tuple[str, str]
LEVELS = {1: "80–100", 2: "60–80", 3: "40–60", 4: "20–40", 5: "0–20"}


def named_choices(names: type[Named]) -> list[Choice]:
    """Value and name of each member."""
    language = get_language() or "en"
    return [(name.value, name.label(language)) for name in names]


def difficulty_choices() -> list[Choice]:
    """The five levels, each with the human rates that it stands for."""
    return [
        (str(level), _("Level %(level)s · %(rates)s %%") % {"level": level, "rates": rates})
        for level, rates in LEVELS.items()
    ]


def knowledge_choices() -> list[Choice]:
    """The categories, each followed by its subclasses, which stand a little in."""
    chinese = (get_language() or "en").startswith("zh")
    columns = ("pk", "parent", "slug", "chinese" if chinese else "english")
    below: defaultdict[int | None, list[tuple[int, str, str]]] = defaultdict(list)
    for key, parent, slug, name in Knowledge.objects.order_by("pk").values_list(*columns):
        below[parent].append((key, slug, name))
    return [
        entry
        for key, slug, name in below[None]
        for entry in [(slug, name), *((under, f"\u2003{its}") for _key, under, its in below[key])]
    ]


def task_choices() -> list[tuple[str, list[Choice]]]:
    """The tasks, by dataset."""
    groups: defaultdict[str, list[Choice]] = defaultdict(list)
    for slug, dataset in Task.objects.order_by("dataset__slug", "slug").values_list(
        "slug", "dataset__name"
    ):
        groups[dataset].append((slug, slug.replace("_", " ")))
    return list(groups.items())
