# SPDX-License-Identifier: Apache-2.0
"""The tree of files that a machine is unpacked to."""
import os
import shutil


class Tree:
    """Writes below one directory; paths are relative to it and without a leading slash."""

    def __init__(self, root):
        self.root = root

    def at(self, path):
        return os.path.join(self.root, path)

    def write(self, path, content):
        self.clear(path)
        with open(self.at(path), "wb") as file:
            file.write(content)

    def write_line(self, path, text):
        self.write(path, text.encode() + b"\n")

    def read(self, path):
        """The text of a file without its line end, or None."""
        if not os.path.isfile(self.at(path)):
            return None
        with open(self.at(path), encoding="utf-8") as file:
            return file.read().strip()

    def clear(self, path):
        """Makes room for path: its directory exists, the path itself does not."""
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        self.remove(path)

    def remove(self, path):
        if os.path.isdir(self.at(path)) and not os.path.islink(self.at(path)):
            shutil.rmtree(self.at(path))
        elif os.path.lexists(self.at(path)):
            os.unlink(self.at(path))

    def link(self, path, target):
        """A relative link; target is a path of the tree as well."""
        self.clear(path)
        os.symlink(os.path.relpath(self.at(target), os.path.dirname(self.at(path))), self.at(path))
