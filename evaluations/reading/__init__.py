"""Reading: from the text of a response to an answer, and from the answer to points.

Extraction by rules (`rules/extraction`), scoring by rules under the policies `published` and
`strict` (`rules/scoring`), mined patterns (HRE), readings by a model, checks by people, rescoring.

Tables: Extraction, ObjectiveScore, PatternSearch, MinedPattern, PatternDecision, Rescoring,
ModelReading, CheckSample, AnswerCheck.
Other features may call: services.scoring (score_responses), services.rescoring,
services.gold_check, selectors.answer_checks, selectors.repaired_keys.
"""
