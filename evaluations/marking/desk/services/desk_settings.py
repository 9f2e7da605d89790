"""Changing how one person likes the desk. Nothing here is evidence, so nothing is kept of it."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from evaluations.marking.desk.rules.desk_keys import Action, KeyFault, KeyRefused, own_keys
from evaluations.marking.desk.selectors.desk_settings import TYPE_SIZES
from evaluations.models import DeskSettings
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput


def save_desk_settings(
    *,
    acting_user: User,
    shortcuts: bool,
    keys: Mapping[str, str],
    type_size: int,
    advance: bool = False,
) -> None:
    """Keep the desk of *acting_user*: action to character (empty for none), size in per cent.

    Raises BadInput with one sentence for a key that cannot be one, for one key
    that is to do two things, and for a size that is not offered.
    """
    if type_size not in TYPE_SIZES:
        raise BadInput(_("Choose one of the font sizes."))
    try:
        own = own_keys(keys)
    except KeyRefused as refused:
        raise BadInput(_sentence(refused), code=refused.code.value) from refused
    values = {"shortcuts": shortcuts, "keys": own, "type_size": type_size, "advance": advance}
    DeskSettings.objects.update_or_create(user=acting_user, defaults=values)


def reset_desk_settings(*, acting_user: User) -> None:
    """Back to the defaults."""
    DeskSettings.objects.filter(user=acting_user).delete()


def _sentence(refused: KeyRefused) -> str:
    if refused.code is KeyFault.NO_ACTION:
        return _("There is no such action at the marking desk.")
    names = [Action(action).label(get_language() or "en") for action in refused.actions]
    said = {"key": refused.key, "action": names[0], "other": names[-1]}
    if refused.code is KeyFault.TWICE:
        return _("“%(key)s” cannot be used for both “%(action)s” and “%(other)s”.") % said
    if refused.code is KeyFault.DIGIT:
        return _("“%(action)s” needs another key: digits give points.") % said
    return _("“%(action)s” needs a key that types one character.") % said
