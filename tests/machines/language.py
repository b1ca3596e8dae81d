# SPDX-License-Identifier: Apache-2.0
"""The two languages of recorded machines, models and machine files; README.md describes them."""
import fnmatch
import os
import re
import shlex

import pci

HERE = os.path.dirname(os.path.abspath(__file__))
SCOPES = ("pci", "parent", "device", "port", "net", "verbs", "drm", "kfd", "root", "ethtool",
          "statistic")


def lines(path):
    """Yields (place, verb, rest) of each line that says something."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if line and not line.startswith("#"):
                verb, _, rest = line.partition(" ")
                yield f"{path}:{number}", verb, rest.strip()


def split(place, text, operator):
    left, found, right = text.partition(f" {operator}")
    if not found:
        raise SystemExit(f"{place}: expected 'NAME {operator} VALUE'")
    return left.strip(), right.strip()


class Model:
    """The files of one kind of device, with {placeholders}."""

    loaded = {}

    @classmethod
    def load(cls, place, name):
        if name not in cls.loaded:
            path = f"{HERE}/models/{name}.model"
            if not os.path.exists(path):
                raise SystemExit(f"{place}: no model '{name}'")
            cls.loaded[name] = cls(path)
        return cls.loaded[name]

    def __init__(self, path):
        self.defaults, self.files = {}, {}
        for place, verb, rest in lines(path):
            if verb == "base":
                base = Model.load(place, rest)
                self.defaults.update(base.defaults)
                self.files.update(base.files)
            elif verb == "default":
                key, value = split(place, rest, "=")
                self.defaults[key] = value
            elif verb == "remove":
                self.remove(place, rest)
            else:
                self.add_file(place, f"{verb} {rest}")

    def remove(self, place, pattern):
        gone = fnmatch.filter(self.files, pattern)
        if not gone:
            raise SystemExit(f"{place}: there is no {pattern} to remove")
        for file in gone:
            del self.files[file]

    def add_file(self, place, text):
        operator = re.search(r" ([=~])", text)
        if not operator or text.split("/")[0] not in SCOPES:
            raise SystemExit(f"{place}: expected 'SCOPE/FILE = TEXT' or 'SCOPE/FILE ~ LOW..HIGH'")
        name, value = split(place, text, operator[1])
        self.files[name] = (operator[1], value)


class Machine:
    """A machine file and all that it is based on."""

    VERBS = ("write", "bytes", "remove", "fifo", "link", "mode", "directory", "ethtool",
             "statistic", "message")

    def __init__(self, path):
        self.devices, self.netdevs, self.functions, self.edits = {}, {}, {}, []
        self.dcb, self.vlans = {}, {}
        self.processors = None
        self.read(path)

    def read(self, path):
        for place, verb, rest in lines(path):
            if verb == "base":
                self.read(f"{HERE}/{rest}/machine")
            elif verb in ("device", "netdev", "function"):
                name, settings = self.settings(rest)
                known = getattr(self, f"{verb}s")
                known.setdefault(name, {}).update(settings)
                known[name].setdefault("place", place)
            elif verb in ("dcb", "vlan"):
                name, settings = self.settings(rest)
                known = self.dcb if verb == "dcb" else self.vlans
                known.setdefault(name, {"place": place}).update(settings)
            elif verb == "virtual_functions":
                self.add_virtual_functions(place, *self.settings(rest))
            elif verb == "processors":
                self.processors = dict(word.split("=", 1) for word in rest.split())
            elif verb in self.VERBS:
                self.edits.append((place, verb, rest))
            else:
                raise SystemExit(f"{place}: '{verb}' is no statement; see README.md")

    def settings(self, text):
        name, *settings = shlex.split(text)
        return name, dict(setting.split("=", 1) for setting in settings)

    def add_virtual_functions(self, place, physfn, settings):
        """So many functions behind physfn, which nothing but a virtual machine may use."""
        count = int(settings.pop("count"))
        for number in range(1, count + 1):
            self.functions[pci.next_function(physfn, number)] = {
                "place": place, "model": "virtual-function", "physfn": physfn, **settings}
