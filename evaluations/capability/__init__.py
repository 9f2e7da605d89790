"""Capability: people say what a wrong answer lacks (AGIEval, section 4.5).

Reviews of sampled wrong answers on four dimensions, with a closed list of weaknesses; the
reviewer's desk, the lead's pages and figures.

Tables: CapabilityReview, ReviewItem, ReviewSlot, CapabilityJudgement.
Other features may call: nothing.
"""
