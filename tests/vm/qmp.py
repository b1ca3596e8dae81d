#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""qmp.py COMMAND [NAME=VALUE...]: have QEMU do something, from inside the VM."""
import glob
import json
import sys


class Qmp:
    """QEMU's own control; vm leads it to a port of the guest (module virtio_console)."""

    def __init__(self):
        self.port = open(glob.glob("/dev/vport*p1")[0], "r+b", buffering=0)
        self.execute("qmp_capabilities")  # an error means that it was done before

    def execute(self, command, **arguments):
        request = {"execute": command, "arguments": arguments}
        self.port.write(json.dumps(request).encode() + b"\n")
        while True:
            reply = json.loads(self.port.readline())
            if "error" in reply and command != "qmp_capabilities":
                raise SystemExit(f"QMP {command}: {reply['error']['desc']}")
            if "return" in reply or "error" in reply:  # else it greets, or tells of an event
                return


if __name__ == "__main__":
    words = {"true": True, "false": False}
    pairs = (argument.split("=", 1) for argument in sys.argv[2:])
    Qmp().execute(sys.argv[1], **{name: words.get(value, value) for name, value in pairs})
