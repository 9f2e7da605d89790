"""The tasks of all features, where Celery looks for them."""

from evaluations.imports import tasks as imports
from evaluations.reading import tasks as reading
from evaluations.runs import tasks as runs

__all__ = ["imports", "reading", "runs"]
