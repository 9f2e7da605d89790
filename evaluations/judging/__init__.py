"""Judging: judge models mark subjective responses beside the teachers.

The judge's prompt, the reading of its total, judgements and their agreement with teachers. A total
that cannot be read is missing with a reason; it is never guessed.

Tables: Judge, Judgement.
Other features may call: services (ensure_judge, start_judge_run), selectors, rules.judge_reply.
"""
