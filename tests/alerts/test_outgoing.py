import ssl
from datetime import UTC, datetime, timedelta
from http.client import HTTPException

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from benchdash.alerts import outgoing
from benchdash.alerts.outgoing import ForbiddenError, check, reason_of, request
from tests.webhook_server import WebhookServer

# --- which addresses may be called ------------------------------------------------------------------------

INSIDE = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "localhost",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a00:1]",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
]
NOWHERE = [
    "0.0.0.0",
    "0",
    "255.255.255.255",
    "240.0.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "169.254.0.1",
    "169.254.169.254",
    "100.100.100.200",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "[::]",
    "[::127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[fd00:ec2::254]",
]
OUTSIDE = ["1.1.1.1", "93.184.215.14", "[2606:4700::1111]", "[::ffff:1.1.1.1]", "[64:ff9b::1.1.1.1]"]


@pytest.mark.parametrize("host", INSIDE)
def test_an_address_inside_is_refused_unless_the_operator_allows_it(host, settings):
    with pytest.raises(ForbiddenError, match="outside of private networks"):
        check(f"https://{host}/hook")
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    check(f"https://{host}/hook")


@pytest.mark.parametrize("may_be_private", [False, True])
@pytest.mark.parametrize("host", NOWHERE)
def test_what_is_neither_outside_nor_inside_is_always_refused(host, may_be_private, settings):
    settings.WEBHOOKS_MAY_BE_PRIVATE = may_be_private
    with pytest.raises(ForbiddenError):
        check(f"https://{host}/hook")


@pytest.mark.parametrize("host", OUTSIDE)
def test_an_address_outside_may_be_called(host):
    check(f"https://{host}/hook")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://1.1.1.1/", "begins with https:// or http://"),
        ("file:///etc/passwd", "begins with https:// or http://"),
        ("gopher://1.1.1.1/", "begins with https:// or http://"),
        ("https://", "names no host"),
        ("https:///hook", "names no host"),
        ("https://user@1.1.1.1/", "user name or password"),
        ("https://:word@1.1.1.1/", "user name or password"),
        ("https://1.1.1.1\\@127.0.0.1/", "user name or password"),
        ("https://1.1.1.1:22/", "port 22 is not one of the web"),
        ("https://1.1.1.1:25/", "port 25"),
        ("https://1.1.1.1:0/", "port 0"),
        ("https://1.1.1.1:99999/", "not an address"),
        ("https://[::1/", "not an address"),
        ("https://1.1.1.1/a b", "a character that none can"),
        ("https://1.1.1.1/\r\nHost: evil", "a character that none can"),
        ("https://1.1.1.1/ü", "a character that none can"),
        (f"https://1.1.1.1/{'a' * 2000}", "more than 2000"),
        (f"https://{'a' * 70}.example/", "not an address"),
    ],
)
def test_what_is_no_address_of_the_web_is_refused_with_a_reason(url, why):
    with pytest.raises(ForbiddenError, match=why):
        check(url)


def test_a_name_that_nobody_knows_now_may_be_known_later():
    check("https://nobody-has-this-name.invalid/hook")


# --- the request ------------------------------------------------------------------------------------------


def test_it_sends_the_body_with_its_headers_and_returns_what_came_back(webhook_server):
    webhook_server.status, webhook_server.answer = 202, b"thank\nyou\0" + b"!" * 1000
    answer = request("POST", f"{webhook_server.url}?a=1", b"{}", {"X-Of-Ours": "1"})
    assert (answer.status, answer.is_success, len(answer.text)) == (202, True, outgoing.MAX_REPLY)
    assert answer.text.startswith("thank you!!!")
    [sent] = webhook_server.deliveries
    assert (sent.path, sent.body, sent.headers["X-Of-Ours"]) == ("/hook?a=1", b"{}", "1")
    assert sent.headers["Host"] == f"127.0.0.1:{webhook_server.port}"


def test_a_redirect_is_an_answer_and_is_not_followed(webhook_server):
    webhook_server.status, webhook_server.headers = 302, {"Location": webhook_server.url + "/elsewhere"}
    assert request("POST", webhook_server.url, b"{}", {}).status == 302
    assert [one.path for one in webhook_server.deliveries] == ["/hook"]


@pytest.mark.parametrize("how", ["delay", "drip"])
def test_it_hangs_up_on_a_server_that_takes_its_time(webhook_server, monkeypatch, how):
    monkeypatch.setattr(outgoing, "MAX_SECONDS", 0.5)
    webhook_server.delay, webhook_server.drip = (30.0, False) if how == "delay" else (0.0, True)
    begun = datetime.now(UTC)
    with pytest.raises(OSError, match=r"no answer within 0\.5 seconds|timed out"):
        request("POST", webhook_server.url, b"{}", {})
    assert datetime.now(UTC) - begun < timedelta(seconds=5)


def test_where_nothing_listens_it_says_so(webhook_server):
    webhook_server.stop()
    with pytest.raises(ConnectionRefusedError):
        request("POST", webhook_server.url, b"{}", {})


def test_the_address_that_was_checked_is_the_one_that_is_called(webhook_server, monkeypatch):
    """A name server of the attacker answers differently the second time."""
    asked = []

    def resolve(host, port, **_wanted):
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return [(2, 1, 6, "", (address, port))]

    monkeypatch.setattr(outgoing.socket, "getaddrinfo", real_for_numbers(resolve))
    assert request("POST", f"http://rebinding.example:{webhook_server.port}/hook", b"{}", {}).status == 204
    assert asked == ["rebinding.example"]
    with pytest.raises(ForbiddenError, match=r"rebinding.example is at 169.254.169.254"):
        request("POST", f"http://rebinding.example:{webhook_server.port}/hook", b"{}", {})


def test_a_name_with_one_address_that_is_forbidden_is_refused_as_a_whole(monkeypatch):
    found = [(2, 1, 6, "", (address, 443)) for address in ("1.1.1.1", "10.0.0.1")]
    monkeypatch.setattr(outgoing.socket, "getaddrinfo", real_for_numbers(lambda *_a, **_k: found))
    with pytest.raises(ForbiddenError):
        check("https://mixed.example/")


def real_for_numbers(resolve):
    """A resolver for names; what is a number already resolves as ever."""
    real = outgoing.socket.getaddrinfo

    def getaddrinfo(host, *args, **options):
        return (real if host[0].isdigit() else resolve)(host, *args, **options)

    return getaddrinfo


# --- TLS --------------------------------------------------------------------------------------------------


@pytest.fixture
def https_server(tmp_path, settings):
    """A server with a certificate for ``localhost``, which lies in ``tmp_path``."""
    settings.WEBHOOKS_MAY_BE_PRIVATE = True
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*files)
    server = WebhookServer(tls=tls)
    server.start()
    yield server
    server.stop()


def test_a_certificate_is_held_against_the_name(https_server, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    assert request("POST", f"https://localhost:{https_server.port}/hook", b"{}", {}).status == 204
    with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
        request("POST", f"https://127.0.0.1:{https_server.port}/hook", b"{}", {})


def test_a_certificate_that_nobody_vouches_for_is_refused(https_server):
    with pytest.raises(ssl.SSLCertVerificationError):
        request("POST", f"https://localhost:{https_server.port}/hook", b"{}", {})
    assert https_server.deliveries == []


def test_a_server_that_does_not_speak_http_is_told_from_one_that_does(https_server):
    with pytest.raises((OSError, HTTPException)):
        request("POST", f"http://localhost:{https_server.port}/hook", b"{}", {})


def test_why_nothing_came_back_is_said_without_numbers():
    with pytest.raises(OSError, match="Errno") as refused:
        request("POST", "http://nowhere.invalid/hook", b"{}", {})
    assert reason_of(refused.value)[0].isalpha()
    assert "Errno" not in reason_of(refused.value)
    assert reason_of(HTTPException()) == "HTTPException"
