"""The same data give the same bytes: every report and export, from two copies of one database."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from evaluations.reports.selectors.reports import REPORTS
from gradeapp.accounts.models import User
from tests.evaluations.marking_world import answers_of, give, small_round
from tests.evaluations.report_world import ALPHA, BETA, chosen, run_of
from tests.worker_processes import ROOT, database_url

pytestmark = pytest.mark.django_db(transaction=True)
# One line for each table as JSON and in three formats, in a process of its own.
PRINTS = """
import hashlib, io, json
import django
django.setup()
from evaluations.facts.params import ReportParams
from evaluations.reports.selectors.export_tables import TABLES
from evaluations.reports.selectors.reports import REPORTS, build_report
from evaluations.reports.services.exports import Asked, write_export
from gradeapp.common.refusals import BadInput

params = ReportParams("exam", by="task,year")
for name in TABLES:
    try:
        files = [io.BytesIO() for _ in range(3)]
        formats = ("csv", "xlsx", "jsonl")
        made = [write_export(Asked(name, params, f), o) for f, o in zip(formats, files)]
        parts = [*(o.getvalue() for o in files), json.dumps(made).encode()]
        if name in REPORTS:
            parts.append(json.dumps(build_report(name, params).as_dict()).encode())
        print(name, made[0]["rows"], *(hashlib.sha256(part).hexdigest() for part in parts))
    except BadInput as refusal:
        print(name, "refused", refusal)
"""


def copy_of_database(folder: Path) -> str:
    """The address of a copy; of PostgreSQL the same database, since nothing writes meanwhile."""
    if connection.vendor != "sqlite":
        return database_url()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    folder.mkdir()
    shutil.copy(connection.settings_dict["NAME"], folder / "copy.sqlite3")
    return f"sqlite:///{folder / 'copy.sqlite3'}"


def prints(folder: Path, hash_seed: str) -> list[str]:
    """What a machine of its own makes of it: another order of sets, another folder."""
    own = {"DATABASE_URL": copy_of_database(folder), "PYTHONHASHSEED": hash_seed}
    own |= {"GRADEAPP_VAR": str(folder / "var"), "DJANGO_SETTINGS_MODULE": "gradeapp.settings"}
    done = subprocess.run(
        [sys.executable, "-c", PRINTS],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.splitlines()


def test_two_copies_of_a_database_give_the_same_reports_byte_for_byte(
    tmp_path: Path, teacher: User, other_teacher: User
) -> None:
    chosen(run_of(ALPHA), "A", "B", "A", "C")
    chosen(run_of(BETA), "A", "A", "D")
    for answer in answers_of(small_round([teacher, other_teacher], 3)):
        give(answer, teacher, ["3", "2.5", "6"])
        give(answer, other_teacher, ["3", "3", "5"], comment="第二步，缺单位")
    first, second = (prints(tmp_path / seed, seed) for seed in ("1", "2"))
    assert first == second
    rows = {line.split()[0]: line.split()[1] for line in first}
    assert set(REPORTS) < set(rows)
    assert (rows["marks"], rows["responses"]) == ("6", "10")
    # Points of 750, settings, gains and the calibration of a judge model.
    assert sum(number == "refused" for number in rows.values()) <= 4
