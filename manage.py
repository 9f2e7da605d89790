#!/usr/bin/env python
"""The command line of gradeapp: ``manage.py help`` lists what it can do."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gradeapp.settings")
    from django.core.management import execute_from_command_line
    from django.db.utils import DatabaseError, OperationalError

    from gradeapp.start_rules import in_one_sentence

    try:
        with in_one_sentence():
            execute_from_command_line(sys.argv)
    except DatabaseError as error:
        # Its other kinds are faults of ours.
        if type(error) not in (DatabaseError, OperationalError) or "--traceback" in sys.argv:
            raise
        sys.exit(f"The database does not answer: {' '.join(str(error).split())}.")


if __name__ == "__main__":
    main()
