"""Statements of SQLite that put a row in the place of another one, by each of its unique keys."""

from __future__ import annotations

from django.db import connection

# Another value of a column; of all others, a number above.
OTHER = {
    "key": "lower(hex(randomblob(16)))",
    "name": "name || 'x'",
    "place": "3",  # the first rows of a final mark have 1 and 2
}


def unique_keys(table: str) -> list[tuple[str, ...]]:
    """The columns of each unique key of *table*, its ``id`` included."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT name FROM pragma_index_list('{table}') WHERE \"unique\"")
        keys: set[tuple[str, ...]] = {("id",)}
        for (index,) in cursor.fetchall():
            cursor.execute(f"SELECT name FROM pragma_index_info('{index}') ORDER BY seqno")
            keys.add(tuple(name for (name,) in cursor.fetchall()))
    return sorted(keys)


def by_insert(table: str, key: tuple[str, ...]) -> str:
    """An INSERT OR REPLACE that conflicts with the first row of *table* on *key* alone."""
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, table)
    others = {column for one in unique_keys(table) for column in one} - set(key)
    values = {column.name: f'"{column.name}"' for column in described}
    for name in others:
        values[name] = OTHER.get(name, f'"{name}" + 1000')
    names = ", ".join(f'"{name}"' for name in values)
    chosen = ", ".join(values.values())
    return (
        f"INSERT OR REPLACE INTO {table} ({names}) SELECT {chosen} FROM {table} ORDER BY id LIMIT 1"
    )


def by_update(table: str, key: tuple[str, ...], *, rowid: bool = False) -> str:
    """An UPDATE OR REPLACE that gives the last row of *table* the *key* of its first one."""
    first = f"FROM {table} ORDER BY id LIMIT 1"
    sets = ", ".join(f'"{"rowid" if rowid else name}" = (SELECT "{name}" {first})' for name in key)
    return f"UPDATE OR REPLACE {table} SET {sets} WHERE id = (SELECT MAX(id) FROM {table})"
