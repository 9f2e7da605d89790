"""How fast stored responses are scored again, beside bare storing of as many scores.

    python -m bench.bench_rescoring [--quick] [--json]

100,000 objective responses of 1,000 characters without a score by the present
rules are scored under both policies in the background job's way: batch by batch,
each noted. The floor stores as many readings and scores with bulk statements, in
one transaction, without reading any text.
"""

from __future__ import annotations

import time
from decimal import Decimal
from itertools import islice

from bench.bench_reading import responses as texts_of
from bench.measured import Measured, arguments, seconds_of, show
from bench.own_database import engine, own_database

RESPONSES = 100_000
QUICK = 200
QUESTIONS = 1_000
BULK = 2_000
BARE = ("strict", "published")


def store(count: int) -> None:
    """A run with *count* responses to objective questions, and no score."""
    from evaluations.models import LanguageModel, Response, Run
    from evaluations.models.vocabulary import RunPurpose, RunStatus
    from evaluations.runs.services.conditions import of_model
    from questions.models import Dataset, Question, QuestionRevision, Task
    from questions.rules.vocabulary import Language, QuestionType, Subject

    dataset = Dataset.objects.create(slug="bench", name="bench")
    kind = QuestionType.SINGLE_CHOICE
    task = Task.objects.create(
        dataset=dataset,
        slug="bench",
        subject=Subject.PHYSICS,
        part=kind.part,
        question_type=kind,
        language=Language.CHINESE,
    )
    asked = []
    for number in range(min(QUESTIONS, count)):
        question = Question.objects.create(
            task=task,
            external_id=str(number),
            position=number,
            subject=task.subject,
            part=task.part,
        )
        revision = QuestionRevision.objects.create(
            question=question,
            number=1,
            content_hash=f"{number:064d}",
            stem="?",
            letters="ABCD",
            question_type=kind,
            language=task.language,
            answer_key=["C"],
            sub_marks=["6"],
            full_marks=Decimal(6),
        )
        Question.objects.filter(pk=question.pk).update(current=revision)
        asked.append((question.pk, revision.pk))
    run = Run.objects.create(
        purpose=RunPurpose.ANSWER,
        **of_model(LanguageModel.objects.create(name="bench")),
        dataset=dataset,
        status=RunStatus.IMPORTED,
        repeats=count // len(asked) + 1,
    )
    rows = (
        Response(
            run=run,
            question_id=asked[number % len(asked)][0],
            revision_id=asked[number % len(asked)][1],
            repeat=number // len(asked) + 1,
            text=text,
        )
        for number, text in enumerate(texts_of(count))
    )
    while batch := list(islice(rows, BULK)):
        Response.objects.bulk_create(batch)


def bare() -> float:
    """Seconds to store two readings and two scores for each response, all alike."""
    from django.db import transaction

    from evaluations.models import Extraction, ObjectiveScore, Response

    started = time.perf_counter()
    with transaction.atomic():
        keys = iter(Response.objects.order_by("pk").values_list("pk", flat=True))
        while batch := list(islice(keys, BULK)):
            readings = Extraction.objects.bulk_create(
                Extraction(
                    response_id=key,
                    policy=policy,
                    reader_version="bare",
                    answers=["C"],
                    spans=[[990, 1000]],
                    outcome="read",
                    method="tag",
                    pattern="tag.whole",
                    confidence=1.0,
                )
                for policy in BARE
                for key in batch
            )
            ObjectiveScore.objects.bulk_create(
                ObjectiveScore(
                    response_id=reading.response_id,
                    extraction_id=reading.pk,
                    policy=reading.policy,
                    reader_version="bare",
                    points=Decimal(6),
                    full=Decimal(6),
                    sub_points=["6"],
                    outcome="correct",
                )
                for reading in readings
            )
    seconds = time.perf_counter() - started
    ObjectiveScore.objects.filter(reader_version="bare").delete()
    Extraction.objects.filter(reader_version="bare").delete()
    return seconds


def rescored(count: int) -> float:
    """Seconds of the background job, which must add both scores of every response."""
    from evaluations.models import Rescoring
    from evaluations.reading.services.rescoring_jobs import start_rescoring, work_on_rescoring

    job = start_rescoring(None, None, acting_user=None)
    seconds = seconds_of(lambda: work_on_rescoring(job.pk))
    added = Rescoring.objects.get(pk=job.pk).scores_added
    if added != 2 * count:
        raise SystemExit(f"{added} scores were added instead of {2 * count}")
    return seconds


def measure(count: int) -> Measured:
    """Both ways over the same responses."""
    store(count)
    floor = bare()
    seconds = rescored(count)
    detail = f"{count:,} responses in {engine()}; {seconds * RESPONSES / count:.1f} s of 100,000"
    return Measured.time("rescoring", seconds, floor, detail=detail)


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__, quick=f"{QUICK:,} responses").parse_args()
    with own_database():
        show([measure(QUICK if options.quick else RESPONSES)], as_json=options.json)


if __name__ == "__main__":
    main()
