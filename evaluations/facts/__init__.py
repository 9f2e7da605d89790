"""Facts: queries and rules about marks, scores and open rounds that several features share.

`params` are the parameters of a report, `points` the points of a judgement and the items that
count, `pairs` the two marks of a response, `open_marking` denies pages to people who mark in an
open round, `words` has the texts for reasons of figures.

Tables: none; it reads the tables of marking, judging and capability through evaluations.models.
It imports no feature, and every feature may import it.
"""
