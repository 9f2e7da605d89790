"""Desk: one teacher marks one response after another.

Claiming the next slot by a lease, drafts, checking and saving a mark, own marks, preferences.
It never shows a model, a run, another teacher's mark or a judgement.

Tables: Slot, Mark, PointMark, Draft, HelpOffer, DeskSettings.
Other features may call: services.slots, services.marking (save_mark), services.mark_rows,
selectors.desk.
"""
