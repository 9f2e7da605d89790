"""What the collector of cycles looks through while a worker works."""

from __future__ import annotations

import gc
from weakref import ref

from gradeapp.common.collector import collector_spared


class Loop:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


def test_what_is_made_meanwhile_is_collected_and_what_was_there_is_spared() -> None:
    gc.unfreeze()
    try:
        before = ref(Loop())
        with collector_spared():
            meanwhile = ref(Loop())
            with collector_spared():
                pass
            gc.collect()
            assert gc.get_freeze_count() > 0, "the inner one leaves it to the outer one"
            assert (before() is None, meanwhile() is None) == (False, True)
        assert gc.get_freeze_count() == 0
        gc.collect()
        assert before() is None
    finally:
        gc.freeze()  # as conftest.py left it
