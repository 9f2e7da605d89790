"""Judging: models mark subjective responses, as teachers do.

The prompt of a judge, the reading of its total, judgements and their agreement with teachers. A
total that cannot be read is missing, with a reason; it is never guessed.

Tables: Judge, Judgement.
Other features may call: services (ensure_judge, start_judge_run), selectors, rules.judge_reply.
"""
