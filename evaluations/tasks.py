"""Celery tasks: each takes ids and calls one service. A message is a hint, never the record."""
