"""Images of questions on their way to a model: with their pixels, left out, or refused."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from PIL import Image

from evaluations.conditions import Asking, ImagePolicy
from evaluations.facts.params import ReportParams
from evaluations.judging.services import ensure_judge, start_judge_run
from evaluations.llm.budget import most_image_tokens, most_prompt_tokens
from evaluations.llm.classify import failure_of
from evaluations.models import Attempt, Endpoint, Job, Response, Run
from evaluations.reports.selectors.reports import build_report
from evaluations.runs.rules.prompting.images import SentImage, with_images
from evaluations.runs.selectors.asked import images_asked
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.services import images
from evaluations.runs.services.images import as_sent
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import BadInput
from questions.models import Asset, Dataset, Question, QuestionRevision
from questions.rules.vocabulary import Language, QuestionType
from questions.services.imports import import_questions
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_question, make_task, make_user
from tests.scripted_server import ScriptedServer, named_fault, saying

SEND, OMIT, WITHOUT = (Asking(images=policy) for policy in ImagePolicy)
RED = SentImage("image/png", b"red", 2, 2)


def parts(messages: Any) -> list[str]:
    """What stands in the last message: texts, and the digests of images."""
    content = messages[-1]["content"]
    return [
        part["text"] if part["type"] == "text" else part["image_url"]["url"] for part in content
    ]


def test_parts_stand_in_the_order_of_the_text() -> None:
    text = "See ![](image:a.png), then ![left](image:b.png) and ![](image:other.png).\nA. x"
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": text}]
    made = with_images(messages, ["a.png", "b.png"], {"a.png": RED}, Language.ENGLISH)
    assert made.messages[0] == messages[0], "a text without images stays a string"
    assert parts(made.messages) == [
        "See ",
        "data:image/png;base64,cmVk",
        ", then (There is an image here, which is not provided.) and ![](image:other.png).\nA. x",
    ]
    assert (made.sent, made.omitted) == ((RED,), ("b.png",))
    data = [{"role": "user", "content": "![](image:a.png)\n<f>\n![](image:a.png)\n<f>"}]
    fenced = with_images(data, ["a.png"], {"a.png": RED}, Language.CHINESE, data_begins="\n<f>\n")
    assert parts(fenced.messages) == [RED.url, "\n<f>\n![](image:a.png)\n<f>"]
    blind = with_images(data[:1], ["a.png"], {}, Language.CHINESE)
    assert blind.messages[0]["content"].count("（此处有一幅图，未提供）") == 2
    big = replace(RED, content=bytes(7 * 1024 * 1024))
    two = [{"role": "user", "content": "![](image:a.png)![](image:b.png)"}]
    bounded = with_images(two, ["a.png", "b.png"], {"a.png": big, "b.png": big}, Language.ENGLISH)
    assert (len(bounded.sent), bounded.omitted) == (1, ("b.png",)), "12 MB a request"


def png(width: int, height: int, mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.effect_noise((width, height), 80).convert(mode).save(out, "PNG")
    return out.getvalue()


def test_images_are_scaled_down_to_the_same_bytes_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small, large = png(300, 200), png(1200, 300, "RGBA")
    kept = as_sent(small, "image/png", 300)
    assert kept is not None
    assert (kept.content, kept.width, kept.height) == (small, 300, 200), "byte for byte"
    scaled = as_sent(large, "image/png", 400)
    assert scaled is not None
    assert scaled == as_sent(large, "image/png", 400)
    with Image.open(io.BytesIO(scaled.content)) as image:
        assert (image.format, image.size) == ("PNG", (400, 100)) == ("PNG", (scaled.width, 100))
    # Random pixels take about a byte each as PNG.
    monkeypatch.setattr(images, "MOST_IMAGE_BYTES", 80_000)
    packed = as_sent(png(400, 300), "image/png", 390)
    assert packed is not None
    assert (packed.media_type, len(packed.content) < 80_000) == ("image/jpeg", True)
    assert as_sent(png(2000, 1500), "image/png", 1900) is None


def test_tokens_of_images_are_bounded_by_their_size() -> None:
    # 2048 / 24 = 85.3, so 86 x 86 squares; a small image is counted as 1,600.
    assert (most_image_tokens(2048, 2048), most_image_tokens(10, 10)) == (86 * 86, 1600)
    message = {"role": "user", "content": [{"type": "text", "text": "ab"}, {"type": "image_url"}]}
    assert most_prompt_tokens([message], [(10, 10)]) == 2 + 16 + 1600


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, "Invalid content type. image_url is only supported by certain models.", "no_images"),
        (400, "messages[0]: unknown variant `image_url`, expected `text`", "no_images"),
        (404, "No endpoints found that support image input", "no_images"),
        (
            500,
            "image input is not supported - hint: you may need an mmproj",
            "no_images",
        ),
        (400, "At most 0 image(s) may be provided in one request.", "no_images"),
        (400, "qwen2.5-7b is not a multimodal model", "no_images"),
        (400, "该模型不支持图片输入", "no_images"),
        (400, "Invalid image_url: the image is corrupt or truncated", "bad_request"),
        (400, "temperature is not supported", "bad_request"),
        (500, "internal error", "server"),
    ],
)
def test_an_endpoint_says_in_many_ways_that_it_takes_no_images(
    status: int, text: str, kind: str
) -> None:
    body = json.dumps({"error": {"message": text}})
    assert failure_of(status, {}, body, now=datetime.now(UTC)).kind == kind


@pytest.fixture
def exam(shared_data: Path, tmp_path: Path, db: None) -> Dataset:
    """Two questions of AGIBench, the first with an image."""
    source = shared_data / "agibench"
    items = json.loads((source / "datasets.json").read_text(encoding="utf-8"))
    pictured = next(item for item in items if "img_line_1632.png" in item["Question"])
    plain = next(item for item in items if "images/" not in json.dumps(item))
    (tmp_path / "images").mkdir()
    shutil.copy(source / "images" / "img_line_1632.png", tmp_path / "images")
    path = tmp_path / "datasets.json"
    path.write_text(json.dumps([pictured, plain], ensure_ascii=False), encoding="utf-8")
    import_questions("agibench", tmp_path)
    return Dataset.objects.get(slug="agibench")


def seeing(server: ScriptedServer) -> Endpoint:
    return scripted_endpoint(server, name="seeing", takes_images=True)


def asked(endpoint: Endpoint, dataset: Dataset, asking: Asking, **options: Any) -> Run:
    options = {"acting_user": None, "asking": asking, **options}
    return worked(start_run(endpoint=endpoint, dataset=dataset, **options))


def pixels(content: bytes) -> str:
    with Image.open(io.BytesIO(content)) as image:
        return hashlib.sha256(image.convert("RGB").tobytes()).hexdigest()


def test_a_question_of_agibench_arrives_with_its_pixels(
    server: ScriptedServer, exam: Dataset, shared_data: Path, client: Client
) -> None:
    endpoint = seeing(server)
    run = asked(endpoint, exam, SEND)
    bodies = [json.loads(one.body) for one in server.requests]
    (content,) = [
        body["messages"][-1]["content"]
        for body in bodies
        if isinstance(body["messages"][-1]["content"], list)
    ]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert content[0]["text"].endswith("这幅图")
    assert content[2]["text"].startswith("反映了某次重要会议")
    head, _comma, data = content[1]["image_url"]["url"].partition(",")
    published = (shared_data / "agibench" / "images" / "img_line_1632.png").read_bytes()
    assert head == "data:image/png;base64"
    assert pixels(b64decode(data)) == pixels(published)

    attempts = {attempt.job.question_id: attempt for attempt in Attempt.objects.all()}
    assert sorted(len(attempt.images) for attempt in attempts.values()) == [0, 1]
    (sent,) = [attempt.images[0] for attempt in attempts.values() if attempt.images]
    assert sent == hashlib.sha256(b64decode(data)).hexdigest() == Asset.objects.get().sha256
    assert (images_asked(run).seen, images_asked(run).blind) == (1, 0)

    blind = asked(endpoint, exam, OMIT)
    assert (images_asked(blind).seen, images_asked(blind).blind) == (0, 1)
    said = "".join(json.loads(one.body)["messages"][-1]["content"] for one in server.requests[-2:])
    assert "这幅图（此处有一幅图，未提供）反映了" in said
    assert "image:" not in said
    plain = asked(endpoint, exam, WITHOUT)
    assert Job.objects.filter(run=plain).count() == 1
    assert plain.run_settings["left_out_with_images"] == 1
    client.force_login(make_user(Role.ADMIN))
    pages = {one.pk: client.get(f"/runs/{one.pk}/").content.decode() for one in (run, blind, plain)}
    assert "1 question asked with its images" in pages[run.pk]
    assert "1 question has images that the model did not get" in pages[blind.pk]
    assert "1 question with images was left out" in pages[plain.pk]

    assert [counted(leaves_out) for leaves_out in (False, True)] == [5, 4]
    where = {"dataset": "agibench"}
    assert "Asked blind: left out" in client.get("/reports/", where).text
    given = {**where, "without_blind": "yes"}
    assert '<option value="yes" selected>Asked blind' in client.get("/reports/", given).text
    rows = {**given, "subject": "ALL", "outcome": "wrong"}
    assert "without questions asked blind" in client.get("/reports/rows/", rows).text
    rows = client.get("/api/v1/reports/ledger/", given).json()["rows"]
    assert sum(figure["value"] or 0 for row in rows for figure in row["figures"].values()) == 4
    assert client.get("/api/v1/reports/ledger/", {**given, "without_blind": "x"}).status_code == 400
    out = io.StringIO()
    call_command("report", "ledger", "--dataset=agibench", "--without-blind", stdout=out)
    assert "without_blind=True" in out.getvalue()


def counted(without_blind: bool) -> float:
    """How many answers the ledger counts."""
    rows = build_report("ledger", ReportParams("agibench", without_blind=without_blind)).rows
    return sum(figure.value or 0 for row in rows for figure in row.figures.values())


def test_who_takes_no_images_is_refused_at_the_start_or_by_question(
    server: ScriptedServer, exam: Dataset, client: Client
) -> None:
    endpoint = scripted_endpoint(server)
    with pytest.raises(BadInput, match="takes no images"):
        start_run(endpoint=endpoint, dataset=exam, acting_user=None, asking=SEND)
    assert not Run.objects.exists()

    endpoint = seeing(server)
    shown = estimate(endpoint=endpoint, dataset=exam, repeats=1, asking=SEND)
    blind = estimate(endpoint=endpoint, dataset=exam, repeats=1)
    assert shown.answering.calls == blind.answering.calls == 2
    # The endpoint only finds out when it sees an image.
    server.endpoint.faults = lambda prompt: (
        named_fault("no_images") if "反映了某次重要会议" in prompt else None
    )
    run = get_run(asked(endpoint, exam, SEND).pk)
    assert (run.status, run.failed, run.done) == ("finished", 0, 1)
    (job,) = Job.objects.filter(run=run, status="failed")
    assert (job.error, job.attempts.count()) == ("no_images", 1), "asked once, not again"
    ledger = build_report("ledger", ReportParams("agibench"))
    refused = sum(row.figures["refused"].value or 0 for row in ledger.rows)
    failed = sum(row.figures["api_error"].value or 0 for row in ledger.rows)
    assert (refused, failed) == (1, 0)
    client.force_login(make_user(Role.ADMIN))
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "refused: the model takes no images" in page
    assert "calls failed" not in page


def test_a_judge_sees_the_image_of_the_question_and_none_of_the_response(
    server: ScriptedServer, db: None
) -> None:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    question: Question = make_question(task, marks=("4",))
    content = png(40, 30)
    Asset.objects.create(
        dataset=task.dataset,
        name="a.png",
        media_type="image/png",
        sha256=hashlib.sha256(content).hexdigest(),
        content=content,
        reencoded=True,
    )
    QuestionRevision.objects.filter(question=question).update(
        stem="What is this? ![](image:a.png)", images=["a.png"]
    )
    endpoint = seeing(server)
    server.endpoint.faults = lambda prompt: saying("It is ![](image:a.png). 【总分】1分")
    run = asked(endpoint, task.dataset, OMIT)
    assert Response.objects.get(run=run).images_omitted == 1
    judged = worked(start_judge_run(run, ensure_judge(endpoint), canaries=0, acting_user=None))
    content_sent = json.loads(server.requests[-1].body)["messages"][-1]["content"]
    kinds = [part["type"] for part in content_sent]
    assert kinds == ["text", "image_url", "text"]
    assert "It is ![](image:a.png)." in content_sent[2]["text"]
    assert len(Attempt.objects.get(job__run=judged).images) == 1
