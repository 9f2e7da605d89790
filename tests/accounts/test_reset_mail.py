"""A reset link waits for a mail server that does not answer for a while."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gradeapp.accounts.models import User
from gradeapp.accounts.tasks import send_reset_link

BREAKS_OFF = 2


class MailServer(socketserver.ThreadingTCPServer):
    """Breaks the first connections off, and keeps what the others bring."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Talk)
        self.connections = 0
        self.mails: list[str] = []


class Talk(socketserver.StreamRequestHandler):
    """As much of SMTP as one mail takes."""

    server: MailServer

    def handle(self) -> None:
        self.server.connections += 1
        if self.server.connections <= BREAKS_OFF:
            return
        self.answer("220 here")
        for line in iter(self.rfile.readline, b""):
            word = line.strip().upper()
            if word == b"DATA":
                self.answer("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.mails.append(b"".join(lines).decode())
            self.answer("221 bye" if word == b"QUIT" else "250 well")

    def answer(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[:2]
        settings.EMAIL_USE_TLS = False
        yield server
        server.shutdown()


def test_a_mail_is_sent_again_until_the_server_takes_it(server: MailServer, teacher: User) -> None:
    User.objects.filter(pk=teacher.pk).update(email="tao@example.org")
    send_reset_link.apply(("tao", "http://testserver/", "en"))
    (sent,) = server.mails
    assert server.connections == BREAKS_OFF + 1
    assert "To: tao@example.org" in sent
    assert "http://testserver/reset/" in sent.replace("=\r\n", "")
