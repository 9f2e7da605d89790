"""Saved views of the question list: each person's own names for sets of filters."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.common.name_checks import check_name_is_plain
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.models import SavedView

LONGEST_NAME = 80
LONGEST_QUERY = 1000
MOST = 50


def save_view(name: str, query: str, *, acting_user: User) -> SavedView:
    """Keep *query* (the address after ``?``) under *name*; the same name again is changed.

    Raises BadInput without a name, for one that can pass for another, for what is too long,
    and past ``MOST`` views.
    """
    name = _named(name)
    if len(query) > LONGEST_QUERY:
        raise BadInput(_("These filters are too long to save."))
    own = SavedView.objects.filter(owner=acting_user)
    if own.count() >= MOST and not own.filter(name=name).exists():
        raise BadInput(
            _("You already have the maximum of %(most)s saved views. Delete one first.")
            % {"most": MOST}
        )
    view, _made = SavedView.objects.update_or_create(
        owner=acting_user, name=name, defaults={"query": query}
    )
    return view


def rename_view(key: int, name: str, *, acting_user: User) -> SavedView:
    """Give a view of one's own another name; raises Conflict where the name is taken."""
    view = _own(key, acting_user)
    view.name = _named(name)
    try:
        with transaction.atomic():
            view.save(update_fields=["name"])
    except IntegrityError:
        raise Conflict(
            _("You already have a view called “%(name)s”.") % {"name": view.name}
        ) from None
    return view


def delete_view(key: int, *, acting_user: User) -> None:
    """Take a view of one's own away; the questions are not touched."""
    _own(key, acting_user).delete()


def _own(key: int, user: User) -> SavedView:
    """The view, if it is of *user*; another's is as good as none."""
    view = SavedView.objects.filter(pk=key, owner=user).first()
    if view is None:
        raise NotFound(_("There is no such view."))
    return view


def _named(name: str) -> str:
    name = " ".join(name.replace("\x00", "").split())
    if not name:
        raise BadInput(_("Enter a name for the view."))
    if len(name) > LONGEST_NAME:
        raise BadInput(
            _("The name of a view can have at most %(most)s characters.") % {"most": LONGEST_NAME}
        )
    check_name_is_plain(name)
    return name
