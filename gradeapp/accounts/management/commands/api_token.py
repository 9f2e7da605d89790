"""Make, list and revoke API tokens of a person."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from gradeapp.accounts.models import ApiToken, User
from gradeapp.accounts.scopes import Scope
from gradeapp.accounts.tokens import fits, make_token, own_tokens, revoke_token
from gradeapp.cli import GradeappCommand
from gradeapp.common.refusals import BadInput


def described(row: ApiToken, user: User) -> dict[str, Any]:
    """What is known of a token of *user*, which is not the token."""
    return {
        "id": row.pk,
        "name": row.name,
        "hint": row.hint,
        "scopes": row.scopes,
        "expires_at": row.expires_at.isoformat(),
        "last_used_at": row.last_used_at.isoformat() if row.last_used_at else None,
        "valid": row.expires_at > timezone.now() and fits(row, user),
    }


class Command(GradeappCommand):
    help = "List the API tokens of a person, make one (shown once) or revoke one."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, help="the username")
        parser.add_argument("--make", metavar="NAME", help="make a token of this name")
        parser.add_argument("--scope", action="append", choices=[s.value for s in Scope])
        parser.add_argument("--days", type=int, default=90, help="how long it is valid, 1 to 365")
        parser.add_argument("--revoke", type=int, metavar="ID", help="revoke the one with this id")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise BadInput(f"There is no person called {options['user']}.")
        if options["revoke"]:
            row = revoke_token(user, options["revoke"], acting_user=None)
            return {"revoked": row.pk}
        if options["make"]:
            scopes = [Scope(value) for value in options["scope"] or []]
            row, token = make_token(
                user, name=options["make"], scopes=scopes, days=options["days"], acting_user=None
            )
            return {**described(row, user), "token": token}
        return {"tokens": [described(row, user) for row in own_tokens(user)]}

    def show(self, result: dict[str, Any]) -> None:
        """Print one token a line; a new one, with the token itself."""
        super().show(result)
        for row in result.get("tokens", []):
            used = row["last_used_at"] or "never used"
            scopes = " ".join(row["scopes"])
            ended = "" if row["valid"] else "  no longer valid"
            self.stdout.write(f"{row['id']}  {row['name']} …{row['hint']}  {scopes}  {used}{ended}")
