"""Samples: a judge marks all responses of a run, teachers a random sample, and a total follows.

Table: MarkingSample. A sample is planned here, marked in an ordinary round, and estimated here; the
statistics are ``evaluations.statistics.sample_plan`` and ``total_estimate``.
"""
