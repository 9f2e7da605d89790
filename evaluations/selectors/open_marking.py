"""Who marks at present: to them every page that names models and marks is closed."""

from __future__ import annotations

from evaluations.models import RoundTeacher
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User


def marks_in_an_open_round(user: User) -> bool:
    """Whether *user* is a teacher of a round that is not closed, whatever their other roles."""
    pools = RoundTeacher.objects.filter(teacher=user)
    return pools.exclude(round__status=RoundStatus.CLOSED).exists()
