"""Read from the header User-Agent what people call a browser and the system it runs on."""

from __future__ import annotations

import re

# The first that is found counts: most browsers also name those that they descend from.
BROWSERS = (
    ("Edge", r"\bEdg(?:e|A|iOS)?/(\d+)"),
    ("Opera", r"\bOPR/(\d+)"),
    ("WeChat", r"\bMicroMessenger/(\d+)"),
    ("Firefox", r"\b(?:Firefox|FxiOS)/(\d+)"),
    ("Chrome", r"\b(?:Headless)?(?:Chrome|CriOS)/(\d+)"),
    ("Safari", r"\bVersion/(\d+)\S* .*\bSafari/"),
)
SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("HarmonyOS", r"\b(?:HarmonyOS|OpenHarmony)\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMac(?:intosh| OS X)\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)
LONGEST = 60


def name_of(user_agent: str) -> str:
    """Return *user_agent* as people say it, like ``Chrome 128, Linux``.

    The beginning of the text itself where neither a browser nor a system is known. What it says is
    what its sender wrote: it helps to tell own browsers apart, and proves nothing.
    """
    text = user_agent[:500]
    browser = next(
        (f"{name} {found[1]}" for name, sign in BROWSERS if (found := re.search(sign, text))), ""
    )
    system = next((name for name, sign in SYSTEMS if re.search(sign, text)), "")
    known = ", ".join(filter(None, (browser, system)))
    if known or len(text) <= LONGEST:
        return known or text
    return f"{text[: LONGEST - 1]}…"
