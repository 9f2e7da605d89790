"""R56: an endpoint whose certificate nobody here trusts: one clear sentence, and no call."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from evaluations.llm.scripted import completion_of
from evaluations.models.vocabulary import PauseReason
from evaluations.runs.services.endpoint_checks import check_endpoint
from evaluations.runs.services.endpoints import save_endpoint
from gradeapp.accounts.provider_calls import provider_session
from tests.evaluations.run_world import planned, worked

pytestmark = pytest.mark.django_db


class Answers(BaseHTTPRequestHandler):
    """Answers every chat request."""

    called = 0

    def do_POST(self) -> None:
        """Answer."""
        type(self).called += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(completion_of("1+1=?", 1)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


def own_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that is its own CA, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "house CA")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "ca.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate, private


@pytest.fixture
def https(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The base URL of an HTTPS endpoint, and the file of its CA."""
    certificate, private = own_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    server = HTTPServer(("127.0.0.1", 0), Answers)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Answers.called = 0
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/v1", certificate
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_certificate_that_nobody_trusts_is_named(
    https: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    endpoint = save_endpoint(name="house", base_url=https[0], model="m", acting_user=None)
    check = check_endpoint(endpoint)
    assert not check.works
    assert "is not trusted on this machine" in check.sentence
    assert "CERTIFICATE_VERIFY_FAILED" in check.sentence
    assert Answers.called == 0
    # A run waits for a person instead of failing all its items.
    run = worked(planned(endpoint, 3))
    assert (run.status, run.pause_reason) == ("paused", PauseReason.ADDRESS)
    assert not run.jobs.filter(status="failed").exists()


def test_an_empty_file_of_certificates_trusts_nobody(
    https: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(empty))
    endpoint = save_endpoint(name="house", base_url=https[0], model="m", acting_user=None)
    check = check_endpoint(endpoint)
    assert not check.works
    assert "no trusted CA certificates" in check.sentence
    assert Answers.called == 0


def test_the_ca_of_the_house_can_be_named(
    https: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(https[1]))
    # What requests looks at decides nothing of single sign-on either.
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/etc/ssl/certs/ca-certificates.crt")
    assert provider_session(5).post(https[0], json={}).ok
    endpoint = save_endpoint(name="house", base_url=https[0], model="m", acting_user=None)
    check = check_endpoint(endpoint)
    assert check.works, check.sentence
    assert Answers.called
