"""Zero-shot prompts: the question, and the form of the answer.

The tagged format (analysis up to ``<eoe>``, answer up to ``<eoa>``) is that of GAOKAO-Bench
(section 3.1); the wording is ours. An item is asked in its own language. Raise PROMPT_VERSION with
every change of a word: it is part of a run's fingerprint.
"""

from __future__ import annotations

from questions.rules.vocabulary import Language, QuestionType

PROMPT_VERSION = "zero-shot-1"
Message = dict[str, str]

CHINESE_TASK = {
    QuestionType.SINGLE_CHOICE: "请做一道{subject}单项选择题，从{letters}中选出一个正确选项。",
    QuestionType.MULTIPLE_CHOICE: "请做一道{subject}选择题，从{letters}中选出所有正确选项。",
    QuestionType.SEVERAL_QUESTIONS: "请做下面{parts}道{subject}选择题，"
    "每道题从{letters}中选出一项。",
    QuestionType.FIVE_OUT_OF_SEVEN: "请为短文的{parts}处空白从{letters}中各选一项，不得重复。",
    QuestionType.EXACT_ANSWER: "请完成一道{subject}填空题，答案只写结果。",
    QuestionType.CLOZE: "请完成一道{subject}填空题。",
    QuestionType.CORRECTION: "请改正短文中的错误，逐条写出改动。",
    QuestionType.OPEN_ENDED: "请解答一道{subject}题。",
}
ENGLISH_TASK = {
    QuestionType.SINGLE_CHOICE: "Answer one {subject} question. Exactly one of {letters} is right.",
    QuestionType.MULTIPLE_CHOICE: "Answer one {subject} question. Choose all of {letters} "
    "that are right.",
    QuestionType.SEVERAL_QUESTIONS: "Answer the {parts} {subject} questions below. "
    "Choose one of {letters} for each.",
    QuestionType.FIVE_OUT_OF_SEVEN: "Fill the {parts} gaps of the text with one of {letters} each; "
    "none is used twice.",
    QuestionType.EXACT_ANSWER: "Fill in the blank of one {subject} question; the answer is the "
    "result alone.",
    QuestionType.CLOZE: "Fill in the blanks of one {subject} question.",
    QuestionType.CORRECTION: "Correct the mistakes of the text. Write one change a line.",
    QuestionType.OPEN_ENDED: "Answer one {subject} question.",
}
CHINESE_FORMAT = (
    "先一步一步思考，把思考过程写在【解析】和<eoe>之间；再把答案写在【答案】和<eoa>之间。\n"
    "【解析】……<eoe>\n【答案】{answer}<eoa>\n请严格按照这个格式作答。"
)
ENGLISH_FORMAT = (
    "First think step by step between 【解析】 and <eoe>, then write the answer between 【答案】 "
    "and <eoa>.\n【解析】 ... <eoe>\n【答案】 {answer} <eoa>\nKeep strictly to this form."
)
CHINESE_PARTS = "每道题各写一遍上述格式，并在前面写明题号，如（1）。"
ENGLISH_PARTS = "Write this form once for each question, with its number in front, such as (1)."


def sample_answer(question_type: QuestionType, letters: str, parts: int) -> str:
    """Return the placeholder for the answer in the form, which shows its shape."""
    if question_type is QuestionType.MULTIPLE_CHOICE:
        return letters[:2]
    if question_type is QuestionType.FIVE_OUT_OF_SEVEN:
        return " ".join(letters[:parts])
    return letters[:1] if letters else "……"


def instructions(
    question_type: QuestionType, subject_name: str, language: Language, parts: int, letters: str
) -> str:
    """Return the instructions before the question, in its language."""
    chinese = language is Language.CHINESE
    task = (CHINESE_TASK if chinese else ENGLISH_TASK)[question_type]
    listed = ("、" if chinese else ", ").join(letters)
    lines = [task.format(subject=subject_name, letters=listed, parts=parts)]
    answer = sample_answer(question_type, letters, parts)
    lines.append((CHINESE_FORMAT if chinese else ENGLISH_FORMAT).format(answer=answer))
    if question_type is QuestionType.SEVERAL_QUESTIONS and parts > 1:
        lines.append(CHINESE_PARTS if chinese else ENGLISH_PARTS)
    return "\n".join(lines)


def zero_shot_messages(
    question_type: QuestionType,
    subject_name: str,
    stem: str,
    language: Language,
    parts: int = 1,
    letters: str = "",
) -> list[Message]:
    """Return a system message with the form and a user message with only the question.

    ``subject_name`` is the subject in the item's language, ``parts`` the number of sub-answers,
    ``letters`` the allowed options. The stem is not used as a format string.
    """
    system = instructions(question_type, subject_name, language, parts, letters)
    return [{"role": "system", "content": system}, {"role": "user", "content": stem.strip()}]
