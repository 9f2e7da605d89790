"""What a password must be, said in the reader's language."""

from __future__ import annotations

from django.contrib.auth.password_validation import MinimumLengthValidator
from django.utils.translation import ngettext


class MinimumLength(MinimumLengthValidator):
    """Django 5.2 refuses a short password with a sentence that its own catalogues do not hold."""

    def get_error_message(self) -> str:
        """The refusal, with the length that is asked for."""
        return ngettext(
            "This password is too short. It must contain at least %(length)d character.",
            "This password is too short. It must contain at least %(length)d characters.",
            self.min_length,
        ) % {"length": self.min_length}
