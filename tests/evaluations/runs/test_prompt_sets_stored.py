"""Prompt sets in the database: versions, import and export, and questions of the bank in them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluations.conditions import Asking, PromptSetting, PromptSource
from evaluations.models import PromptSet, PromptSetVersion
from evaluations.runs.rules.prompting.prompt_sets import BrokenPromptSet
from evaluations.runs.selectors.prompt_items import composed, composed_in, prompts_of
from evaluations.runs.services.conditions import condition_for
from evaluations.runs.services.prompt_sets import (
    add_version,
    check_prompts,
    current_prompts,
    edit_prompts,
    exported,
    import_prompts,
    parsed,
    stored_prompts,
)
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, NotFound
from questions.importers.agieval_items import published_options
from questions.models import FewShotExample, Question
from questions.rules.vocabulary import QuestionType
from questions.services.imports import import_questions
from tests.factories import make_endpoint, make_question, make_task

pytestmark = pytest.mark.django_db


def import_by_command(*arguments: object) -> dict[str, Any]:
    out = StringIO()
    call_command("import_prompts", *map(str, arguments), "--format", "json", stdout=out)
    return json.loads(out.getvalue())


def test_a_shipped_set_is_stored_once_and_an_edit_is_a_new_version(admin: User) -> None:
    assert current_prompts("gradeapp").pk is None, "looking at it stores nothing"
    first = stored_prompts("gradeapp")
    assert current_prompts("gradeapp") == first
    text = exported(first).replace("Answer one {subject} question.", "Answer a {subject} question.")
    second = edit_prompts("gradeapp", text, acting_user=admin, note="shorter")
    assert (second.number, second.created_by, second.note) == (2, admin, "shorter")
    assert current_prompts("gradeapp") == second, "our own text does not replace a person's"
    assert edit_prompts("gradeapp", text, acting_user=admin, note="") == second
    back = edit_prompts("gradeapp", exported(first), acting_user=admin, note="")
    assert back == first, "the same content is the same version"
    assert PromptSetVersion.objects.count() == 2
    tags = list(AuditEntry.objects.values_list("tag", flat=True))
    assert tags == ["prompts.changed"] * 2, "one for each change by a person"
    for broken, code in (("{", "broken_json"), ('{"name": 1, "name": 2}', "duplicate_key")):
        with pytest.raises(BrokenPromptSet) as refused:
            parsed(broken)
        assert refused.value.problems[0].code in (code, "not_json"), refused.value.problems
    with pytest.raises(BadInput, match="agibench"):
        edit_prompts("agibench:none", text, acting_user=admin, note="")
    with pytest.raises(NotFound):
        current_prompts("nothing")


def test_after_an_upgrade_the_new_text_comes_after_the_stored_one() -> None:
    """Also where a migration stored version 1 and made nothing current."""
    first = stored_prompts("gradeapp")
    PromptSetVersion.objects.update(content={"name": "gradeapp"}, content_hash="0" * 64)
    for current in (first, None):
        PromptSet.objects.update(current=current)
        shown = current_prompts("gradeapp")
        assert (shown.pk, shown.number, shown.prompt_set) == (None, 2, first.prompt_set)
    assert stored_prompts("gradeapp").number == 2
    PromptSet.objects.update(current=None)
    assert current_prompts("gradeapp").number == 2, "the stored one, not a third"
    assert stored_prompts("gradeapp").prompt_set.current is not None


def test_a_set_goes_out_and_comes_in_unchanged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.json"
    assert import_by_command("agibench:reason", "--output", file)["version"] == 1
    assert import_by_command("agibench:reason", file) == {
        "set": "agibench:reason",
        "version": 1,
        "templates": 1,
        "problems": [],
    }
    content = json.loads(file.read_text("utf-8"))
    content["templates"][0]["settings"]["zero-shot"]["steps"][0][0]["content"] = "{reply} {"
    file.write_text(json.dumps(content), "utf-8")
    made = import_prompts("agibench:reason", file, acting_user=None)
    assert made.version is None
    assert [problem.code for problem in made.problems] == ["lone_brace", "reply_in_step_one"]
    with pytest.raises(SystemExit):
        import_by_command("agibench:reason", file)
    assert "templates.1.settings.zero-shot.steps.1.1.content: The brace" in capsys.readouterr().err
    for path in (tmp_path / "missing.json", tmp_path):
        assert import_prompts("own", path, acting_user=None).problems
    with pytest.raises(SystemExit):
        import_by_command("own")
    other = import_prompts("own", Path(__file__).parent, acting_user=None)
    assert other.problems[0].code == "no_files"
    assert PromptSet.objects.get().current.number == 1


def test_a_question_of_the_bank_is_asked_in_its_condition() -> None:
    task = make_task()
    question = make_question(task, stem="Which {stem}?")
    condition = condition_for(make_endpoint(), Asking(setting=PromptSetting.ZERO_SHOT_COT))
    asked = composed_in(condition, question, question.current)
    assert asked.steps == 2
    assert "Which {stem}?" in asked.messages()[-1]["content"]
    assert asked.messages(2, ["Because."])[-2] == {"role": "assistant", "content": "Because."}
    version = stored_prompts("gradeapp")
    check_prompts(version, PromptSetting.ZERO_SHOT, [question])
    with pytest.raises(BadInput, match="worked examples"):
        check_prompts(version, PromptSetting.FEW_SHOT, [question])
    FewShotExample.objects.create(
        task=task, number=1, stem="E?", options=["x", "y"], letters="AB", answer_key=["B"]
    )
    check_prompts(version, PromptSetting.FEW_SHOT, [question])
    few = composed(prompts_of(version), question, question.current, setting=PromptSetting.FEW_SHOT)
    assert few.messages()[1]["content"] == "E?\n\nA. x\nB. y"
    with pytest.raises(BadInput, match="no setting"):
        check_prompts(current_prompts("agibench:none"), PromptSetting.FEW_SHOT, [question])
    narrow = prompts_of(version).model_copy(
        update={"name": "narrow", "templates": prompts_of(version).templates[:1]}
    )
    stored = add_version(narrow, source=PromptSource.IMPORTED, acting_user=None, note="")[0]
    other = make_question(make_task(question_type=QuestionType.OPEN_ENDED), stem="Say.")
    with pytest.raises(BadInput, match="no template"):
        check_prompts(stored, PromptSetting.ZERO_SHOT, [other])


def test_repaired_options_are_not_asked_as_published() -> None:
    extra = {"published_options": '["(A) one", "(B)two"]'}
    assert published_options(extra, "AB", ["one", "two"]) == "(A) one (B)two"
    assert published_options(extra, "AB", ["one", "three"]) is None
    assert published_options({}, "AB", ["one", "two"]) == "(A)one (B)two"


@pytest.mark.shareddata
@pytest.mark.once
def test_imported_questions_and_prompts_make_the_published_messages(shared_data: Path) -> None:
    """Of three tasks of AGIEval, by the way that a run takes: bank, prompt set, condition."""
    assert import_by_command("agieval", shared_data / "agieval")["templates"] == 4
    assert import_by_command("gaokao-bench", shared_data / "gaokao-bench")["templates"] == 32
    golden = json.loads((shared_data.parent / "cases" / "agieval_prompts.json").read_text("utf-8"))
    endpoint = make_endpoint()
    for task, settings in golden.items():
        import_questions("agieval", shared_data / "agieval" / "v1" / f"{task}.jsonl")
        for setting, cases in settings.items():
            asking = Asking(setting=PromptSetting(setting.lower()), prompt_set="agieval")
            condition = condition_for(endpoint, asking)
            for case in cases:
                question = Question.objects.get(task__slug=task, position=case["index"])
                asked = composed_in(condition, question, question.current)
                assert asked.messages() == case["messages"]
                if "second_step" in case:
                    reply = case["second_step_reply"]
                    assert asked.messages(2, [reply]) == case["second_step"]
