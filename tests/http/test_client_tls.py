"""TLS of the client over HTTP: the caller's client's own, or that of the environment, on both lanes."""

import datetime as dt
import ipaddress
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import httpx2
import pytest
from anyio.streams.tls import TLSListener
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import toolwire
from tests.http.clients import PATIENCE, echo_of, peer

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "peer")])
    now = dt.datetime.now(dt.UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    path = tmp_path_factory.mktemp("tls") / "peer.pem"
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(built.public_bytes(pem) + private)
    return path


@asynccontextmanager
async def behind_tls(behind: int, certificate: Path) -> AsyncIterator[str]:
    """The address of a listener that ends TLS and passes the bytes on to the peer on port `behind`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    async def copy(source: anyio.abc.ByteReceiveStream, sink: anyio.abc.ByteSendStream) -> None:
        try:
            async for chunk in source:
                await sink.send(chunk)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass

    async def passed_on(stream: anyio.abc.ByteStream) -> None:
        async with stream, await anyio.connect_tcp("127.0.0.1", behind) as plain, anyio.create_task_group() as both:
            both.start_soon(copy, plain, stream)
            await copy(stream, plain)
            both.cancel_scope.cancel()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as plain_listener:
        listener = TLSListener(plain_listener, context, standard_compatible=False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, passed_on)
            port = plain_listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - anyio's own, and no SQL
            yield f"https://127.0.0.1:{port}/mcp"
            tasks.cancel_scope.cancel()


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].partition("/")[0])


async def test_the_tls_of_a_caller_s_client_is_the_tls_of_express_calls(certificate: Path) -> None:
    trusting = ssl.create_default_context(cafile=certificate)
    async with peer() as served, behind_tls(port_of(served.url), certificate) as url:
        with anyio.fail_after(PATIENCE):
            async with (
                httpx2.AsyncClient(verify=trusting) as client,
                toolwire.connect(url, http_client=client) as connection,
            ):
                assert await (await echo_of(connection)).invoke("{}") == "done"
            with pytest.raises(toolwire.ConnectError, match=r"(?i)certificate"):
                async with toolwire.connect(url):
                    pass


async def test_both_lanes_trust_whom_the_environment_trusts(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with peer() as served, behind_tls(port_of(served.url), certificate) as url:
        with anyio.fail_after(PATIENCE):
            async with toolwire.connect(url) as connection:
                assert await (await echo_of(connection)).invoke("{}") == "done"
                assert connection.wire is not None
                assert connection.wire.counters["express_requests"] == 2
