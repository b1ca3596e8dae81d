# SPDX-License-Identifier: Apache-2.0
"""An HTTP client for the comparisons: to import urllib takes longer than the rest of one, because the
machine is emulated."""
import socket

PATIENCE = 10  # seconds


def get(url):
    """The body as text. Raises OSError unless the server answers 200."""
    host, slash, path = url.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port)), PATIENCE) as connection:
        connection.sendall(f"GET {slash}{path} HTTP/1.0\r\n\r\n".encode())
        with connection.makefile("rb") as file:
            head, _, body = file.read().partition(b"\r\n\r\n")
    code = head.split()[1] if head else b"none"
    if code != b"200":
        raise OSError(f"{url}: status {code.decode()}")
    return body.decode()
