"""Imports: published answers, marks and gradings, and own answers by file.

Each file is imported whole or not at all; rows are matched to the bank by question, and what does
not fit is named. Published marks become a closed round with inactive people.

Tables: none of its own; it writes Response, Judgement and closed rounds.
Other features may call: services.answer_imports.
"""
