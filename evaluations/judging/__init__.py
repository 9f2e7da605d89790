"""Judging: models mark subjective responses, as teachers do.

The prompt of a judge, the reading of its total, judgements and their agreement with teachers. A
total that cannot be read is missing, with a reason; it is never guessed. Canaries, made-up
responses of known worth, check each judge; one that fails is suspended. Samples say how many
responses teachers mark so that a total is known within given points.

Tables: JudgePrompts, Judge, Judgement, Canary, CanaryReply, JudgeCheck, RepeatedTexts,
MarkingSample.
Other features may call: services (ensure_judge, start_judge_run), selectors, rules.judge_reply.
"""
