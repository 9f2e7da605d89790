"""The people of the sample exam: for the demo on one's own machine, never elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from gradeapp.accounts.roles import Role


@dataclass(frozen=True)
class DemoPerson:
    """A login that ``load_sample`` makes and the demo's login page shows."""

    username: str
    name: str
    role: Role

    @property
    def password(self) -> str:
        """Easy on purpose: the demo listens on loopback only."""
        return f"{self.username}-demo"

    def as_login(self) -> dict[str, object]:
        """What the login page shows."""
        return {"username": self.username, "password": self.password, "role": self.role}


DEMO_PEOPLE = [
    DemoPerson("admin", "Ada Admin", Role.ADMIN),
    DemoPerson("curator", "Chen Curator", Role.CURATOR),
    DemoPerson("lead", "Lin Lead", Role.LEAD),
    DemoPerson("teacher1", "Teacher A", Role.TEACHER),
    DemoPerson("teacher2", "Teacher B", Role.TEACHER),
]
