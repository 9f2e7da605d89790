"""The command that names what is wrong in the replies of judges."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from tests.evaluations.report_world import judged, run_of, written


@pytest.mark.django_db
def test_impossible_totals_and_points_that_do_not_add_up_are_named() -> None:
    run = run_of()
    judged(written(run), "5", reply="【得分】2分\n【得分】3分\n【总分】5分")
    judged(written(run), "7", reply="【得分】\n14题：2分\n15题：3分\n【总分】7分")
    judged(written(run), None, "over_full_marks", reply="【总分】99分", released=[99.0])
    judged(written(run), None, "no_content", reply="")
    judged(written(run), "6", judge="another", flags=["quote_not_found"], details={"x": 1})
    out = StringIO()
    given = ("judge_faults", "--dataset", run.dataset.slug)
    call_command(*given, "--format", "json", stdout=out)
    said = json.loads(out.getvalue())
    assert said["replies"] == 4, "a response that was not sent has no reply"
    faults = [(one["fault"], one["details"], one["released"]) for one in said["faults"]]
    assert faults == [
        ("quote_not_found", {"x": 1}, []),
        ("steps_do_not_add_up", {"points": ["2", "3"], "sum": "5", "total": "7"}, []),
        ("over_full_marks", {"totals": ["99"]}, [99.0]),
    ]
    call_command(*given, "--judge", "another", stdout=(text := StringIO()))
    assert "1 replies, 1 with a fault" in text.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["dataset", "judge"])
def test_a_name_that_is_not_there_is_no_clean_result(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    slug = run_of().dataset.slug
    given = {"dataset": slug, name: "nobody"}
    with pytest.raises(SystemExit, match="1"):
        call_command("judge_faults", **given)
    assert "called nobody" in capsys.readouterr().err
