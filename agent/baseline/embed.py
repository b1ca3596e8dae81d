#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the shipped profiles as C: embed.py OUTPUT FILE..."""
import os
import sys


def literal(data):
    """String literals, one for each line of the file, as ISO C limits their length."""
    lines = data.decode("utf-8").splitlines(keepends=True)
    for line in lines:
        escaped = "".join(c if " " <= c <= "~" and c not in '"\\?' else
                          "".join(f"\\{byte:03o}" for byte in c.encode()) for c in line)
        yield f'\t "{escaped}"'


def main():
    output, *files = sys.argv[1:]
    with open(output, "w", encoding="ascii") as out:
        out.write("/* Made by embed.py of the files in agent/baseline/shipped. */\n"
                  '#include "baseline/profile.h"\n\n'
                  '#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
                  "const struct rna_profile_text rna_profile_texts[] = {\n")
        for path in sorted(files):
            with open(path, "rb") as file:
                data = file.read()
            text = "\n".join(literal(data)) or '\t ""'
            out.write(f'\t{{"{os.path.basename(path)}",\n{text},\n\t {len(data)}}},\n')
        out.write("\t{0},\n};\n")


main()
