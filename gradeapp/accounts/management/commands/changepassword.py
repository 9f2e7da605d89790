"""Django's changepassword, recorded, and with what a new password ends."""

from __future__ import annotations

import getpass
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from gradeapp.accounts.links import change_password
from gradeapp.accounts.models import User

TRIES = 3


class Command(changepassword.Command):
    """Ask for the password twice, as Django does, and then change nothing else of the person.

    Django's own writes all columns as they were before it asked.
    """

    def handle(self, *args: Any, **options: Any) -> str:
        name = options["username"] or getpass.getuser()
        person = User.objects.filter(username=name).first()
        if person is None:
            raise CommandError(f"There is no person called {name}.")
        self.stdout.write(f"Changing the password of {name}.")
        for _ in range(TRIES):
            password = getpass.getpass()
            if not password:
                raise CommandError("Nothing was entered; the password stays.")
            if password != getpass.getpass("Password (again): "):
                self.stderr.write("The two are not the same. Try again.")
                continue
            try:
                validate_password(password, person)
            except ValidationError as error:
                self.stderr.write("\n".join(error.messages))
                continue
            change_password(person, password)
            return f"The password of {name} was changed."
        raise CommandError(f"The password of {name} was not changed after {TRIES} attempts.")
