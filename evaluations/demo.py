"""Load the sample exam of the demo: users, answers, a marking round and endpoints."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluations.imports.services.answer_imports import import_answers
from evaluations.judging.services import ensure_judge
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.rounds import open_round
from evaluations.models import Endpoint, MarkingRound, Run
from evaluations.reading.selectors.gold_checks import gold_check
from evaluations.reading.services.gold_check import check_golds
from evaluations.runs.rules.demo_endpoints import LOCAL, SCRIPTED
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.schemes import Scheme
from gradeapp.accounts.demo import DEMO_PEOPLE
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user, sync_roles
from gradeapp.common.refusals import NotAllowed
from gradeapp.start_rules import LOOPBACK_HOSTS
from questions.services.imports import import_questions
from questions.services.label_rows import ensure_taxonomy

SAMPLE = Path(settings.BASE_DIR) / "questions" / "sample"
DATASET = "sample-exam"
STUDENTS = ("sample-student-a", "sample-student-b")
LOOPBACK = LOOPBACK_HOSTS | {"testserver"}
# Content is not translated, so these texts are in both languages.
ROUND = "样卷评卷 Sample round"
ONCE_CALLED = "Sample round"
MARKING_NOTES = (
    "只写出要点而未说明理由的，给一半分；参考答案只要求写出名称的除外。\n\n"
    "A point named without a reason earns half, unless the key asks for the name alone."
)
# The model answers at chance level, and two cores write slowly.
LOCAL_TOKENS = 48
# Tried: 48 tokens take it many seconds, a long prompt minutes, and what it writes holds no
# total and no label. Content has one name only, so that the note is in both languages.
TOO_SMALL = (
    "太小，不能评分或给建议，长提示要等几分钟。"
    "Too small to judge or to suggest, and minutes over a long prompt; the scripted one can."
)


def load_sample() -> dict[str, object]:
    """Load the sample exam, its users, the answers of two students and a round to mark.

    It may be repeated; present data and marks are kept, and so is a person of that name who is none
    of the demo's. Raises NotAllowed if other machines can reach the site, because the passwords of
    the users are public. They may log in while the demo runs.
    """
    if not settings.DEMO and set(settings.ALLOWED_HOSTS) - LOOPBACK:
        raise NotAllowed(
            _(
                "The passwords of the sample users are public. Use the sample only on "
                "your own machine."
            )
        )
    sync_roles()
    people = [
        User.objects.filter(username=person.username, is_demo=False).first()
        or ensure_user(
            person.username,
            roles=[person.role],
            display_name=person.name,
            password=person.password,
            demo=True,
        )
        for person in DEMO_PEOPLE
    ]
    ensure_taxonomy()
    questions = import_questions("jsonl", SAMPLE / "gradeapp-sample")
    import_answers("jsonl", SAMPLE / "answers.jsonl")
    if gold_check(DATASET) is None:
        check_golds(DATASET)
    opened = open_sample_round(people)
    return {"people": len(people), "questions": questions.read, "round_opened": opened}


def open_sample_round(people: list[User]) -> bool:
    """Open a round with the students' answers for the two teachers; return False if it exists."""
    if MarkingRound.objects.filter(name__in=(ROUND, ONCE_CALLED)).exists():
        return False
    runs = Run.objects.filter(dataset__slug=DATASET, language_model__name__in=STUDENTS)
    lead = next(person for person in people if Role.LEAD in person.roles)
    open_round(
        name=ROUND,
        responses=ResponseChoice(runs=tuple(runs.values_list("pk", flat=True))),
        teachers=[person for person in people if Role.TEACHER in person.roles],
        scheme=Scheme.TWO_AND_LEAD,
        window_minutes=0,  # the demo shows at once what two marks lead to
        marking_notes=MARKING_NOTES,
        random_seed=20260101,
        acting_user=lead,
    )
    return True


@transaction.atomic
def save_demo_endpoints(*, scripted_port: int, local_port: int | None) -> None:
    """Save the endpoints of the demo with the present ports of its models; both may judge."""
    note = "在本机运行，仅供演示，不产生费用。 Runs on this machine for the demo; costs nothing."
    listening = [(SCRIPTED, "scripted-demo", scripted_port)]
    if local_port is not None:
        listening.append((LOCAL, "SmolLM2-135M-Instruct", local_port))
    for name, model, port in listening:
        endpoint = save_endpoint(
            name=name,
            base_url=f"http://127.0.0.1:{port}/v1",
            model=model,
            acting_user=None,
            endpoint=Endpoint.objects.filter(name=name).first(),
            max_in_flight=2 if name == LOCAL else 8,
            max_tokens=LOCAL_TOKENS if name == LOCAL else 1024,
            note=f"{note} {TOO_SMALL}" if name == LOCAL else note,
        )
        ensure_judge(endpoint)
