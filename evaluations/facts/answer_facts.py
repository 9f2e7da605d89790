"""Write the fact table of reports: one row per response, marker and policy, from the evidence.

A service that adds responses, moves the pointer to a score, adds or withdraws a final mark, or
adds a judgement calls the function for it in the same transaction. The rows of the responses are
then copied anew from the evidence by the statements below, which also rebuild the whole table:
set queries, the same on SQLite and PostgreSQL, without a Python object per response. Each call
raises the version of the datasets (``FactVersion``), so that what was computed from earlier facts
is known to be old.

What the question bank owns (subject, year, labels, status, key repairs) is in no fact: reports
join it. The part of a question is the exception: it tells which rows there are. Where an import
moves a question to the other part, ``record_part_moves`` follows in its transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from django.db import connection, transaction
from django.db.models import Max

from evaluations.facts.points import SUSPENDED, judge_points
from evaluations.models import AnswerFact, FactVersion, Judgement, Response
from evaluations.models.vocabulary import FactMarker, RunPurpose
from evaluations.statistics.policies import Policy
from gradeapp.common.casts import json_text, real
from questions.models import Dataset
from questions.rules.vocabulary import Part

BATCH = 500
# Responses that a rebuild copies in one statement.
STEP = 20_000
SHARDS = 16
# An error message counts as an answer if a model or a person read an answer in it.
READ_BY = ("model", "person")

COLUMNS = (
    *(
        "response_id",
        "run_id",
        "question_id",
        "revision_id",
        "repeat",
        "full_marks",
        "images_omitted",
    ),
    *("marker", "giver", "policy", "points", "outcome", "reason", "counts", "is_message"),
    *("key_revision_id", "read", "option_order", "source"),
)
# The columns that every row copies from its response.
_RESPONSE = """response.id, response.run_id, response.question_id, response.revision_id,
    response.repeat, CAST(revision.full_marks AS DOUBLE PRECISION), response.images_omitted > 0"""
_ANSWERS = f"""evaluations_response AS response
    JOIN evaluations_run AS run
        ON run.id = response.run_id AND run.purpose = '{RunPurpose.ANSWER.value}'
    JOIN questions_question AS question ON question.id = response.question_id
    JOIN questions_questionrevision AS revision ON revision.id = response.revision_id"""
_READ_BY = ", ".join(f"'{method}'" for method in READ_BY)


def _key_rows(policy: Policy) -> str:
    """Return the query for the scores under *policy*."""
    message = (
        f"response.is_error_text AND COALESCE(reading.method, '') NOT IN ({_READ_BY})"
        if policy is Policy.STRICT
        else "FALSE"
    )
    return f"""SELECT {_RESPONSE}, '{FactMarker.KEY.value}', 0, '{policy.value}',
        CAST(score.points AS DOUBLE PRECISION), COALESCE(score.outcome, 'not_scored'),
        CASE WHEN score.id IS NULL THEN 'not_scored' ELSE '' END, TRUE, {message},
        score.key_revision_id, CAST(reading.answers AS TEXT), response.option_order,
        COALESCE(score.id, 0)
    FROM {_ANSWERS}
    LEFT JOIN evaluations_objectivescore AS score
        ON score.id = response.{Response.score_field(policy)}_id
    LEFT JOIN evaluations_extraction AS reading ON reading.id = score.extraction_id
    WHERE question.part = '{Part.OBJECTIVE.value}' AND {{of}}"""


# A final mark that counts of the response of the query, newer than `than`.
_NEWER = """EXISTS (SELECT 1 FROM evaluations_blindanswer AS other
    JOIN evaluations_markinground AS held ON held.id = other.round_id AND NOT held.practice
    WHERE other.response_id = response.id AND other.final_id > {than})"""
_UNMARKED_ROWS = f"""SELECT {_RESPONSE}, '{FactMarker.TEACHERS.value}', 0, '',
        CAST(NULL AS DOUBLE PRECISION), 'not_scored', 'unmarked',
        NOT {_NEWER.format(than=0)}, response.is_error_text,
        CAST(NULL AS BIGINT), CAST(NULL AS TEXT), '', 0
    FROM {_ANSWERS}
    WHERE question.part = '{Part.SUBJECTIVE.value}' AND {{of}}"""
_FINAL_ROWS = f"""SELECT {_RESPONSE}, '{FactMarker.TEACHERS.value}', marked.round_id, '',
        CAST(final.value AS DOUBLE PRECISION), '', '',
        NOT {_NEWER.format(than="final.id")}, response.is_error_text,
        CAST(NULL AS BIGINT), CAST(NULL AS TEXT), '', final.id
    FROM {_ANSWERS}
    JOIN evaluations_blindanswer AS marked ON marked.response_id = response.id
    JOIN evaluations_markinground AS round ON round.id = marked.round_id AND NOT round.practice
    JOIN evaluations_finalmark AS final ON final.id = marked.final_id
    WHERE question.part = '{Part.SUBJECTIVE.value}' AND {{of}}"""
# A judgement with released totals has a row of its own under ``published`` (``_released``).
_JUDGE_ROWS = f"""SELECT {_RESPONSE}, '{FactMarker.JUDGE.value}', judgement.judge_id,
        CASE WHEN CAST(judgement.released AS TEXT) = '[]' THEN '' ELSE '{Policy.STRICT.value}' END,
        CASE WHEN judge.suspended_at IS NULL
            THEN CAST(judgement.total AS DOUBLE PRECISION) END,
        CASE WHEN judge.suspended_at IS NOT NULL OR judgement.total IS NULL
            THEN 'not_scored' ELSE '' END,
        CASE WHEN judge.suspended_at IS NOT NULL THEN '{SUSPENDED}'
            WHEN judgement.total IS NULL THEN judgement.status ELSE '' END,
        TRUE, response.is_error_text, CAST(NULL AS BIGINT), CAST(NULL AS TEXT), '', judgement.id
    FROM {_ANSWERS}
    JOIN evaluations_judgement AS judgement
        ON judgement.response_id = response.id AND judgement.sample = 1
    JOIN evaluations_judge AS judge ON judge.id = judgement.judge_id
    LEFT JOIN evaluations_judgement AS later ON later.follows_id = judgement.id
    WHERE question.part = '{Part.SUBJECTIVE.value}' AND later.id IS NULL AND {{of}}"""

_KEY_ROWS = {policy: _key_rows(policy) for policy in Policy}
_ALL_ROWS = (*_KEY_ROWS.values(), _UNMARKED_ROWS, _FINAL_ROWS, _JUDGE_ROWS)
_SAME = ("response_id", "marker", "giver", "policy")
_NEW = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name not in _SAME)
_PUT = f"""INSERT INTO evaluations_answerfact ({", ".join(COLUMNS)}) {{rows}}
    ON CONFLICT ({", ".join(_SAME)}) DO UPDATE SET {_NEW}"""
_RAISE = """INSERT INTO evaluations_factversion (dataset_id, shard, number)
    SELECT DISTINCT run.dataset_id, {shard}, 1
    FROM evaluations_response AS response JOIN evaluations_run AS run ON run.id = response.run_id
    WHERE run.dataset_id IS NOT NULL AND {of}
    ON CONFLICT (dataset_id, shard) DO UPDATE SET number = evaluations_factversion.number + 1"""


def record_responses(responses: Iterable[int]) -> None:
    """Write the rows of new *responses* (keys), which have neither scores nor marks yet."""
    rows = [*_KEY_ROWS.values(), _UNMARKED_ROWS]
    _record(responses, put=" UNION ALL ".join(rows))


def record_scores(responses: Iterable[int], policy: Policy) -> None:
    """Write what the current scores of *responses* (keys) under *policy* say."""
    _record(responses, put=_KEY_ROWS[policy])


def record_finals(responses: Iterable[int]) -> None:
    """Write the final marks of *responses* (keys) that count now."""
    _record(
        responses,
        put=f"{_UNMARKED_ROWS} UNION ALL {_FINAL_ROWS}",
        remove=(FactMarker.TEACHERS,),
    )


def record_judgements(responses: Iterable[int]) -> None:
    """Write the judgements of *responses* (keys) that count now."""
    _record(responses, put=_JUDGE_ROWS, remove=(FactMarker.JUDGE,))


def record_part_moves(questions: Iterable[int]) -> None:
    """Write all facts of the responses to *questions* (keys), which are of the other part now."""
    responses = Response.objects.filter(question__in=questions).values_list("pk", flat=True)
    _record(responses, put=" UNION ALL ".join(_ALL_ROWS), remove=tuple(FactMarker))


def facts_version(dataset: str) -> int:
    """Return how often the facts of *dataset* (slug) were written, in the caller's snapshot."""
    numbers = FactVersion.objects.filter(dataset__slug=dataset).values_list("number", flat=True)
    return sum(numbers)


def _record(responses: Iterable[int], *, put: str, remove: Sequence[FactMarker] = ()) -> None:
    """Copy the rows of the query *put* for *responses*, after removing those of some markers."""
    wanted = sorted(set(responses))
    markers = ", ".join(f"'{marker.value}'" for marker in remove)
    for start in range(0, len(wanted), BATCH):
        some = wanted[start : start + BATCH]
        keys = ", ".join(["%s"] * len(some))
        times = put.count("{of}")
        with transaction.atomic(), connection.cursor() as cursor:
            if remove:
                # Also the lock on which two that finalize the same response wait for each other.
                cursor.execute(
                    f"DELETE FROM evaluations_answerfact WHERE response_id IN ({keys})"
                    f" AND marker IN ({markers})",
                    some,
                )
            of = f"response.id IN ({keys})"
            cursor.execute(_PUT.format(rows=put.format(of=of)), some * times)
            if FactMarker.JUDGE in remove:
                AnswerFact.objects.bulk_create(_released(some))
            cursor.execute(_RAISE.format(of=of, shard=_shard()), some)


def _shard() -> str:
    """Return the SQL of the shard of this connection; SQLite has one writer at a time."""
    return f"pg_backend_pid() %% {SHARDS}" if connection.vendor == "postgresql" else "0"


def _released(responses: Sequence[int] | range) -> Iterator[AnswerFact]:
    """Yield the rows under ``published`` of judgements with released totals: their mean."""
    of: dict[str, object] = (
        {"response__gt": responses.start, "response__lte": responses.stop}
        if isinstance(responses, range)
        else {"response__in": responses}
    )
    found = (
        Judgement.objects.counting()
        .filter(
            response__run__purpose=RunPurpose.ANSWER,
            response__question__part=Part.SUBJECTIVE,
            **of,
        )
        .exclude(released=[])
    )
    copied = ("response", "response__run", "response__question", "response__revision")
    columns = ("pk", "judge", *copied, "response__repeat", "response__is_error_text")
    for (
        pk,
        judge,
        response,
        run,
        question,
        revision,
        repeat,
        message,
        omitted,
        status,
        *given,
    ) in found.order_by("pk").values_list(
        *columns,
        *("response__images_omitted", "status", real("total"), json_text("released")),
        real("response__revision__full_marks"),
    ):
        total, released, full = given
        points = judge_points(total, status, released, Policy.PUBLISHED, None)
        yield AnswerFact(
            response_id=response,
            run_id=run,
            question_id=question,
            revision_id=revision,
            repeat=repeat,
            marker=FactMarker.JUDGE,
            giver=judge,
            policy=Policy.PUBLISHED,
            points=points.points,
            full_marks=full,
            outcome=points.outcome,
            reason=points.reason,
            counts=True,
            is_message=message,
            images_omitted=omitted > 0,
            source=pk,
        )


def rebuild_facts(*, check: bool = False) -> tuple[int, int]:
    """Copy all facts anew from the evidence; return the rows there are, and how many differed.

    A row differs if it is missing, superfluous or has another value. With *check* the stored rows
    stay as they are. Runs in steps of ``STEP`` responses, each a transaction of its own.
    """
    last = Response.objects.aggregate(last=Max("pk"))["last"] or 0
    rows = differing = 0
    for start in range(0, last + 1, STEP):
        with transaction.atomic():
            found, other = _rebuild_step(range(start, start + STEP), check=check)
        rows, differing = rows + found, differing + other
    if differing and not check:
        with connection.cursor() as cursor:
            for dataset in Dataset.objects.values_list("pk", flat=True):
                cursor.execute(
                    f"INSERT INTO evaluations_factversion (dataset_id, shard, number)"
                    f" SELECT %s, {_shard()}, 1 WHERE TRUE ON CONFLICT (dataset_id, shard)"
                    " DO UPDATE SET number = evaluations_factversion.number + 1",
                    [dataset],
                )
    return rows, differing


def _rebuild_step(span: range, *, check: bool) -> tuple[int, int]:
    """Rebuild the facts of the responses above ``span.start`` and up to ``span.stop``."""
    of = "response.id > %s AND response.id <= %s"
    bounds = [span.start, span.stop]
    names = ", ".join(COLUMNS)
    stored = (
        f"SELECT {names} FROM evaluations_answerfact WHERE response_id > %s AND response_id <= %s"
    )
    with connection.cursor() as cursor:
        # A temporary table of the same columns takes the rows as they should be.
        cursor.execute("DROP TABLE IF EXISTS facts_anew")
        cursor.execute(
            f"CREATE TEMPORARY TABLE facts_anew AS SELECT {names}"
            " FROM evaluations_answerfact LIMIT 0"
        )
        for rows in _ALL_ROWS:
            cursor.execute(f"INSERT INTO facts_anew ({names}) {rows.format(of=of)}", bounds)
        released = [tuple(getattr(fact, name) for name in COLUMNS) for fact in _released(span)]
        if released:
            places = ", ".join(["%s"] * len(COLUMNS))
            cursor.executemany(f"INSERT INTO facts_anew ({names}) VALUES ({places})", released)
        anew = f"SELECT {names} FROM facts_anew"
        cursor.execute(
            f"SELECT COUNT(*) FROM (SELECT DISTINCT response_id, marker, giver, policy FROM"
            f" (SELECT * FROM ({anew} EXCEPT {stored}) AS added UNION ALL"
            f" SELECT * FROM ({stored} EXCEPT {anew}) AS gone) AS changed) AS rows_changed",
            bounds * 2,
        )
        differing = cursor.fetchone()[0]
        cursor.execute("SELECT COUNT(*) FROM facts_anew")
        count = cursor.fetchone()[0]
        if differing and not check:
            cursor.execute(
                "DELETE FROM evaluations_answerfact WHERE response_id > %s AND response_id <= %s",
                bounds,
            )
            cursor.execute(f"INSERT INTO evaluations_answerfact ({names}) {anew}")
        cursor.execute("DROP TABLE facts_anew")
    return count, differing
