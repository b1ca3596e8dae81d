# SPDX-License-Identifier: Apache-2.0
"""Replaces what identifies a node in texts: GUIDs, addresses, names, serial numbers.

The substitutes are those of the disguised recording, as far as it has the original: the agent
records the node twice, once with its identity, and the two are read side by side. Whatever else has
the form of an identity gets a substitute of its own, which depends on a key that is thrown away.
"""
import hashlib
import ipaddress
import os
import re

TEXT = re.compile(r"text \d+")  # what a recording has instead of a description
HEX = r"[0-9A-Fa-f]"
QUADS = rf"{HEX}{{4}}(?::{HEX}{{4}}){{3}}"  # a GUID; an IPv6 address has eight of them
FORMS = re.compile("|".join((
    rf"(?P<uuid>\b{HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}}\b)",
    rf"(?P<mac>(?<![\w:-]){HEX}{{2}}(?:[:-]{HEX}{{2}}){{5,19}}(?![\w:-]))",
    rf"(?P<ip6>(?<![\w:.]){HEX}{{0,4}}(?::{HEX}{{0,4}}){{2,7}}(?:\d+(?:\.\d+){{3}})?(?![\w:]))",
    rf"(?P<hex>\b0x{HEX}{{16}}\b|\b(?=\d*[a-fA-F]){HEX}{{16}}\b|\b{HEX}{{32}}\b)",
    r"(?P<ip4>(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]))")))
# A field whose value is a number of one piece of hardware.
SERIAL = re.compile(r"""(?ix)
    ( \b(?:serial(?:[ _]?(?:number|num|no))?|SN|asset[ _]?tag) (?:\]\s*Serial\ number)?
      "? \s* [:=] \s* "? | DMI\w*(?:Serial|UUID|AssetTag)"\s+value=" )
    ([^\s",]{4,})""")
VERSION = re.compile("version|firmware|release", re.IGNORECASE)
PUBLIC = re.compile(r"(0|:|\.|x|f|-|255|127\.0\.0\.1|fe80)*")  # no identity of this node


def files(root):
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield os.path.relpath(path, root), file.read()


class Disguise:
    def __init__(self, names=()):
        self.key = os.urandom(16)
        self.digits, self.words = {}, {}
        for name in filter(None, names):
            self.words[name] = f"host-{self.hash(name)[:6]}"
        self.pattern = None

    def hash(self, text):
        return hashlib.blake2b(text.encode(), key=self.key).hexdigest()

    # --- what the recordings teach ----------------------------------------------------------------

    def learn(self, kept, disguised):
        """kept and disguised: directories of the two recordings."""
        substitutes = dict(files(disguised))
        for path, text in files(kept):
            substitute = substitutes.get(path, "")
            old, new = text.split(), substitute.split()
            if TEXT.fullmatch(substitute.strip()) and len(text.strip()) > 2:
                self.words.setdefault(text.strip(), substitute.strip())
            elif len(old) == len(new):
                for word, substitute in zip(old, new):
                    self.learn_word(word, substitute)

    def learn_word(self, word, substitute):
        if word == substitute or not re.search("[A-Za-z:]", word):
            return  # the same, or a counter that has moved
        old, new = (re.sub("[:.-]|^0x", "", each) for each in (word, substitute))
        if re.fullmatch(rf"{HEX}{{12,40}}", old) and len(old) == len(new):
            self.digits.setdefault(old.lower(), new.lower())
            if len(old) == 32:
                self.digits.setdefault(old[16:].lower(), new[16:].lower())

    def learn_peers(self, snapshot):
        """Names of switches, which the words of a recording may share with others."""
        for device in snapshot["devices"]:
            for port in device["ports"]:
                for key in "description", "port_description":
                    name = port.get("peer", {}).get(key)
                    if name:
                        self.words.setdefault(name, f"peer-{self.hash(name)[:6]}")
        self.pattern = None

    # --- texts ------------------------------------------------------------------------------------

    def text(self, text):
        if self.pattern is None:
            names = "|".join(map(re.escape, sorted(self.words, key=len, reverse=True)))
            self.pattern = re.compile(rf"(?<![\w-])(?:{names})(?![\w-])" if names else "(?!)")
        return "\n".join(self.line(line) for line in text.split("\n"))

    def line(self, line):
        line = self.pattern.sub(lambda match: self.words[match[0]], line)
        line = SERIAL.sub(lambda match: match[1] + self.hash(match[2])[:len(match[2])], line)
        is_version = bool(VERSION.search(line))
        return FORMS.sub(lambda match: self.substitute(match, is_version), line)

    def substitute(self, match, is_version):
        word, kind = match[0], match.lastgroup
        if PUBLIC.fullmatch(word.lower()):
            return word
        if kind == "ip4":
            good = not is_version and all(int(part) < 256 for part in word.split("."))
            return self.address(word) if good else word
        if kind == "ip6" and not re.fullmatch(QUADS, word):
            return self.address(word) or word
        digits = re.sub("[:-]|^0x", "", word).lower()
        return self.in_form(word, self.digits_for(digits))

    def digits_for(self, digits):
        known = self.digits.get(digits)
        if known is None and len(digits) == 32 and digits[16:] in self.digits:
            known = digits[:16] + self.digits[digits[16:]]
        return known or self.hash(digits)[:len(digits)]

    def in_form(self, word, digits):
        """digits with the separators of word."""
        prefix, rest = ("0x", word[2:]) if word.startswith("0x") else ("", word)
        following = iter(digits)
        return prefix + "".join(each if each in ":-" else next(following) for each in rest)

    def address(self, word):
        """A substitute of the same family, or None if it is no address, such as the time of day."""
        try:
            address = ipaddress.ip_address(word)
        except ValueError:
            return None
        digits = f"{int(address):0{address.max_prefixlen // 4}x}"
        if address.version == 4:
            mapped = self.digits.get(f"{'0' * 20}ffff{digits}")
            digits = mapped[24:] if mapped else f"0a{self.hash(digits)[:6]}"
            return str(ipaddress.IPv4Address(int(digits, 16)))
        substitute = ipaddress.IPv6Address(int(self.digits_for(digits), 16))
        return substitute.exploded if len(word) == 39 else str(substitute)
