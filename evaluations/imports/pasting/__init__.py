"""Answers of models that have a website and no API: asked by a person, pasted one by one.

Tables: PasteList. The answers are responses of an imported run, under a condition of their own.
"""
