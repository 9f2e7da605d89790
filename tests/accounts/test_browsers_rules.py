"""A session is listed by the name of its browser, not by the header that it sends."""

from __future__ import annotations

import pytest

from gradeapp.accounts.browsers import name_of

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (
            f"Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} Chrome/128.0 Safari/537.36",
            "Chrome 128, Linux",
        ),
        (
            f"{WINDOWS} {WEBKIT} Chrome/131.0 Safari/537.36 Edg/131.0",
            "Edge 131, Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15"
            " (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
            "Safari 17, iPhone",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0",
            "Firefox 133, macOS",
        ),
        (
            f"Mozilla/5.0 (Linux; Android 14; Pixel 8) {WEBKIT} Chrome/130.0 Mobile Safari/537.36"
            " MicroMessenger/8.0.50",
            "WeChat 8, Android",
        ),
        ("curl/8.5.0", "curl/8.5.0"),
        ("x" * 90, "x" * 59 + "…"),
        ("", ""),
    ],
)
def test_a_browser_has_the_name_that_people_know(user_agent: str, name: str) -> None:
    assert name_of(user_agent) == name
