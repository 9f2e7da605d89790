"""Judges, their runs and checks, and estimates from their marks."""

from evaluations.judging.services.estimates import estimate_file, simulate_file
from evaluations.judging.services.judge_costs import most_cost_of_judging
from evaluations.judging.services.judge_runs import start_judge_run
from evaluations.judging.services.judges import ensure_judge, judge_for

__all__ = [
    "ensure_judge",
    "estimate_file",
    "judge_for",
    "most_cost_of_judging",
    "simulate_file",
    "start_judge_run",
]
