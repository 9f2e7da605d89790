"""A run whose outputs give their answers in a few wordings, for tests of searches for patterns."""

from __future__ import annotations

from evaluations.models import MinedPattern, PatternSearch, Run
from evaluations.reading.services.pattern_searches import start_search, work_on_search
from gradeapp.accounts.models import User
from questions.models import Task
from questions.rules.vocabulary import QuestionType
from tests.factories import make_question, make_response, make_run, make_task

LETTERS = "ABCD"
TAGGED = "先看条件，再作判断。【答案】{x}"
IN_WORDS = "So I would tick box {x} here."
UNREAD = "I cannot tell."


def run_with(
    *wordings: tuple[str, int],
    task: Task | None = None,
    keys: tuple[str, ...] = ("A",),
    run: Run | None = None,
) -> Run:
    """A run with so many responses of each wording; the letters take turns."""
    task = task or make_task()
    for wording, count in wordings:
        for number in range(count):
            question = make_question(task, key=keys, marks=("6",) * len(keys))
            run = run or make_run(task.dataset)
            make_response(question, run, wording.format(x=LETTERS[number % 4]))
    assert run is not None
    return run


def several_task() -> Task:
    return make_task(question_type=QuestionType.SEVERAL_QUESTIONS)


def searched(run: Run, user: User | None = None, **settings: int) -> PatternSearch:
    """A search in *run* that a worker has made to its end."""
    search = start_search(run, acting_user=user, **settings)
    assert work_on_search(search.pk)
    return PatternSearch.objects.get(pk=search.pk)


def newest_patterns(search: PatternSearch) -> list[MinedPattern]:
    """The patterns of *search* that nothing replaced."""
    return list(search.patterns.filter(replaced_by__isnull=True))
