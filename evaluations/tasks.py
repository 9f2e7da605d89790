"""The Celery tasks of all features, in the module that Celery imports."""

from evaluations.imports import tasks as imports
from evaluations.marking import tasks as marking
from evaluations.reading import tasks as reading
from evaluations.reports import tasks as reports
from evaluations.runs import tasks as runs

__all__ = ["imports", "marking", "reading", "reports", "runs"]
