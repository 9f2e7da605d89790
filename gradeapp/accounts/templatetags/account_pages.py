"""What the pages of accounts draw: the QR code of an authenticator app."""

from __future__ import annotations

import qrcode
from django import template

from gradeapp.accounts.browsers import name_of
from gradeapp.accounts.factors import needs_factor
from gradeapp.accounts.models import User

register = template.Library()


@register.simple_tag
def needs_second_factor(user: User) -> bool:
    """Whether the role of *user* needs a second factor."""
    return needs_factor(user)


@register.filter
def browser_name(user_agent: str) -> str:
    """What people call the browser that sent *user_agent*."""
    return name_of(user_agent)


@register.inclusion_tag("account/_qr.html")
def qr_code(text: str, label: str) -> dict[str, object]:
    """*text* as a QR code: an SVG path in the page, which the CSP allows, and not an image."""
    code = qrcode.QRCode(border=4)
    code.add_data(text)
    rows = code.get_matrix()
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
    )
    return {"path": path, "size": len(rows), "label": label}
