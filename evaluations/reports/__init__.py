"""Reports: figures on pages, as JSON and as CSV.

Every report is computed from `ScoredAnswer` rows by evaluations.statistics, under a policy, a
marker and a condition that it names; the rows behind each figure can be opened and exported.

Tables: none; it reads what other features wrote.
Other features may call: selectors.reports, selectors.scored_answers.
"""
