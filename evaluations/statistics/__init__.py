"""Statistics: figures computed from rows of values.

Accuracy, agreement, intervals, repeats, ledger and the 750-point conversion. Every figure is a
`Figure`: a value with its n, or no value and a reason. Expected values in the tests come from
published papers, from scipy or by hand. The closed lists that figures are grouped by stand here
too: `outcomes` (what became of a response) and `policies` (by whose rules it was scored).

Tables: none. Pure: no Django, no feature of evaluations. Every feature may import it.
"""
