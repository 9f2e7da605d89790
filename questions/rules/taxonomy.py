"""The vocabulary of AGIBench's published taxonomy: branches, knowledge categories, subclasses.

Source: AGIBench, table 2, and the labels of its published file. Both list 69
subclasses, while the paper's text says 68. Each
category belongs to one of the three ability branches, and each subclass to one
category. Seven categories have one subclass of their own name. Slugs are stable:
a name may be corrected, its slug may not. The Chinese and English names are the
published ones, except for outer spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from questions.rules.vocabulary import AbilityBranch

_B = AbilityBranch


@dataclass(frozen=True, slots=True)
class Subclass:
    """The finer place of knowledge; its branch is that of its category."""

    slug: str
    english: str
    chinese: str


@dataclass(frozen=True, slots=True)
class Category:
    """A knowledge category with its subclasses, in the published order."""

    slug: str
    english: str
    chinese: str
    branch: AbilityBranch
    subclasses: tuple[Subclass, ...]


TAXONOMY: tuple[Category, ...] = (
    Category(
        "humanities",
        "Humanities",
        "人文常识",
        _B.COMMON_SENSE,
        (
            Subclass("humanities-cultural", "Cultural", "文化常识"),
            Subclass("humanities-literary", "Literary", "文学常识"),
            Subclass("humanities-chinese-history", "Chinese History", "中国历史"),
            Subclass("humanities-world-history", "World History", "世界历史"),
        ),
    ),
    Category(
        "technology",
        "Technology",
        "科技常识",
        _B.COMMON_SENSE,
        (
            Subclass("technology-physics-fundamentals", "Physics Fundamentals", "物理常识"),
            Subclass("technology-chemistry-fundamentals", "Chemistry Fundamentals", "化学常识"),
            Subclass("technology-biology-fundamentals", "Biology Fundamentals", "生物常识"),
            Subclass(
                "technology-technology-theories-and-achievements",
                "Technology Theories and Achievements",
                "科技理论与成就",
            ),
            Subclass("technology-everyday-knowledge", "Everyday Knowledge", "生活常识"),
        ),
    ),
    Category(
        "law",
        "Law",
        "法律常识",
        _B.COMMON_SENSE,
        (
            Subclass("law-jurisprudence", "Jurisprudence", "法理学"),
            Subclass("law-constitutional-law", "Constitutional Law", "宪法"),
            Subclass("law-administrative-law", "Administrative Law", "行政法"),
            Subclass("law-civil-law", "Civil Law", "民法"),
            Subclass("law-criminal-law", "Criminal Law", "刑法"),
            Subclass(
                "law-commercial-and-economic-law", "Commercial and Economic Law", "商法和经济法"
            ),
            Subclass("law-procedural-law", "Procedural Law", "诉讼法"),
        ),
    ),
    Category(
        "geography",
        "Geography",
        "地理常识",
        _B.COMMON_SENSE,
        (
            Subclass("geography-natural", "Natural", "自然常识"),
            Subclass("geography-environmental", "Environmental", "环境常识"),
            Subclass(
                "geography-national-and-social-conditions",
                "National and Social Conditions",
                "国情社情",
            ),
        ),
    ),
    Category(
        "political",
        "Political",
        "政治常识",
        _B.COMMON_SENSE,
        (Subclass("political-political", "Political", "政治常识"),),
    ),
    Category(
        "economic",
        "Economic",
        "经济常识",
        _B.COMMON_SENSE,
        (Subclass("economic-economic", "Economic", "经济常识"),),
    ),
    Category(
        "passage-reading",
        "Passage Reading",
        "片段阅读",
        _B.UNDERSTANDING,
        (
            Subclass(
                "passage-reading-central-understanding", "Central Understanding", "中心理解题"
            ),
            Subclass("passage-reading-title-insertion", "Title Insertion", "标题填入题"),
            Subclass("passage-reading-detail-judgment", "Detail Judgment", "细节判断题"),
            Subclass(
                "passage-reading-sentence-understanding", "Sentence Understanding", "词句理解题"
            ),
        ),
    ),
    Category(
        "sentence-grammar",
        "Sentence Grammar",
        "语句表达",
        _B.UNDERSTANDING,
        (
            Subclass("sentence-grammar-sentence-ordering", "Sentence Ordering", "语句排序题"),
            Subclass(
                "sentence-grammar-sentence-fill-in-the-blank",
                "Sentence Fill-in-the-blank",
                "语句填空题",
            ),
            Subclass(
                "sentence-grammar-following-sentence-choice",
                "Following Sentence Choice",
                "接语选择题",
            ),
            Subclass(
                "sentence-grammar-flawed-and-ambiguous", "Flawed and Ambiguous", "病句和歧义句"
            ),
        ),
    ),
    Category(
        "fill-in-the-blank",
        "Fill-in-the-blank",
        "逻辑填空",
        _B.UNDERSTANDING,
        (
            Subclass(
                "fill-in-the-blank-content-word-fill-in-the-blank",
                "Content Word Fill-in-the-blank",
                "实词填空",
            ),
            Subclass(
                "fill-in-the-blank-idiom-fill-in-the-blank", "Idiom Fill-in-the-blank", "成语填空"
            ),
            Subclass(
                "fill-in-the-blank-mixed-fill-in-the-blank", "Mixed Fill-in-the-blank", "混搭填空"
            ),
        ),
    ),
    Category(
        "long-text-reading",
        "Long Text Reading",
        "篇章阅读",
        _B.UNDERSTANDING,
        (Subclass("long-text-reading-long-text-reading", "Long Text Reading", "篇章阅读"),),
    ),
    Category(
        "graphic-reasoning",
        "Graphic Reasoning",
        "图形推理",
        _B.REASONING,
        (
            Subclass(
                "graphic-reasoning-positional-principles", "Positional Principles", "位置规律"
            ),
            Subclass("graphic-reasoning-pattern-principles", "Pattern Principles", "样式规律"),
            Subclass("graphic-reasoning-attribute-principles", "Attribute Principles", "属性规律"),
            Subclass("graphic-reasoning-quantity-principles", "Quantity Principles", "数量规律"),
            Subclass("graphic-reasoning-special-principles", "Special Principles", "特殊规律"),
            Subclass(
                "graphic-reasoning-spatial-reconstruction", "Spatial Reconstruction", "空间重构"
            ),
        ),
    ),
    Category(
        "definition-judgment",
        "Definition Judgment",
        "定义判断",
        _B.REASONING,
        (
            Subclass("definition-judgment-single-definition", "Single Definition", "单定义"),
            Subclass("definition-judgment-multiple-definitions", "Multiple Definitions", "多定义"),
        ),
    ),
    Category(
        "analogical-reasoning",
        "Analogical Reasoning",
        "类比推理",
        _B.REASONING,
        (
            Subclass("analogical-reasoning-semantic-relations", "Semantic Relations", "语义关系"),
            Subclass("analogical-reasoning-logical-relations", "Logical Relations", "逻辑关系"),
            Subclass(
                "analogical-reasoning-grammatical-relations", "Grammatical Relations", "语法关系"
            ),
        ),
    ),
    Category(
        "logical-judgment",
        "Logical Judgment",
        "逻辑判断",
        _B.REASONING,
        (
            Subclass("logical-judgment-translation-reasoning", "Translation Reasoning", "翻译推理"),
            Subclass(
                "logical-judgment-combinations-and-arrangements",
                "Combinations and Arrangements",
                "组合排列",
            ),
            Subclass("logical-judgment-strengthened-types", "Strengthened Types", "加强题型"),
            Subclass("logical-judgment-weakened-types", "Weakened Types", "削弱题型"),
            Subclass("logical-judgment-daily-conclusions", "Daily Conclusions", "日常结论"),
            Subclass("logical-judgment-reason-explanations", "Reason Explanations", "原因解释"),
            Subclass("logical-judgment-true-false-reasoning", "True-False Reasoning", "真假推理"),
        ),
    ),
    Category(
        "mathematical-calculation",
        "Mathematical Calculation",
        "数学运算",
        _B.REASONING,
        (
            Subclass("mathematical-calculation-core-methods", "Core Methods", "核心方法"),
            Subclass("mathematical-calculation-engineering", "Engineering", "工程问题"),
            Subclass("mathematical-calculation-journey", "Journey", "行程问题"),
            Subclass(
                "mathematical-calculation-economic-profit-and-comprehensive-planning",
                "Economic Profit and Comprehensive Planning",
                "经济利润和统筹规划问题",
            ),
            Subclass("mathematical-calculation-solution-problems", "Solution Problems", "溶液问题"),
            Subclass(
                "mathematical-calculation-permutation-combination-and-probability",
                "Permutation, Combination, and Probability",
                "排列组合与概率问题",
            ),
            Subclass(
                "mathematical-calculation-inclusion-exclusion-principle",
                "Inclusion-Exclusion Principle",
                "容斥原理问题",
            ),
        ),
    ),
    Category(
        "numerical-reasoning",
        "Numerical Reasoning",
        "数字推理",
        _B.REASONING,
        (
            Subclass("numerical-reasoning-basic-sequences", "Basic Sequences", "基础数列"),
            Subclass(
                "numerical-reasoning-multi-level-sequences", "Multi-level Sequences", "多级数列"
            ),
            Subclass(
                "numerical-reasoning-exponential-sequences", "Exponential Sequences", "幂次数列"
            ),
            Subclass(
                "numerical-reasoning-fractional-sequences", "Fractional Sequences", "分数数列"
            ),
            Subclass("numerical-reasoning-recursive-sequences", "Recursive Sequences", "递推数列"),
            Subclass("numerical-reasoning-multiple-sequences", "Multiple Sequences", "多重数列"),
            Subclass(
                "numerical-reasoning-mechanical-split-sequences",
                "Mechanical Split Sequences",
                "机械划分数列",
            ),
        ),
    ),
    Category(
        "textual-materials",
        "Textual Materials",
        "文字资料",
        _B.REASONING,
        (Subclass("textual-materials-textual-materials", "Textual Materials", "文字资料"),),
    ),
    Category(
        "tabular-materials",
        "Tabular Materials",
        "表格资料",
        _B.REASONING,
        (Subclass("tabular-materials-tabular-materials", "Tabular Materials", "表格资料"),),
    ),
    Category(
        "graphic-materials",
        "Graphic Materials",
        "图形资料",
        _B.REASONING,
        (Subclass("graphic-materials-graphic-materials", "Graphic Materials", "图形资料"),),
    ),
    Category(
        "comprehensive-materials",
        "Comprehensive Materials",
        "综合资料",
        _B.REASONING,
        (
            Subclass(
                "comprehensive-materials-comprehensive-materials",
                "Comprehensive Materials",
                "综合资料",
            ),
        ),
    ),
)

_BY_CHINESE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (category.chinese, subclass.chinese): subclass.slug
        for category in TAXONOMY
        for subclass in category.subclasses
    }
)
_BRANCHES: Mapping[str, AbilityBranch] = MappingProxyType(
    {
        slug: category.branch
        for category in TAXONOMY
        for slug in (category.slug, *(subclass.slug for subclass in category.subclasses))
    }
)
SLUGS = frozenset(_BRANCHES)


def subclass_slug(category: str, subclass: str) -> str | None:
    """The slug of a subclass by its published Chinese names; None for a pair that is unknown."""
    return _BY_CHINESE.get((category.strip(), subclass.strip()))


def branch_of(slug: str) -> AbilityBranch | None:
    """The ability branch of a category or a subclass; None for a slug of no published place."""
    return _BRANCHES.get(slug)
