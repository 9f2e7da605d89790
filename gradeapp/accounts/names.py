"""The names of people who stand beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from gradeapp.accounts.models import User


def names_apart(people: Collection[User]) -> dict[int, str]:
    """Return the name of each of *people* by key; with the username where two would be the same."""
    whole = {person.pk: f"{person} ({person.username})" for person in people}
    uses = Counter([*map(str, people), *whole.values()])
    return {one.pk: str(one) if uses[str(one)] == 1 else whole[one.pk] for one in people}
