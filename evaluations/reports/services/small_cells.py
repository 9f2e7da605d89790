"""Keep who saw a figure that tells about each of its marked responses, as one of few."""

from __future__ import annotations

from collections.abc import Collection

from evaluations.facts.looks import record_views
from evaluations.facts.pairs import pairs_state
from evaluations.facts.params import ReportParams
from evaluations.reports.selectors.kept_reports import State, state_of
from evaluations.reports.selectors.report_pages import Opening
from evaluations.reports.selectors.small_cells import in_few
from gradeapp.accounts.models import User
from gradeapp.common.kept import KeptValues
from gradeapp.common.snapshot import one_snapshot, sees_only_committed

# The reports that a person has been noted for, by all that they were made from.
_noted = KeptValues(2_000_000)
NOTED_BYTES = 1_000


def note_small_cells(name: str, params: ReportParams, *, acting_user: User) -> None:
    """Keep that somebody saw the report *name*: a look at each response in a small cell of it.

    A second look while nothing changed reads nothing but the state of the facts.
    """
    may_keep = sees_only_committed()
    with one_snapshot():
        state = (name, state_of(params, pairs_state(params))) if may_keep else None
        if state and _noted.get((acting_user.pk, state)):
            return
        seen = in_few(name, params)
    _note(seen, state, acting_user)


def note_overview(made: Opening, *, acting_user: User) -> None:
    """Keep that somebody saw *made*, as ``note_small_cells``; nothing is computed again."""
    state = made.state and (type(made).__name__, made.state)
    if not (state and _noted.get((acting_user.pk, state))):
        _note(made.few, state, acting_user)


def _note(seen: Collection[int], state: State | None, acting_user: User) -> None:
    record_views(seen, acting_user=acting_user, page="report")
    if state:
        _noted.put((acting_user.pk, state), True, NOTED_BYTES)
