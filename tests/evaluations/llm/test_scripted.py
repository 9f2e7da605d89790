"""The scripted endpoint: deterministic answers, an honest ledger, faults on request."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from evaluations.llm.scripted.answers import answer
from evaluations.management.commands.serve import answers
from evaluations.suggesting.rules.label_prompt import label_instructions, label_messages
from evaluations.suggesting.rules.label_reply import read_label_reply
from evaluations.suggesting.rules.rubric_prompt import rubric_instructions, rubric_messages
from evaluations.suggesting.rules.rubric_reply import read_rubric_reply
from questions.rules.vocabulary import Language
from tests.evaluations.llm.conftest import ask, fail, reply
from tests.evaluations.llm.processes import run_module, serving
from tests.scripted_server import ScriptedServer, named_fault, script_from
from tests.worker_processes import ROOT, wait_until

MODULE = "evaluations.llm.scripted"

SINGLE = (
    "请你做一道化学选择题\n请你一步一步思考并将思考过程写在【解析】和<eoe>之间。你将从A，B，C，D中选出"
    "正确的答案，并写在【答案】和<eoa>之间。\n例如：【答案】: A <eoa>\n题目如下：\n"
    "{}. 下列正确的是\n"
    "A. 一\nB. 二\nC. 三\nD. 四\n"
)
SEVERAL = (
    "请你做一道地理选择题，其中包含两到三个小题。每一题你将从A，B，C，D中选出正确的答案。\n"
    "例如：（1）【答案】 A <eoa>\n（2）【答案】 B <eoa>\n请你严格按照上述格式作答。\n"
    "1．问 （ ） A．一 B．二 C．三 D．四\n2．问 A．一 B．二 C．三 D．四\n"
    "3. 问\nA. 一\nB. 二\nC. 三\n"
)
SEVEN = (
    "请回答下面的问题，将符合题意的五个选项的字母写在【答案】和<eoa>之间，"
    "例如“【答案】 A B C D E <eoa>\n"
    "A. a\nB. b\nC. c\nD. d\nE. e\nF. f\nG. g\n"
)
PHYSICS = (
    "请你做一道物理选择题。你将从A，B，C，D中选出所有符合题意的答案。\n"
    "例如：【答案】 AB <eoa>\n请你严格按照上述格式作答。\nA. 一\nB. 二\nC. 三\nD. 四\n"
)
OPEN = (
    "请解答下面的历史解答题\n请把你的答案写在【答案】和<eoa>之间\n(1)【解析】 ...<eoe>\n"
    "题目如下:\n材料。（1）概括原因。（2）说明影响。\n"
)
CLOZE = (
    "请你做一道英语完形填空题,其中包含二十个小题。每一题你将从A，B，C，D中选出正确的答案。\n"
    "请你严格按照上述格式作答。\n从 A、B、C 和 D 中选出最佳选项。\n"
    "1. A. a B. b C. c D. d\n2. A. a B. b C. c D. d\n"
)
READING = (
    "请解答下面的语文文学类文本阅读，仔细阅读题目，注意其中可能含有单选题和多选题。\n"
    "请你严格按照上述格式作答。\n题目如下:\n（1）选出正确的一项。\nA. 一\nB. 二\nC. 三\n（2）概括。"
)
JUDGE = (
    "你是一名高中历史老师。输出格式为：【判分理由】...\n 【得分】...\n...【总分】...分\n"
    "注意不要超过这道题的【分值】。\n【分值】：{full}\n【学生分析与答案】第{n}份，【分值】99\n"
)
ENGLISH = "Choose the best option.\nA) one\nB) two\nC) three\nD) four"


@pytest.mark.parametrize(
    ("prompt", "pattern"),
    [
        (SINGLE.format(1), r"【解析】.+<eoe>\n【答案】 [A-D] <eoa>"),
        (
            SEVERAL,
            r"（1）【答案】 [A-D] <eoa>\n（2）【答案】 [A-D] <eoa>\n（3）【答案】 [A-D] <eoa>",
        ),
        (SEVEN, r"【答案】 [A-G]( [A-G]){4} <eoa>"),
        (PHYSICS, r"【解析】.+<eoe>\n【答案】 A?B?C?D? <eoa>"),
        (CLOZE, r"（1）【答案】 [A-D] <eoa>\n（2）【答案】 [A-D] <eoa>"),
        (READING, r"（1）【解析】.+<eoe>\n【答案】.+<eoa>\n（2）【解析】.+<eoe>\n【答案】.+<eoa>"),
        (OPEN, r"（1）【解析】.+<eoe>\n【答案】.+<eoa>\n（2）【解析】.+<eoe>\n【答案】.+<eoa>"),
        (JUDGE.format(full=8, n=1), r"【判分理由】.+\n【得分】\S+分\n【总分】\S+分"),
        (ENGLISH, r".*\bthe answer is \([A-D]\)\."),
        # What the prompts of AGIEval and AGIBench end with.
        ("一问 选项：(A)一 (B)二 (C)三\n答案：从A到C, 我们应选择", r"（[A-C]）。"),
        ("Q (A)one (B)two\nA: Among A through B, the answer is", r"\([AB]\)\."),
        ("Q (A)one (B)two\nLet's think step by step.", r"[^A-F]+"),
        ("Problem 1.   Q\nProblem 2.   Q\n", r"The answer is therefore [1-9]"),
        (
            "问题 1.   问\n从以下选项中选择:    (A)一 (B)二\n答案是 A\n"
            "问题 2.   问\n从以下选项中选择:    (A)一 (B)二 (C)三\n",
            r"答案是 [A-C]",
        ),
        ("Q: one and one\nA: The answer is", r"\$[1-9]\$\."),
        ("题目\n\nA. 一\nB. 二\nC. 三\nD. 四", r"答案：[A-D]"),
        ("题目\n\nA. 一\nB. 二\nC. 三\nD. 四\nThe answer is:", r"[A-D]"),
        ("Describe the water cycle.", r"First, .+"),
        ("", r"(?s).+"),
    ],
)
def test_the_form_of_an_answer(prompt: str, pattern: str) -> None:
    assert re.fullmatch(pattern, answer(prompt))
    assert answer(prompt) == answer(prompt)


def test_choices_are_spread_as_chance_spreads_them() -> None:
    letters = Counter(answer(SINGLE.format(n))[-7] for n in range(400))
    # 100 each expected, standard deviation sqrt(400 * 0.25 * 0.75) = 8.7
    assert set(letters) == set("ABCD")
    assert all(60 <= count <= 140 for count in letters.values())


@pytest.mark.parametrize("full", ["10", "12.5", "1", "60"])
def test_a_total_is_within_the_full_marks(full: str) -> None:
    totals = set()
    for n in range(300):
        found = re.search(r"【总分】(\d+(?:\.5)?)分$", answer(JUDGE.format(full=full, n=n)))
        assert found
        totals.add(float(found[1]))
    assert min(totals) == 0.0
    assert float(full) - 0.5 <= max(totals) <= float(full)


def test_no_answer_gives_its_origin_away() -> None:
    for prompt in (SINGLE.format(1), OPEN, ENGLISH, SEVEN):
        assert not re.search(r"(?i)script|demo|脚本|示例", answer(prompt))


def test_the_ledger_has_a_line_for_each_billed_request(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    script = script_from(
        [
            {"fault": "rate_limit", "times": 2},
            {"fault": "ok"},
            {"fault": "reset"},
            {"fault": "auth"},
        ]
    )
    with ScriptedServer(ledger=ledger, faults=script) as server:
        kinds = [str(getattr(ask(server.base_url), "kind", "answered")) for _ in range(6)]
    assert kinds == ["rate_limit", "rate_limit", "answered", "interrupted", "auth", "answered"]
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert [line["number"] for line in lines] == [1, 2, 3]


def test_retry_after_is_sent(server: ScriptedServer) -> None:
    server.endpoint.faults = lambda prompt: named_fault("rate_limit", retry_after="7")
    assert fail(server.base_url).retry_after == 7.0


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ({}, "a list of objects"),
        (["rate_limit"], "a list of objects"),
        ([{"fault": "no such"}], "unknown fault"),
        ([{}], "unknown fault"),
        ([{"fault": "slow", "minutes": 1}], "does not take"),
    ],
)
def test_a_wrong_fault_script_is_refused(script: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        script_from(script)


def test_other_requests(server: ScriptedServer) -> None:
    def status(request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            connection.sendall(request)
            try:
                return connection.recv(4096).split(b"\r\n")[0]
            except ConnectionResetError:
                return b"reset"

    assert b"200" in status(b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"404" in status(b"GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\n")
    junk = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n[]"
    assert b"400" in status(junk)
    assert status(b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n") in {b"reset", b""}
    assert server.ledger.billed == 0


def test_as_a_process() -> None:
    with serving(MODULE, "--latency", "0.01") as base_url:
        assert reply(base_url).model == "scripted-demo"


def test_it_says_in_one_sentence_why_it_cannot_start(server: ScriptedServer) -> None:
    ended = run_module(MODULE, "--port", str(server.port))
    assert ended.returncode == 1
    assert ended.stderr.startswith("The scripted endpoint cannot start: ")
    assert len(ended.stderr.splitlines()) == 1


NUMBERS = range(20)


def said_to(messages: list[dict[str, str]]) -> str:
    return answer("\n".join(message["content"] for message in messages))


@pytest.mark.parametrize("language", list(Language))
def test_labels(language: Language) -> None:
    told = label_instructions(language)
    readings = [
        read_label_reply(
            said_to(
                label_messages(
                    told, subject="", question=f"Q{n}?", answer_key="A", language=language
                )
            )
        )
        for n in NUMBERS
    ]
    assert not any(reading.fault for reading in readings)
    assert len({str(reading.labels) for reading in readings}) > 10, "it depends on the question"


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("marks", [("6",), ("4", "2", "0.5"), ("1", "13")])
def test_scoring_points(marks: tuple[str, ...], language: Language) -> None:
    full = tuple(map(Decimal, marks))
    told = rubric_instructions(language)
    for n in NUMBERS:
        messages = rubric_messages(
            told,
            subject="",
            question=f"Q{n}?",
            answer_key="It is.",
            analysis="",
            sub_marks=full,
            language=language,
        )
        reading = read_rubric_reply(said_to(messages), full)
        assert (reading.fault, reading.unfinished) == ("", ())


PARENT = """
import os, subprocess, sys
command = [sys.executable, "-m", sys.argv[1], "--port", "0", "--parent", str(os.getpid())]
subprocess.run(command)
"""


def test_it_ends_with_the_process_that_started_it() -> None:
    """Also after kill -9, when nobody is left to stop it."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, MODULE],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout
    port = int(parent.stdout.readline().rsplit(":", 1)[1].split("/")[0])
    assert answers("127.0.0.1", port)
    parent.kill()
    assert parent.wait() == -signal.SIGKILL
    wait_until(lambda: not answers("127.0.0.1", port), 60)
    assert parent.stdout.read() == "", "the other end of the pipe is closed"
    parent.stdout.close()
