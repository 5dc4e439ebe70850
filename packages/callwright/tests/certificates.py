"""Certificates for servers on loopback, made for each test."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path


def certified(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The context of a server that is called ``name``, and that of a client that trusts it."""
    certificate, key = issue(name)
    for file, pem in (("c.pem", certificate), ("k.pem", key)):
        (folder / file).write_bytes(pem)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(folder / "c.pem", folder / "k.pem")
    return server, ssl.create_default_context(cadata=certificate.decode())


def issue(name: str) -> tuple[bytes, bytes]:
    """A self-signed certificate and its key, PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        subject, subject, key.public_key(), x509.random_serial_number()
    )
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(
        now + timedelta(days=1)
    )
    builder = builder.add_extension(
        x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    made = builder.sign(key, hashes.SHA256())
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    return made.public_bytes(serialization.Encoding.PEM), key.private_bytes(
        serialization.Encoding.PEM, form, plain
    )
