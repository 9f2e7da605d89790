"""Calibration: a judge beside the teachers, on one page.

Figures come from ``evaluations.facts.judged_marks``; this package shows them with the responses on
which judge and teachers differ most. It owns no tables.
"""
