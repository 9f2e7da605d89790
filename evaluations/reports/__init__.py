"""Reports: figures on pages, as JSON and as CSV.

Every report is computed from `ScoredAnswer` rows by evaluations.statistics, for one policy and
marker; the rows of each figure can be shown and exported.

Tables: none; it reads the tables of other features.
Other features may call: selectors.reports, selectors.frames, selectors.scored_answers.
"""
