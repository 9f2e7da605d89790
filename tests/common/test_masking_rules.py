"""A key is masked however JSON may spell it, and no text makes that take long."""

from __future__ import annotations

import time

import pytest

from gradeapp.common.masking import MASK, SecretMask

KEY = "sk-Zx8/q+Wm3Kd7"
KEYS = [KEY, "/Zx8q+Wm3Kd7", "Zx\\8q+Wm3Kd7"]
SIZE = 200_000


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(one):04x}" for one in text)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("backslashes", [1, 2, 40])
def test_all_spellings_are_masked(key: str, backslashes: int) -> None:
    run = "\\" * backslashes
    mask = SecretMask(key)
    spelled = [
        key,
        key.replace("/", f"{run}/"),
        key.replace("q", f"{run}u0071"),
        escaped(key),
        escaped(key).upper().replace("\\U", "\\u"),
        escaped(key).replace("\\", run),
        run.join(["", *key]),
        "\0".join(key),
    ]
    for one in spelled:
        assert mask.text(f'"so {one}."') == f'"so {MASK}."'
        assert mask.raw(f'"so {one}."'.encode()) == f'"so {MASK}."'.encode()
    assert mask.text(f"{key}{key}, {key}") == f"{MASK}{MASK}, {MASK}"


@pytest.mark.parametrize("key", KEYS)
def test_other_texts_stay_as_they_are(key: str) -> None:
    others = [
        *("\\" * 100, "\\u005c" * 100, "\\n\\u0061\\\\", key[:-1], escaped(key)[:-6], "", key[1:]),
        f"{key[:4]} {key[4:]} \\u0061",
    ]
    for text in others:
        assert SecretMask(key).text(text) == text
        assert SecretMask(None).text(key + text) == key + text


@pytest.mark.parametrize("key", [*KEYS, "\\Zx8q+Wm3Kd7"])
@pytest.mark.parametrize(
    "piece",
    ["\\", "\\u005c", "\0", "first", "all but the last", "first escaped", "first and backslashes"],
)
def test_no_text_takes_longer_than_another_one(key: str, piece: str) -> None:
    """20 MB of backslashes took minutes: a run of them was read from each of its places."""
    first = key.lstrip("\\")[:1]
    piece = {
        "first": key[:3],
        "all but the last": key[:-1],
        "first escaped": escaped(first),
        "first and backslashes": first + "\\" * 16,
    }.get(piece, piece)
    # An escaped letter, without which the pattern has nothing to look for.
    hostile = (piece * SIZE)[:SIZE] + " \\u0061"
    assert seconds(key, hostile) < 10 * seconds(key, "x" * SIZE + " \\u0061")


def seconds(key: str, text: str) -> float:
    """Return the shortest of three times."""
    mask, times = SecretMask(key), []
    for _time in range(3):
        began = time.perf_counter()
        mask.text(text)
        times.append(time.perf_counter() - began)
    return min(times)
