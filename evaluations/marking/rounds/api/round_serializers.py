"""What the API says of rounds, and what it takes: explicit fields, nothing else."""

from __future__ import annotations

import uuid
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from evaluations.marking.rounds.selectors.round_choice import (
    ResponseChoice,
    SeedWish,
    markable_runs,
)
from evaluations.marking.rounds.services.round_settings import MOST_SEEDS, RoundSettings
from evaluations.models import MarkingNotes, MarkingRound
from evaluations.models.vocabulary import RoundStatus
from evaluations.runs.services.run_starts import digest
from evaluations.schemes import (
    DEFAULT_REPEAT_SHARE,
    DEFAULT_SCHEME,
    DEFAULT_SHEET_DAYS,
    DEFAULT_SHEET_RESPONSES,
    DEFAULT_STEP,
    DEFAULT_TOLERANCE_POINTS,
    DEFAULT_TOLERANCE_SHARE,
    DEFAULT_WINDOW_MINUTES,
    Scheme,
)
from gradeapp import api_fields
from gradeapp.accounts.markers import possible_markers
from gradeapp.accounts.models import User
from gradeapp.common.random_seeds import new_seed
from gradeapp.common.submission_keys import submission_key
from questions.models import Knowledge, Task
from questions.rules.vocabulary import AbilityBranch, Modal, Subject

# Teachers, runs, tasks and the like that one body may name
MOST_CHOSEN = 1000
CHOICE = ("subjects", "years", "branches", "difficulties", "modals")
SETTINGS = (
    *("name", "random_seed", "tolerance_points", "tolerance_share", "point_tolerance"),
    *("mark_step", "lease_minutes", "deadline", "repeat_share", "marking_notes"),
    *("notes_to_judge", "practice", "window_minutes", "window_ends_with_block"),
    *("sheet_responses", "sheet_days", "arbiter_marks_first", "judge_check_share"),
)


class RoundSerializer(serializers.ModelSerializer[MarkingRound]):
    """A round as the list shows it; ``waiting`` are responses that wait for the lead.

    The random seed is given with ``is_looked_at`` in the context: that a look at the round is kept.
    """

    id = serializers.UUIDField(source="public_id")
    dataset = serializers.CharField(source="dataset.slug")
    responses = serializers.IntegerField()
    final = serializers.IntegerField()
    waiting = serializers.IntegerField()
    house_rulings = serializers.CharField(source="marking_notes")
    rulings_to_judge = serializers.BooleanField(source="notes_to_judge")
    deadline = api_fields.DateTimeField(allow_null=True)
    random_seed = serializers.SerializerMethodField(
        help_text="null in the list, in practice rounds, and until the round is closed: aliases "
        "and checks follow from it"
    )

    def get_random_seed(self, row: MarkingRound) -> int | None:
        """Who knows the seed can tell which response is behind an alias, and which is a check."""
        is_free = row.status == RoundStatus.CLOSED and not row.practice
        return row.random_seed if is_free and self.context.get("is_looked_at") else None

    class Meta:
        model = MarkingRound
        fields = [
            *("id", "name", "dataset", "status", "published", "practice", "scheme"),
            *("tolerance_points", "tolerance_share", "point_tolerance", "mark_step"),
            *("lease_minutes", "random_seed", "repeat_share", "deadline", "house_rulings"),
            *("rulings_to_judge", "created_at"),
            *("closed_at", "responses", "final", "waiting"),
            *("window_minutes", "window_ends_with_block"),
            *("sheet_responses", "sheet_days", "arbiter_marks_first", "judge_check_share"),
        ]


class CheckLoadSerializer(serializers.Serializer[Any]):
    """Seed answers, or intra-rater checks, of one teacher."""

    planned = serializers.IntegerField()
    marked = serializers.IntegerField()


class TeacherLoadSerializer(serializers.Serializer[Any]):
    """First and second marks of one teacher, and their checks apart."""

    name = serializers.CharField()
    planned = serializers.IntegerField()
    marked = serializers.IntegerField()
    paused = serializers.BooleanField()
    left = serializers.BooleanField(help_text="taken out of the round, or left it")
    seeds = CheckLoadSerializer()
    repeats = CheckLoadSerializer()


class MarkingNotesSerializer(serializers.ModelSerializer[MarkingNotes]):
    """One version of the marking notes."""

    author = serializers.CharField(source="author.username", default=None, allow_null=True)

    class Meta:
        model = MarkingNotes
        fields = ["number", "text", "author", "created_at"]


def whole(**options: Any) -> api_fields.ListField:
    """A list that narrows nothing when it is empty or left out."""
    return api_fields.ListField(required=False, default=list, max_length=MOST_CHOSEN, **options)


def points(**options: Any) -> api_fields.DecimalField:
    """A number of points."""
    return api_fields.DecimalField(max_digits=5, decimal_places=2, min_value=Decimal(0), **options)


def share(default: Decimal | None) -> api_fields.DecimalField:
    """A share from 0 to 1; it may be null if that is its *default*."""
    return api_fields.DecimalField(
        max_digits=4,
        decimal_places=3,
        min_value=Decimal(0),
        max_value=Decimal(1),
        default=default,
        allow_null=default is None,
    )


def teachers_field() -> api_fields.ManyRelatedField:
    """Teachers by their usernames."""
    return api_fields.ManyRelatedField(
        child_relation=serializers.SlugRelatedField(
            slug_field="username", queryset=possible_markers()
        ),
        max_length=MOST_CHOSEN,
        allow_empty=False,
    )


class NewRoundSerializer(api_fields.KnownFields):
    """A round to be planned: which responses, who marks them, and its settings."""

    name = serializers.CharField(max_length=100)
    runs = api_fields.ManyRelatedField(
        child_relation=serializers.PrimaryKeyRelatedField(queryset=markable_runs()),
        max_length=MOST_CHOSEN,
        allow_empty=False,
    )
    tasks = whole(child=serializers.CharField(), help_text="slugs of tasks of the runs' dataset")
    knowledge = api_fields.ManyRelatedField(
        child_relation=serializers.SlugRelatedField(
            slug_field="slug", queryset=Knowledge.objects.all()
        ),
        max_length=MOST_CHOSEN,
        required=False,
        default=list,
    )
    subjects = whole(child=serializers.ChoiceField(choices=Subject.choices()))
    years = whole(child=api_fields.IntegerField(min_value=0, max_value=9999))
    branches = whole(child=serializers.ChoiceField(choices=AbilityBranch.choices()))
    difficulties = whole(child=api_fields.IntegerField(min_value=1, max_value=5))
    modals = whole(child=serializers.ChoiceField(choices=Modal.choices()))
    per_task = api_fields.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    teachers = teachers_field()
    scheme = serializers.ChoiceField(choices=Scheme.choices(), default=DEFAULT_SCHEME.value)
    tolerance_points = points(default=DEFAULT_TOLERANCE_POINTS)
    tolerance_share = share(DEFAULT_TOLERANCE_SHARE)
    task_tolerances = serializers.DictField(child=points(), required=False, default=dict)
    point_tolerance = points(required=False, allow_null=True, default=None)
    mark_step = points(default=DEFAULT_STEP)
    lease_minutes = api_fields.IntegerField(default=30, min_value=1)
    window_minutes = api_fields.IntegerField(default=DEFAULT_WINDOW_MINUTES, min_value=0)
    window_ends_with_block = serializers.BooleanField(default=True)
    sheet_responses = api_fields.IntegerField(default=DEFAULT_SHEET_RESPONSES, min_value=1)
    sheet_days = api_fields.IntegerField(default=DEFAULT_SHEET_DAYS, min_value=1)
    arbiter_marks_first = serializers.BooleanField(default=False)
    judge_check_share = share(None)
    deadline = api_fields.DateTimeField(required=False, allow_null=True, default=None)
    seeds_taken = api_fields.IntegerField(default=0, min_value=0, max_value=MOST_SEEDS)
    seeds_premarked = api_fields.IntegerField(default=0, min_value=0, max_value=MOST_SEEDS)
    repeat_share = share(DEFAULT_REPEAT_SHARE)
    house_rulings = serializers.CharField(source="marking_notes", allow_blank=True, default="")
    rulings_to_judge = serializers.BooleanField(source="notes_to_judge", default=False)
    practice = serializers.BooleanField(default=False)
    random_seed = api_fields.IntegerField(min_value=0, max_value=2**62)
    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        """Tasks by their slugs, which only a dataset knows, become tasks by their keys."""
        tasks = Task.objects.filter(dataset=data["runs"][0].dataset_id)
        known = dict(tasks.values_list("slug", "pk"))
        for name in ("tasks", "task_tolerances"):
            if unknown := sorted(set(data[name]) - set(known)):
                sentence = _("There is no task called %(names)s.") % {"names": ", ".join(unknown)}
                raise serializers.ValidationError({name: [sentence]})
        data["tasks"] = [known[slug] for slug in data["tasks"]]
        own = data["task_tolerances"].items()
        data["task_tolerances"] = {known[slug]: tolerance for slug, tolerance in own}
        return data

    def choice(self) -> ResponseChoice:
        """Which responses are meant."""
        said = self.validated_data
        return ResponseChoice(
            runs=tuple(run.pk for run in said["runs"]),
            tasks=tuple(said["tasks"]),
            knowledge=tuple(row.pk for row in said["knowledge"]),
            per_task=said["per_task"],
            **{name: tuple(said[name]) for name in CHOICE},
        )

    def settings(self) -> RoundSettings:
        """The settings that the service plans a round by."""
        said = self.validated_data
        return RoundSettings(
            **{name: said[name] for name in SETTINGS},
            hidden_seed=new_seed(),
            scheme=Scheme(said["scheme"]),
            task_tolerances=said["task_tolerances"],
            seeds=SeedWish(said["seeds_taken"], said["seeds_premarked"]),
        )

    def once(self, person: User) -> dict[str, Any]:
        """Return what tells ``plan_round_once`` that this request of *person* came before."""
        asked = {
            "choice": asdict(self.choice()),
            "teachers": sorted(teacher.pk for teacher in self.validated_data["teachers"]),
            "settings": replace(self.settings(), hidden_seed=None),
        }
        return request_key("round", person, self.validated_data["idempotency_key"], asked)


def request_key(kind: str, person: User, key: str | None, asked: Any) -> dict[str, Any]:
    """Return the key of a request that makes a round or sample, and the hash of what it *asked*.

    Without an idempotency *key* it is a new one.
    """
    if not key:
        return {"form_key": uuid.uuid4()}
    form_key = submission_key(kind, person.pk, key)
    return {"form_key": form_key, "request_hash": digest(asked)}


class DeadlineSerializer(api_fields.KnownFields):
    """Until when a round should be done; null for no deadline."""

    deadline = api_fields.DateTimeField(allow_null=True)


class MoreTeachersSerializer(api_fields.KnownFields):
    """Teachers to be taken into the pool."""

    teachers = teachers_field()


class NewMarkingNotesSerializer(api_fields.KnownFields):
    """The next version; ``seen`` is the number of the newest one that was read, 0 for none."""

    text = serializers.CharField(allow_blank=True)
    to_judge = serializers.BooleanField()
    seen = api_fields.IntegerField(min_value=0)
