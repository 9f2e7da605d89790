"""The triggers that keep what marks were before somebody changed them (MarkChange).

On SQLite a migration that alters one of these tables makes it anew and drops its
triggers: such a migration must end with ``RunPython(install_all)`` (``install`` alone is
of migrations before 0095). The tests of the history run on the migrated schema and fail
where that was forgotten.
"""

from gradeapp.audit.append_only import in_own_schema, refusal, replaces

# Each table with the key of the blind answer that a row of it belongs to.
TABLES = {
    "evaluations_mark": "(SELECT answer_id FROM evaluations_slot WHERE id = OLD.slot_id)",
    "evaluations_pointmark": (
        "(SELECT slot.answer_id FROM evaluations_slot AS slot JOIN evaluations_mark AS mark"
        " ON mark.slot_id = slot.id WHERE mark.id = OLD.mark_id)"
    ),
    "evaluations_finalmark": "OLD.answer_id",
    "evaluations_finalmarksource": (
        "(SELECT answer_id FROM evaluations_finalmark WHERE id = OLD.final_id)"
    ),
}
# Their unique keys besides the id: the columns, and the condition under which they are one.
KEYS = {
    "evaluations_mark": {
        ("key",): "",
        ("slot_id", "version"): 'NOT held."stale" AND NOT NEW."stale"',
    },
    "evaluations_pointmark": {("mark_id", "scoring_point_id"): ""},
    "evaluations_finalmark": {("answer_id", "number"): ""},
    "evaluations_finalmarksource": {("final_id", "mark_id"): "", ("final_id", "place"): ""},
}
INTO = (
    'INSERT INTO evaluations_markchange ("table", "row", answer, action, before, changed_at, actor)'
)


def install(apps, schema_editor):
    """Put the triggers on the tables as they are now, in place of older ones."""
    remove(apps, schema_editor)
    connection = schema_editor.connection
    make = _on_postgresql if connection.vendor == "postgresql" else _on_sqlite
    for table, answer in _there(connection):
        for statement in make(connection, table, answer):
            schema_editor.execute(statement, params=None)


def remove(apps, schema_editor):
    """Take the triggers off; what they wrote stays."""
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table, _answer in _there(schema_editor.connection):
        where = f" ON {table}" if postgresql else ""
        for action in ("update", "delete"):
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_{action}_kept{where}", None)
        if postgresql:
            schema_editor.execute(f"DROP FUNCTION IF EXISTS {table}_kept()", None)


def install_all(apps, schema_editor):
    """Put both kinds of triggers on the tables: those that keep, and those that refuse."""
    install(apps, schema_editor)
    refuse(apps, schema_editor)


def statements(connection, table):
    """Return what makes both kinds of triggers of *table* as it is now."""
    postgresql = connection.vendor == "postgresql"
    yield from (_on_postgresql if postgresql else _on_sqlite)(connection, table, TABLES[table])
    yield from (_refusing_truncate if postgresql else _refusing_replace)(table)


def refuse(apps, schema_editor):
    """Refuse what makes rows vanish without a trigger for each, in place of older triggers.

    On SQLite that is REPLACE, which deletes the rows that an INSERT or UPDATE conflicts with; on
    PostgreSQL it is TRUNCATE.
    """
    allow(apps, schema_editor)
    make = _refusing_truncate if schema_editor.connection.vendor == "postgresql" else _refusing_replace
    for table in TABLES:
        for statement in make(table):
            schema_editor.execute(statement, params=None)


def allow(apps, schema_editor):
    """Take the triggers of ``refuse`` off."""
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table in TABLES:
        where = f" ON {table}" if postgresql else ""
        for action in ("truncate", "replace", "replace_by_update"):
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {table}_{action}_refused{where}", None)
        if postgresql:
            schema_editor.execute(f"DROP FUNCTION IF EXISTS {table}_refused()", None)


def _refusing_truncate(table):
    yield (
        f"CREATE FUNCTION {table}_refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'rows of % are kept: % refused', TG_TABLE_NAME, TG_OP"
        " USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    yield in_own_schema(f"{table}_refused")
    yield (
        f"CREATE TRIGGER {table}_truncate_refused BEFORE TRUNCATE ON {table}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {table}_refused()"
    )


def _refusing_replace(table):
    says = f"rows of {table} are kept: REPLACE refused"
    yield refusal(table, "replace", "BEFORE INSERT", replaces(table, KEYS[table]), says)
    # No OF: a key that is set as rowid is none of its columns.
    other = replaces(table, KEYS[table], 'held."id" <> OLD."id"')
    yield refusal(table, "replace_by_update", "BEFORE UPDATE", other, says)


def _there(connection):
    """The tables that exist: an earlier migration knows fewer."""
    names = set(connection.introspection.table_names())
    return [(table, answer) for table, answer in TABLES.items() if table in names]


def _on_postgresql(connection, table, answer):
    actor = "coalesce(nullif(current_setting('gradeapp.actor', true), ''), 'unknown')"
    yield (
        f"CREATE FUNCTION {table}_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" {INTO} VALUES (TG_TABLE_NAME, OLD.id, {answer}, lower(TG_OP), row_to_json(OLD)::text,"
        f" clock_timestamp(), left({actor}, 150)); RETURN NULL; END $$"
    )
    yield in_own_schema(f"{table}_kept")
    for action in ("update", "delete"):
        yield (
            f"CREATE TRIGGER {table}_{action}_kept AFTER {action.upper()} ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION {table}_kept()"
        )


def _on_sqlite(connection, table, answer):
    with connection.cursor() as cursor:
        columns = [column.name for column in connection.introspection.get_table_description(cursor, table)]
    # Numbers as text: a DECIMAL of SQLite is a float, and JSON would write it as one.
    row = ", ".join(f"'{name}', CAST(OLD.\"{name}\" AS TEXT)" for name in columns)
    now = "strftime('%Y-%m-%d %H:%M:%f', 'now')"
    for action in ("update", "delete"):
        yield (
            f"CREATE TRIGGER {table}_{action}_kept AFTER {action.upper()} ON {table} BEGIN"
            f" {INTO} VALUES ('{table}', OLD.id, {answer}, '{action}', json_object({row}),"
            f" {now}, 'unknown'); END"
        )
