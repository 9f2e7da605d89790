"""Imports: published answers, marks and gradings, and own answers by file.

Each file is imported whole or not at all. Rows are matched to the questions of the bank; rows
without a question are reported. Published marks become a closed round with inactive users.

Tables: ImportedRun, ImportReader; it writes Response, Judgement and closed rounds.
Other features may call: services.answer_imports.
"""
