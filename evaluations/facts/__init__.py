"""Facts: queries and rules about marks, scores and open rounds that several features share.

`answer_facts` writes the fact table that reports read, and rebuilds it; every feature that adds
responses, scores, final marks or judgements calls it in the same transaction. `params` are the
parameters of a report, `points` the points of a judgement and the items that count, `pairs` the
two marks of a response, `open_marking` denies pages to people who mark in an open round, `looks`
keeps who saw which models and marks and refuses them as markers, `words` has the texts for reasons
of figures.

Tables: AnswerFact, FactVersion, Look; it reads the tables of marking, judging and capability
through evaluations.models. It imports no feature, and every feature may import it.
"""
