"""The triggers that keep what marks were before somebody changed them (MarkChange).

On SQLite a migration that alters one of these tables makes it anew and drops its
triggers: such a migration must end with ``RunPython(install)``. The tests of the
history run on the migrated schema and fail where that was forgotten.
"""

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
