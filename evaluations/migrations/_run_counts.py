"""The triggers that keep the sums of runs (RunCount).

On SQLite a migration that alters one of these tables makes it anew and drops its triggers: such a
migration must end with ``RunPython(install)``. ``rebuild_counts`` counts anew; ``check_invariants``
says whether the sums are right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Each counted table: the row of it (R stands for NEW or OLD), what it adds to which column, the
# columns of which a change matters, and which rows count.
_RUN_OF_ATTEMPT = "(SELECT run_id FROM evaluations_job WHERE id = R.job_id)"
_QUESTION_OF_ATTEMPT = "(SELECT question_id FROM evaluations_job WHERE id = R.job_id)"
_OPEN = "R.status IN ('sent', 'unknown')"


def _if(condition: str) -> str:
    return f"(CASE WHEN {condition} THEN 1 ELSE 0 END)"


def _units(name: str) -> str:
    return f"CAST(ROUND(R.{name} * 100000000) AS BIGINT)"


TABLES: dict[str, dict[str, Any]] = {
    "evaluations_job": {
        "run": "R.run_id",
        "question": "R.question_id",
        "adds": {
            **{
                state: _if(f"R.status = '{state}'")
                for state in ("pending", "waiting", "leased", "done")
            },
            "failed": _if("R.status = 'failed' AND R.error <> 'no_images'"),
            "refused": _if("R.status = 'failed' AND R.error = 'no_images'"),
        },
        "changes": ("status", "error"),
        # A job of a judge run without a response asks about a canary.
        "counts": "(R.response_id IS NOT NULL OR"
        " (SELECT purpose FROM evaluations_run WHERE id = R.run_id) <> 'judge')",
    },
    "evaluations_attempt": {
        "run": _RUN_OF_ATTEMPT,
        "question": _QUESTION_OF_ATTEMPT,
        "adds": {
            "answered": _if("R.status = 'answered'"),
            "unknown": _if("R.status = 'unknown'"),
            "spent_units": _units("cost"),
            "open_units": f"(CASE WHEN {_OPEN} THEN {_units('reserved')} ELSE 0 END)",
        },
        "first": "CASE WHEN R.status = 'answered' THEN R.sent_at END",
        "last": "CASE WHEN R.status = 'answered' THEN R.finished_at END",
        "changes": ("status", "cost", "reserved", "sent_at", "finished_at"),
        "counts": "",
    },
    "evaluations_response": {
        "run": "R.run_id",
        "question": "R.question_id",
        "adds": {"responses": "1"},
        "changes": (),
        "counts": "",
    },
}
# Transactions of different connections seldom write the same row.
SHARDS = 64


def install(apps: Any, schema_editor: Any) -> None:
    """Put the triggers on the tables as they are now, in place of older ones."""
    remove(apps, schema_editor)
    make = _on_postgresql if schema_editor.connection.vendor == "postgresql" else _on_sqlite
    for table, counted in TABLES.items():
        for statement in make(table, counted):
            schema_editor.execute(statement, params=None)


def remove(apps: Any, schema_editor: Any) -> None:
    """Take the triggers off; the counts stay."""
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table in TABLES:
        for action in ("insert", "update", "delete"):
            where = f" ON {table}" if postgresql else ""
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_{action}_counted{where}", None)
            if postgresql:
                name = f"{table}_{action}_counted()"
                schema_editor.execute(f"DROP FUNCTION IF EXISTS {name}", None)


def _actions(counted: dict[str, Any]) -> tuple[str, ...]:
    return ("insert", "update", "delete") if counted["changes"] else ("insert", "delete")


def _of(text: str, row: str) -> str:
    return text.replace("R.", f"{row}.")


def _task(counted: dict[str, Any], row: str) -> str:
    question = _of(counted["question"], row)
    return f"(SELECT task_id FROM questions_question WHERE id = {question})"


def _on_sqlite(table: str, counted: dict[str, Any]) -> Iterator[str]:
    """One statement makes the row of the sums if there is none, the next adds to it.

    Not one with ON CONFLICT: the policy of the statement that fires a trigger overrides it.
    """
    for action in _actions(counted):
        row = "OLD" if action == "delete" else "NEW"
        when = [_of(counted["counts"], row)] if counted["counts"] else []
        if action == "update":
            changed = (f"OLD.{name} IS NOT NEW.{name}" for name in counted["changes"])
            when.append(f"({' OR '.join(changed)})")
        sets = []
        for name, adds in counted["adds"].items():
            plus = "" if action == "delete" else f" + {_of(adds, 'NEW')}"
            minus = "" if action == "insert" else f" - {_of(adds, 'OLD')}"
            sets.append(f"{name} = {name}{plus}{minus}")
        if "first" in counted and action != "delete":
            for name, column, which in (
                ("first", "first_sent", "MIN"),
                ("last", "last_finished", "MAX"),
            ):
                new = f"({_of(counted[name], 'NEW')})"
                # The minimum of two values is null if one of them is.
                sets.append(f"{column} = COALESCE({which}({column}, {new}), {column}, {new})")
        run, task = _of(counted["run"], row), _task(counted, row)
        of = f" OF {', '.join(counted['changes'])}" if action == "update" else ""
        new = (
            " INSERT INTO evaluations_runcount (run_id, task_id, shard)"
            f" SELECT one.run_id, one.task_id, 0 FROM (SELECT {run} AS run_id, {task} AS task_id)"
            " AS one WHERE NOT EXISTS (SELECT 1 FROM evaluations_runcount AS kept WHERE"
            " kept.run_id = one.run_id AND kept.task_id = one.task_id AND kept.shard = 0);"
        )
        yield (
            f"CREATE TRIGGER {table}_{action}_counted AFTER {action.upper()}{of} ON {table}"
            f"{' WHEN ' + ' AND '.join(when) if when else ''} BEGIN"
            # Whoever deletes the rows of a run may have deleted its counts before.
            f"{'' if action == 'delete' else new}"
            f" UPDATE evaluations_runcount SET {', '.join(sets)}"
            f" WHERE run_id = {run} AND task_id = {task} AND shard = 0; END"
        )


def _on_postgresql(table: str, counted: dict[str, Any]) -> Iterator[str]:
    """One function for each action, called once a statement with all its rows."""
    names = list(counted["adds"])
    for action in _actions(counted):
        rows = [] if action == "delete" else [("new_rows", 1)]
        rows += [] if action == "insert" else [("old_rows", -1)]
        times = [("first_sent", "first", "MIN"), ("last_finished", "last", "MAX")]
        times = times if "first" in counted else []
        parts = []
        for source, sign in rows:
            values = [f"{sign} * {adds} AS {name}" for name, adds in counted["adds"].items()]
            values += [
                f"{counted[key] if sign > 0 else 'CAST(NULL AS timestamptz)'} AS {column}"
                for column, key, _which in times
            ]
            where = f" WHERE {counted['counts']}" if counted["counts"] else ""
            parts.append(
                f"SELECT {counted['run']} AS run_id, {_task(counted, 'R')} AS task_id,"
                f" {', '.join(values)} FROM {source} AS R{where}"
            )
        sums = [f"SUM({name}) AS {name}" for name in names]
        sums += [f"{which}({column}) AS {column}" for column, _key, which in times]
        columns = [*names, *(column for column, _key, _which in times)]
        sets = [f"{name} = evaluations_runcount.{name} + EXCLUDED.{name}" for name in names]
        for column, _key, which in times:
            least = "LEAST" if which == "MIN" else "GREATEST"
            sets.append(f"{column} = {least}(evaluations_runcount.{column}, EXCLUDED.{column})")
        changed = " OR ".join(f"SUM({name}) <> 0" for name in names)
        having = f" HAVING {changed}" if action == "update" else ""
        yield (
            f"CREATE FUNCTION {table}_{action}_counted() RETURNS trigger LANGUAGE plpgsql AS $$"
            " BEGIN INSERT INTO evaluations_runcount"
            f" (run_id, task_id, shard, {', '.join(columns)}) SELECT run_id, task_id,"
            f" pg_backend_pid() % {SHARDS}, {', '.join(columns)} FROM ("
            f" SELECT run_id, task_id, {', '.join(sums)} FROM ({' UNION ALL '.join(parts)}) AS one"
            f" GROUP BY run_id, task_id{having} ORDER BY run_id, task_id) AS sums"
            f" ON CONFLICT (run_id, task_id, shard) DO UPDATE SET {', '.join(sets)};"
            f" RETURN NULL; END $$"
        )
        shown = {"new_rows": "NEW TABLE AS new_rows", "old_rows": "OLD TABLE AS old_rows"}
        yield (
            f"CREATE TRIGGER {table}_{action}_counted AFTER {action.upper()} ON {table}"
            f" REFERENCING {' '.join(shown[source] for source, _sign in rows)}"
            f" FOR EACH STATEMENT EXECUTE FUNCTION {table}_{action}_counted()"
        )


# What the counts must be, in the order of ``NAMES``.
NAMES = (
    *("run_id", "task_id", "shard", "pending", "waiting", "leased", "done", "failed", "refused"),
    *("answered", "unknown", "spent_units", "open_units", "responses"),
    *("first_sent", "last_finished"),
)
COUNTED = """SELECT run_id, task_id, 0 AS shard, SUM(pending) AS pending, SUM(waiting) AS waiting, SUM(leased) AS leased, SUM(done) AS done, SUM(failed) AS failed,
    SUM(refused) AS refused, SUM(answered) AS answered, SUM(unknown) AS unknown, SUM(spent_units) AS spent_units, SUM(open_units) AS open_units, SUM(responses) AS responses,
    MIN(first_sent) AS first_sent, MAX(last_finished) AS last_finished FROM (
    SELECT job.run_id, job.question_id,
        COUNT(CASE WHEN job.status = 'pending' THEN 1 END) AS pending,
        COUNT(CASE WHEN job.status = 'waiting' THEN 1 END) AS waiting,
        COUNT(CASE WHEN job.status = 'leased' THEN 1 END) AS leased,
        COUNT(CASE WHEN job.status = 'done' THEN 1 END) AS done,
        COUNT(CASE WHEN job.status = 'failed' AND job.error <> 'no_images' THEN 1 END) AS failed,
        COUNT(CASE WHEN job.status = 'failed' AND job.error = 'no_images' THEN 1 END) AS refused,
        0 AS answered, 0 AS unknown, 0 AS spent_units, 0 AS open_units, 0 AS responses,
        NULL AS first_sent, NULL AS last_finished
    FROM evaluations_job AS job JOIN evaluations_run AS run ON run.id = job.run_id
    WHERE job.response_id IS NOT NULL OR run.purpose <> 'judge'
    GROUP BY job.run_id, job.question_id
    UNION ALL
    SELECT job.run_id, job.question_id, 0, 0, 0, 0, 0, 0,
        COUNT(CASE WHEN attempt.status = 'answered' THEN 1 END),
        COUNT(CASE WHEN attempt.status = 'unknown' THEN 1 END),
        SUM(CAST(ROUND(attempt.cost * 100000000) AS BIGINT)),
        SUM(CASE WHEN attempt.status IN ('sent', 'unknown')
            THEN CAST(ROUND(attempt.reserved * 100000000) AS BIGINT) ELSE 0 END),
        0,
        MIN(CASE WHEN attempt.status = 'answered' THEN attempt.sent_at END),
        MAX(CASE WHEN attempt.status = 'answered' THEN attempt.finished_at END)
    FROM evaluations_attempt AS attempt JOIN evaluations_job AS job ON job.id = attempt.job_id
    GROUP BY job.run_id, job.question_id
    UNION ALL
    SELECT run_id, question_id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, COUNT(*), NULL, NULL
    FROM evaluations_response GROUP BY run_id, question_id
) AS counted JOIN questions_question AS question ON question.id = counted.question_id
GROUP BY run_id, task_id"""
FILL = f"INSERT INTO evaluations_runcount ({', '.join(NAMES)}) {COUNTED}"


def fill(apps: Any, schema_editor: Any) -> None:
    """Count what is stored already."""
    schema_editor.execute(FILL, params=None)
