"""Monitoring: what a lead watches in a round, and what they do about it.

Pace, severity, agreement and checks of each teacher with limits; returning marks for re-marking;
following a newer rubric; the tolerance simulator.

Tables: none of its own.
Other features may call: selectors.new_rubric.
"""
