"""Marking: people mark responses, blind, in rounds.

`rounds` plans and steers, `desk` is where a teacher marks, `arbitration` is where the lead decides,
`monitoring` watches teachers and returns marks, `sheets` takes responses to paper and files.
This package holds what they share: the tolerance, blinding, and finalizing a response.

Tables: MarkingRound, RoundTeacher, MarkingNotes, MarkingSheet, DeskSettings, BlindAnswer, Slot,
Mark, PointMark, Draft, HelpOffer, FinalMark, FinalMarkSource, SeedAnswer, MarkChange.
Other features may call: rounds.selectors.round_choice, rules (tolerance, drawing).
Who marks at present, and may therefore not see models, is asked of evaluations.facts.
"""
