"""verify_audit finds triggers that somebody took off, switched off, changed or added."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from gradeapp.audit.append_only import lifted
from tests.audit.test_verifying import verified

pytestmark = pytest.mark.django_db
GUARDED = (
    "audit_auditentry",
    "audit_chain",
    "audit_seal",
    "audit_segment",
    "evaluations_finalmark",
    "evaluations_finalmarksource",
    "evaluations_mark",
    "evaluations_markchange",
    "evaluations_pointmark",
)
HISTORY = "evaluations_markchange"
KEEPS = f"{HISTORY}_delete_refused"
MADE = f"CREATE TRIGGER {KEEPS} BEFORE DELETE ON {HISTORY}"
SWALLOWS = "CREATE TRIGGER zz BEFORE INSERT ON audit_auditentry"
RETURNS = "RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
GONE = f"the trigger {KEEPS} of {HISTORY} is missing"
CHANGED = "the trigger {}_delete_{} of {} is not as the migrations make it"
FOREIGN = "{} has {} zz, which no migration makes"
# Statements, and what is said then.
ATTACKS = {
    "sqlite": [
        ([f"DROP TRIGGER {KEEPS}"], GONE),
        (
            [f"DROP TRIGGER {KEEPS}", f"{MADE} BEGIN SELECT 1; END"],
            CHANGED.format(HISTORY, "refused", HISTORY),
        ),
        (
            [f"{SWALLOWS} BEGIN SELECT RAISE(IGNORE); END"],
            FOREIGN.format("audit_auditentry", "the trigger"),
        ),
    ],
    "postgresql": [
        ([f"DROP TRIGGER {KEEPS} ON {HISTORY}"], GONE),
        (
            [f"ALTER TABLE {HISTORY} DISABLE TRIGGER {KEEPS}"],
            f"the trigger {KEEPS} of {HISTORY} is off",
        ),
        (
            [f"CREATE OR REPLACE FUNCTION evaluations_mark_kept() {RETURNS}"],
            CHANGED.format("evaluations_mark", "kept", "evaluations_mark"),
        ),
        (
            [f"CREATE FUNCTION zz() {RETURNS}", f"{SWALLOWS} FOR EACH ROW EXECUTE FUNCTION zz()"],
            FOREIGN.format("audit_auditentry", "the trigger"),
        ),
        (
            ["CREATE RULE zz AS ON INSERT TO audit_auditentry DO INSTEAD NOTHING"],
            FOREIGN.format("audit_auditentry", "the rule"),
        ),
        (
            ["CREATE TABLE zz () INHERITS (audit_seal)"],
            FOREIGN.format("audit_seal", "the table below it"),
        ),
    ],
}


def test_triggers_that_are_gone_off_changed_or_foreign_are_named() -> None:
    assert verified()[0] == 0
    for attack, said in ATTACKS[connection.vendor]:
        before = transaction.savepoint()
        with connection.cursor() as cursor:
            for statement in attack:
                cursor.execute(statement)
        assert said in [one.split(": ", 1)[1] for one in verified()[1]["broken"]]
        transaction.savepoint_rollback(before)
    with lifted(connection):
        broken = verified()[1]["broken"]
    assert [
        table for table in GUARDED if not any(f" of {table} is " in one for one in broken)
    ] == []
