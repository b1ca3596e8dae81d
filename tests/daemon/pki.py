# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests, made by openssl, and passwords."""
import ctypes
import subprocess


def bcrypt(password, cost=4):
    """The hash of a password; the cheapest, for tests have little time. Python's own crypt ended
    with 3.12; this is the library that the agent links."""
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype = ctypes.c_char_p
    return crypt(password.encode(), f"$2b${cost:02}$abcdefghijklmnopqrstuu".encode()).decode()


class Authority:
    """Signs certificates; all of its files are in directory."""

    def __init__(self, directory, name="ca"):
        self.directory, self.name = directory, name
        self._make(name, ["-subj", f"/CN={name}", "-addext",
                          "keyUsage=critical,keyCertSign,cRLSign"])

    def path(self, name, end="pem"):
        return f"{self.directory}/{name}.{end}"

    @property
    def certificate(self):
        return self.path(self.name)

    def _make(self, name, arguments, key=("ec", "-pkeyopt", "ec_paramgen_curve:P-256")):
        subprocess.run(["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "30",
                        "-keyout", self.path(name, "key"), "-out", self.path(name), *arguments],
                       check=True, stderr=subprocess.DEVNULL)

    def sign(self, name, san="IP:127.0.0.1,DNS:localhost", purpose="serverAuth", rsa=False):
        """A certificate and its key. Returns the two paths."""
        key = ("rsa:2048",) if rsa else ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")
        self._make(name, ["-subj", f"/CN={name}", "-addext", f"subjectAltName={san}",
                          "-addext", f"extendedKeyUsage={purpose}",
                          "-addext", "basicConstraints=critical,CA:FALSE",
                          "-CA", self.certificate, "-CAkey", self.path(self.name, "key")], key)
        return self.path(name), self.path(name, "key")

    def sign_client(self, name, san="DNS:prometheus.example"):
        return self.sign(name, san, "clientAuth")
