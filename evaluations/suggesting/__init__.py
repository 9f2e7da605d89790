"""Suggesting: a model suggests labels or rubrics, and a curator decides.

Prompts, the reading of replies, and the start of a suggesting run. A suggestion becomes a label
opinion or a rubric draft of `questions`; it never changes an item by itself.

Table: SuggestionReading, what was read in each reply. It writes labels and drafts through services
of `questions`.
Other features may call: services (start), selectors.
"""
