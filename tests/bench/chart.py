# SPDX-License-Identifier: Apache-2.0
"""The chart of README.md: CPU a minute of each server, as a share of the newest node_exporter."""
import html

LEFT, TOP, WIDTH, BAR, GAP = 120, 70, 520, 13, 14
COLOURS = {"agent": "#1a66c2", "floor": "#8ab4e8", "node_exporter": "#c98a2b", "newest": "#8a8a8a"}


def text(x, y, words, anchor="start", size=12, weight="normal"):
    return (f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}" fill="#222">{html.escape(words)}</text>')


def bar(x, y, width, colour):
    return f'<rect x="{x}" y="{y}" width="{max(width, 1):.1f}" height="{BAR}" fill="{colour}"/>'


def group(y, devices, values, names, scale):
    """The bars of one size. values: {server: milliseconds a minute}"""
    yield text(LEFT - 10, y + len(names) * BAR / 2 + 4, f"{devices:,} device{'s'[:devices > 1]}",
               "end")
    for number, name in enumerate(names):
        share = values[name] / values["newest"]
        top = y + number * BAR
        yield bar(LEFT, top, share * scale, COLOURS[name])
        yield text(LEFT + share * scale + 6, top + BAR - 3,
                   f"{share:.2f}  ({values[name]:,.{int(values[name] < 10)}f} ms)", size=10)


def legend(names):
    x = LEFT
    for name, words in names.items():
        yield bar(x, 40, BAR, COLOURS[name])
        yield text(x + BAR + 5, 51, words, size=11)
        x += BAR + 24 + 6.2 * len(words)


def draw(minutes, names):
    """SVG. minutes: {devices: {server: milliseconds a minute}}; names: {server: what it is called}"""
    height = len(names) * BAR + GAP
    scale = WIDTH / max(values[name] / values["newest"] for values in minutes.values()
                        for name in names)
    parts = [text(LEFT, 24, "CPU a minute, scraped each 15 s, as a share of the newest "
                  "node_exporter", size=14, weight="bold"), *legend(names)]
    for number, (devices, values) in enumerate(minutes.items()):
        parts += group(TOP + number * height, devices, values, names, scale)
    total = TOP + len(minutes) * height
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 130}" '
            f'height="{total}" font-family="sans-serif"><rect width="100%" height="100%" '
            f'fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")
