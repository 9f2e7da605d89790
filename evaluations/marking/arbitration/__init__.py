"""Arbitration: the lead decides a response whose marks differ by more than the tolerance.

The queue of such responses, all marks side by side, the decision, its correction, and the history
of changes made past the services.

Tables: FinalMark (by decision), MarkChange (read only).
Other features may call: services.
"""
