"""Times on pages: in the site's zone, with the zone and the second at hand.

``{{ run.created_at|local_time }}`` on every page, without a ``{% load %}``; ``{% zone %}``
names the zone where a sentence holds a time as text.
"""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def local_time(at: datetime | None, shape: str = "%Y-%m-%d %H:%M") -> SafeString | str:
    """*at* as a ``<time>`` that names its zone when pointed at; empty where there is none."""
    if not at:
        return ""
    local = local_or_utc(at)
    return format_html(
        '<time datetime="{}" title="{} {}">{}</time>',
        local.isoformat(timespec="seconds"),
        f"{local:%Y-%m-%d %H:%M:%S}",
        named_zone(local),
        f"{local:{shape}}",
    )


def local_or_utc(at: datetime) -> datetime:
    """*at* in the site's zone; in UTC where that has no such time, at the ends of all years."""
    try:
        return timezone.localtime(at)
    except OverflowError:
        return at.astimezone(UTC)


@register.filter
def local_time_of_day(at: datetime | None) -> SafeString | str:
    """*at* with its second and without its day, for what happens while one looks."""
    return local_time(at, "%H:%M:%S")


@register.simple_tag
def zone() -> str:
    """The zone of the times on pages: ``UTC+08:00 Asia/Shanghai``."""
    return named_zone(timezone.localtime())


def named_zone(local: datetime) -> str:
    """The offset of *local* and the name of its zone."""
    offset = f"{local:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]} {local.tzinfo}"
