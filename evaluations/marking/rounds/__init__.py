"""Rounds: choosing responses, planning, starting, pausing and closing a marking round.

A plan is made once from a stored random seed: aliases, queues, seed answers and intra-rater checks.

Tables: MarkingRound, RoundTeacher, MarkingNotes, SeedAnswer.
Other features may call: services.rounds, services.round_planning, selectors.round_choice.
"""
