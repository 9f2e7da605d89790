"""A bank of 12,000 questions: the published ones that lie beside the project, else our own.

The items of what can be read are stored under as many datasets as it takes,
through the product's own import, gate included; labels and rates are put into the
tables in bulk, with a fixed random seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from pathlib import Path
from random import Random

from django.db import transaction
from django.db.models import OuterRef, Subquery

from questions.importers.gaokao_bench import read_gaokao_bench
from questions.importers.jsonl import read_jsonl
from questions.importers.records import QuestionRecord
from questions.models import HumanRate, Knowledge, LabelRevision, Question
from questions.rules.vocabulary import AbilityBranch, LabelOrigin, Modal
from questions.services.bank import store_records
from questions.services.import_checks import NewImages

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT.parent / "shared" / "data" / "gaokao-bench"
SAMPLE = ROOT / "questions" / "sample" / "gradeapp-sample"


def source() -> tuple[list[QuestionRecord], str]:
    """The items that are copied, and what they are called."""
    if PUBLISHED.is_dir():
        files, name = read_gaokao_bench(PUBLISHED), "GAOKAO-Bench"
    else:
        files, name = read_jsonl(SAMPLE), "the sample exam"
    return [replace(record, images=()) for file in files for record in file.records], name


@transaction.atomic
def make_bank(size: int) -> str:
    """Store *size* questions; what they were copied from."""
    records, name = source()
    left = size
    for copy in range(-(-size // len(records))):
        some = [replace(record, dataset=f"bench-{copy}") for record in islice(records, left)]
        store_records(some, NewImages({}, Path()))
        left -= len(some)
    _label(Random(12_000))
    return name


def _label(random: Random) -> None:
    """Labels for four items of five, a rate for every second one."""
    kinds = [
        Knowledge.objects.create(slug=f"bench-{n}", english=f"Kind {n}", chinese=f"知识{n}")
        for n in range(20)
    ]
    keys = list(Question.objects.order_by("pk").values_list("pk", flat=True))
    LabelRevision.objects.bulk_create(_labels(random, keys, kinds), batch_size=500)
    newest = LabelRevision.objects.filter(question=OuterRef("pk")).order_by("-pk")
    Question.objects.update(label=Subquery(newest.values("pk")[:1]))
    rates = [
        HumanRate(question_id=key, value=Decimal(random.randrange(100)) / 100, source="bench")
        for key in keys[::2]
    ]
    HumanRate.objects.bulk_create(rates, batch_size=500)


def _labels(random: Random, keys: list[int], kinds: list[Knowledge]) -> Iterator[LabelRevision]:
    for key in keys:
        if random.random() < 0.8:
            yield LabelRevision(
                question_id=key,
                ability_branch=random.choice(list(AbilityBranch)),
                knowledge=random.choice(kinds),
                difficulty=random.randint(1, 5),
                modal=random.choice(list(Modal)),
                origins={"modal": LabelOrigin.CONTENT.value},
            )
