"""The addresses of the pages that are looked at in the world of ``tests.translation_world``."""

from __future__ import annotations

from django.urls import reverse

from evaluations.models import MarkingRound, ModelReading, PatternSearch, Rescoring, Run
from evaluations.models.vocabulary import RunPurpose
from questions.models import Question
from tests.evaluations.report_world import ALPHA
from tests.translation_world import World


def bank_pages(question: Question) -> list[str]:
    """The rooms of the bank, and the pages of one of its questions."""
    of_one = [
        "question",
        "labelling-item",
        "labelling-history",
        "rates",
        "rubrics",
        "rubric-new",
    ]
    rooms = [
        "list",
        "problems",
        "imports",
        "labelling",
        "labelling-agreement",
        "labelling-differences",
        "labelling-suggestions",
        "rubric-bank",
    ]
    second = reverse("questions:labelling-item", args=[question.public_id]) + "?mode=second"
    return [
        *(reverse(f"questions:{room}") for room in rooms),
        *(reverse(f"questions:{page}", args=[question.public_id]) for page in of_one),
        reverse("questions:list") + "?q=nothing-like-this&status=no-such",
        second,
    ]


def suggesting_pages(run: Run) -> list[str]:
    """The form, a run with replies of every kind, and one of them that was read."""
    read = run.responses.earliest("pk").public_id
    return [
        reverse("runs:suggest") + f"?endpoint={run.endpoint_id}&asks=labels&dataset=exam-1&limit=5",
        reverse("runs:suggest") + "?subject=Physics",
        reverse("runs:run", args=[run.pk]),
        reverse("runs:responses", args=[run.pk]),
        reverse("runs:response", args=[read]),
    ]


def pattern_pages(searches: list[PatternSearch]) -> list[str]:
    """The searches of a run, one that found something, and one that waits."""
    return [
        reverse("runs:patterns", args=[searches[0].run_id]),
        *(reverse("runs:pattern-search", args=[search.pk]) for search in searches),
    ]


def check_pages(world: World) -> list[str]:
    """What people check: what waits, a response that a model read, and one on which they differ."""
    overview, chosen = reverse("checks:overview"), world.chosen
    read = ModelReading.objects.latest("pk").response.public_id
    return [
        overview,
        f"{overview}?run={chosen.run_id}",
        reverse("checks:differences"),
        reverse("checks:item", args=[chosen.public_id]),
        reverse("checks:item", args=[read]) + "?source=model",
    ]


def reading_pages(world: World) -> list[str]:
    """The form of a model that reads, and the runs in which one did."""
    runs = Run.objects.filter(purpose=RunPurpose.READ).values_list("pk", flat=True)
    return [
        reverse("checks:overview"),
        reverse("checks:read", args=[world.chosen.run_id]),
        *(reverse("runs:run", args=[run]) for run in runs),
        *(reverse("runs:responses", args=[run]) for run in runs),
    ]


def monitor_pages(marking: MarkingRound) -> list[str]:
    """What a lead sees of how teachers mark."""
    key, one = marking.public_id, marking.pool.earliest("pk").teacher.public_id
    return [
        *(reverse(f"monitoring:{page}", args=[key]) for page in ("round", "rubrics", "tolerance")),
        *(reverse(f"monitoring:{page}", args=[key, one]) for page in ("teacher", "send-back")),
        reverse("monitoring:send-back", args=[key, one]) + "?since=2020-01-01T00:00&to=same",
        reverse("monitoring:tolerance", args=[key]) + "?unit=points&at=1",
    ]


def round_pages(world: World) -> list[str]:
    """What leads see of rounds: open and planned, with seed answers, monitors and responses."""
    marking = world.round.public_id
    return [
        reverse("rounds:list"),
        reverse("rounds:new"),
        reverse("monitoring:key-flags"),
        reverse("rounds:round", args=[marking]),
        reverse("rounds:marking-notes", args=[marking]),
        reverse("rounds:round", args=[world.seed.round.public_id]),
        reverse("rounds:seeds", args=[world.seed.round.public_id]),
        reverse("rounds:seed", args=[world.seed.round.public_id, world.seed.public_id]),
        *monitor_pages(world.round),
        *(
            reverse("rounds:response", args=[marking, answer.public_id])
            for answer in (world.settled, world.disputed, world.held)
        ),
    ]


def run_pages(world: World) -> list[str]:
    """The runs, what was scored in them and single responses."""
    return [
        reverse("runs:list"),
        *(reverse("runs:run", args=[run.pk]) for run in (world.live, world.paused)),
        *suggesting_pages(world.suggesting),
        *pattern_pages(world.searches),
        reverse("runs:run", args=[world.written.run_id]),
        reverse("runs:responses", args=[world.written.run_id]),
        reverse("scoring:policies", args=[world.chosen.run_id]),
        reverse("scoring:rescorings"),
        reverse("scoring:rescoring", args=[Rescoring.objects.latest("pk").pk]),
        *(reverse("runs:response", args=[one.public_id]) for one in (world.chosen, world.written)),
    ]


def report_pages() -> list[str]:
    """The reports; the overview comes first."""
    answers = f"?dataset=exam-1&model={ALPHA}"
    return [
        reverse("reports:overview"),
        reverse("reports:overview") + "?policy=published",
        reverse("reports:cuts"),
        reverse("reports:cuts") + "?by=difficulty&by=modal",
        reverse("reports:years"),
        reverse("reports:settings"),
        reverse("reports:rows") + f"{answers}&cut=part:subjective&cut=difficulty:",
        reverse("reports:rows") + f"{answers}&marker=teachers",
        reverse("reports:papers") + "?all=yes",
        reverse("reports:pairs") + f"{answers}&pair=teacher-teacher&subject=ALL",
        reverse("reports:exports") + answers,
    ]


def judging_pages(world: World) -> list[str]:
    """Judges, samples and one judgement."""
    return [
        reverse("judging:list"),
        reverse("judging:judge", args=[world.judge.pk]),
        reverse("judging:calibration", args=[world.judge.pk]),
        reverse("judging:samples"),
        reverse("judging:sample-new"),
        reverse("judging:judgement", args=[world.judge.pk, world.written.public_id]),
    ]


def endpoint_pages(world: World) -> list[str]:
    """What runs are made of: endpoints, accounts, prompt sets, studies and their forms."""
    return [
        reverse("runs:new"),
        reverse("runs:new") + f"?again={world.live.pk}",
        reverse("runs:studies"),
        reverse("runs:study-new"),
        reverse("runs:endpoints"),
        reverse("runs:prompt-sets"),
        reverse("runs:prompt-set-new"),
        reverse("runs:prompt-set", args=["gradeapp"]) + "?setting=few-shot",
        reverse("runs:prompt-set-edit", args=["agibench:none"]),
        reverse("runs:endpoint-new"),
        reverse("runs:spending"),
        reverse("runs:account-new"),
        reverse("runs:account", args=[world.endpoint.account_id]),
        reverse("runs:endpoint", args=[world.endpoint.pk]),
    ]


def pages(world: World) -> dict[str, list[str]]:
    """The addresses that each member of the cast looks at."""
    marking, review = world.round.public_id, world.review.public_id
    runs, reports = run_pages(world), report_pages()
    reviews = [
        reverse("reviews:list"),
        reverse("reviews:new"),
        reverse("reviews:review", args=[review]),
        reverse("reviews:answers", args=[review]) + "?differ=yes",
        reverse("reviews:answers", args=[review]) + "?dimension=reasoning&value=na",
    ]
    reviewing = [
        reverse("reviewing:home"),
        reverse("reviewing:review", args=[review]),
        reverse("reviewing:desk", args=[world.at_hand.public_id]),
    ]
    desk = [
        reverse("marking:home"),
        reverse("marking:settings"),
        reverse("marking:marks"),
        reverse("marking:round", args=[marking]),
        reverse("marking:desk", args=[world.held.public_id]),
    ]
    own = [reverse("password_change"), reverse("password_change_done")]
    return {
        "admin": [
            reverse("home"),
            *runs,
            *reading_pages(world),
            *endpoint_pages(world),
            *judging_pages(world),
            *reports,
        ],
        "curator": [*own, *bank_pages(world.settled.question), *check_pages(world)],
        "lead": [*own, *round_pages(world), *reviews, *reports[:1]],
        "teacher": [*own, *desk, *reviewing],
        "other_teacher": [*desk[:3], *reviewing[:2]],
        "outsider": [*own, reverse("home")],
    }
