"""Statistics: figures computed from rows of values.

Accuracy, agreement, intervals, repeats, ledger and the 750-point conversion. Every figure is a
`Figure`: a value with its n, or no value and a reason. Expected values in the tests come from
published papers, from scipy or by hand. Two closed lists are here too: `outcomes` (the result of
scoring a response) and `policies` (the rules it was scored by).

Tables: none. Pure: no Django, no feature of evaluations. Every feature may import it.
"""
