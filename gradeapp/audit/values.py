"""What stored codes among the details of audit entries are called: rules, states, roles.

Features register their lists in ``apps.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gradeapp.accounts.roles import Role
from gradeapp.accounts.scopes import Scope
from gradeapp.audit.tags import Tag
from gradeapp.common.named import Named

# A stored code -> what it is called in English and in Chinese.
Codes = Mapping[str, tuple[str, str]]
NO_CODES: Codes = {}
FACTORS: Codes = {
    "totp": ("authenticator app", "验证器应用"),
    "webauthn": ("passkey or security key", "通行密钥或安全密钥"),
    "recovery_codes": ("recovery codes", "恢复码"),
}
_known: dict[tuple[str, str], Codes] = {}


def register(detail: str, codes: type[Named] | Codes, *, tags: Iterable[str] = ("",)) -> None:
    """Have values of *detail* called as *codes* says; with *tags*, in entries with these alone.

    Where people type what stands in the same detail of other entries, *tags* are needed.
    """
    words = codes if isinstance(codes, Mapping) else _words(codes)
    for tag in tags:
        _known[tag, detail] = words


def codes_of(detail: str, tag: str) -> Codes:
    """Return the codes that may stand in *detail* of an entry with *tag*."""
    return _known.get((tag, detail)) or _known.get(("", detail), NO_CODES)


def _words(codes: type[Named]) -> Codes:
    return {one.value: (one.english, one.chinese) for one in codes}


def register_own() -> None:
    """Register the codes of accounts and of the audit trail itself."""
    for name in ("roles", "groups"):
        register(name, Role)
    for name in ("before", "after"):
        register(name, Role, tags=[Tag.ROLES_CHANGED])
    register("scopes", Scope)
    factors = (Tag.FACTOR_ADDED, Tag.FACTOR_REMOVED, Tag.FACTOR_FAILED)
    for name in ("kind", "kinds"):
        register(name, FACTORS, tags=factors)
    by = {"another": ("another person", "他人"), "command line": ("command line", "命令行")}
    register("by", by)
    ends = {"idle": ("no activity", "长时间未操作"), "age": ("longest duration", "达到最长时限")}
    register("reason", ends, tags=[Tag.SESSION_EXPIRED])
