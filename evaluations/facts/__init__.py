"""Facts: what several features read about marks, scores and open rounds.

`params` says which answers a figure is made of, `points` what a judgement is worth and which items
count, `pairs` reads two marks of the same response, `open_marking` knows who marks at present and
refuses them pages that name models and marks, `words` puts the reasons of figures into words.

Tables: none; it reads the tables of marking, judging and capability through evaluations.models.
It stands just above the models: it imports no feature, and every feature may import it.
"""
