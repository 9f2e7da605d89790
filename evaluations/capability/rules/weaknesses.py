"""The weaknesses that a reviewer can find in a wrong answer: the closed list of AGIEval.

Source: AGIEval (Zhong et al. 2023, arXiv 2304.06364), where the qualitative
analysis names them under the four dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluations.capability.rules.dimensions import Dimension
from gradeapp.common.named import Named


class Weakness(Named):
    """One weakness. The stored values are stable; the order is the paper's."""

    VARIABLE_SUBSTITUTION = "variable_substitution", "Variable substitution", "变量代换"
    COMPLEX_SYMBOLS = "complex_symbols", "Complex symbols", "复杂符号"
    SIMILAR_CONCEPTS = "similar_concepts", "Similar concepts", "相近概念"
    LONG_CONTEXTS = "long_contexts", "Long contexts", "长文本"
    COMMONSENSE_DOMAIN = "commonsense_domain", "Commonsense, domain knowledge", "常识与专业知识"
    FORMULAS = "formulas", "Formulas", "公式"
    STRICT_DEDUCTION = "strict_deduction", "Strict deduction", "严格演绎"
    COUNTERFACTUAL = "counterfactual", "Counterfactual", "反事实"
    MULTI_HOP = "multi_hop", "Multi-hop", "多步推理"
    CONTRADICTORY_CONCLUSION = "contradictory_conclusion", "Contradictory conclusion", "结论矛盾"
    CONCEALED_SUBSTITUTION = "concealed_substitution", "Concealed substitution", "偷换概念"
    FEASIBLE_SOLUTION = "feasible_solution", "Feasible solution", "可行解"
    CONTEXTUAL_DISTURBANCE = "contextual_disturbance", "Contextual disturbance", "语境干扰"
    CALCULATION = "calculation", "Calculation", "计算"


BY_DIMENSION: dict[Dimension, tuple[Weakness, ...]] = {
    Dimension.UNDERSTANDING: (
        Weakness.VARIABLE_SUBSTITUTION,
        Weakness.COMPLEX_SYMBOLS,
        Weakness.SIMILAR_CONCEPTS,
        Weakness.LONG_CONTEXTS,
    ),
    Dimension.KNOWLEDGE: (Weakness.COMMONSENSE_DOMAIN, Weakness.FORMULAS),
    Dimension.REASONING: (
        Weakness.STRICT_DEDUCTION,
        Weakness.COUNTERFACTUAL,
        Weakness.MULTI_HOP,
        Weakness.CONTRADICTORY_CONCLUSION,
        Weakness.CONCEALED_SUBSTITUTION,
        Weakness.FEASIBLE_SOLUTION,
        Weakness.CONTEXTUAL_DISTURBANCE,
    ),
    Dimension.CALCULATION: (Weakness.CALCULATION,),
}

# The key that sets each; other letters lead to the parts of the desk (q a n c r s u).
KEYS: dict[Weakness, str] = {
    Weakness.VARIABLE_SUBSTITUTION: "v",
    Weakness.COMPLEX_SYMBOLS: "y",
    Weakness.SIMILAR_CONCEPTS: "m",
    Weakness.LONG_CONTEXTS: "l",
    Weakness.COMMONSENSE_DOMAIN: "k",
    Weakness.FORMULAS: "f",
    Weakness.STRICT_DEDUCTION: "d",
    Weakness.COUNTERFACTUAL: "i",
    Weakness.MULTI_HOP: "h",
    Weakness.CONTRADICTORY_CONCLUSION: "x",
    Weakness.CONCEALED_SUBSTITUTION: "z",
    Weakness.FEASIBLE_SOLUTION: "p",
    Weakness.CONTEXTUAL_DISTURBANCE: "t",
    Weakness.CALCULATION: "w",
}


def in_order(named: Iterable[str]) -> tuple[Weakness, ...]:
    """The weaknesses of *named* (values), each once, in the order of the list.

    Raises ValueError for a value that the list does not hold.
    """
    chosen = {Weakness(value) for value in named}
    return tuple(one for one in Weakness if one in chosen)
