# SPDX-License-Identifier: Apache-2.0
"""The table of measurements and their limits by number of devices.

A goal for 8 devices also applies to fewer. The project set the goals before it was written, for a
virtual machine with two cores; on other machines the ratio to node_exporter, measured at the same
time, is more significant.
"""
from dataclasses import dataclass, field


@dataclass
class Row:
    key: str
    text: str
    unit: str = ""
    goals: dict = field(default_factory=dict)  # {devices: number}
    stretch: dict = field(default_factory=dict)
    more_is_better: bool = False
    compared: bool = True  # with node_exporter, as a ratio

    def goal(self, devices):
        """That of the smallest number of devices that is not below, or None."""
        return next((self.goals[n] for n in sorted(self.goals) if n >= devices), None)

    def meets(self, value, goal):
        return value >= goal if self.more_is_better else value <= goal

    def verdict(self, devices, value):
        """"stretch", "met", "missed", or "" where there is no goal or no value."""
        goal, stretch = self.goal(devices), self.stretch.get(devices)
        if goal is None or value is None:
            return ""
        if not self.meets(value, goal):
            return "missed"
        return "stretch" if stretch is not None and self.meets(value, stretch) else "met"


ROWS = (
    Row("minute", "CPU a minute as it is by default, with a gzip scrape each 15 s", "ms"),
    Row("minute_share", "the same, as a share of node_exporter", "",
        {1: 1, 8: 1, 64: 1, 512: 1}, compared=False),
    Row("minute_newest", "the same, as a share of the newest node_exporter", "",
        {8: 0.25, 64: 0.22, 512: 0.28}, {8: 0.16, 64: 0.12, 512: 0.23}, compared=False),
    Row("minute_floor", "the same, as a multiple of bare reads of the same files", "",
        compared=False),
    Row("cold_cpu", "CPU of one poll and one gzip scrape, a second apart from the next", "ms",
        {8: 1.5, 64: 10, 512: 130}, {512: 60}),
    Row("cold_ratio", "the same, times less than node_exporter", "",
        {8: 3.5, 64: 2.8, 512: 1.6}, more_is_better=True, compared=False),
    Row("hot_plain", "CPU of one more scrape, plain", "ms", {8: 0.06, 64: 0.1, 512: 0.6}),
    Row("hot_gzip", "CPU of one more scrape, gzip", "ms", {8: 0.06, 64: 0.1, 512: 0.1}),
    Row("wall", "scrape, once a second, median", "ms", {8: 0.6, 64: 0.7, 512: 1}),
    Row("wall_max", "scrape, once a second, longest", "ms", {8: 3, 64: 5, 512: 5}),
    Row("hang_wall", "scrape while a device hangs, median", "ms", {8: 0.6, 64: 0.7, 512: 1}),
    Row("hang_wall_max", "scrape while a device hangs, longest", "ms", {8: 3, 64: 5, 512: 5}),
    Row("rss", "memory (RSS) after 1,000 scrapes", "MB", {8: 10, 64: 11, 512: 18}),
    Row("rss_anon", "of it anonymous", "MB", {8: 3, 64: 4, 512: 10}),
    Row("rss_growth", "growth of RSS over 10,000 more scrapes and half a minute of polls", "kB",
        {8: 256, 512: 1024}),
    Row("start", "exec to the first full answer, fastest", "ms", {8: 15, 64: 40, 512: 200}),
    Row("start_cpu", "CPU until then", "ms"),
    Row("throughput", "scrapes per second, 8 clients", "", {8: 30000, 64: 10000, 512: 2000},
        more_is_better=True),
    Row("scrape_calls", "system calls of a scrape", "", {8: 6, 512: 12}),
    Row("file_calls", "system calls of a poll, for each file that it reads", "",
        {8: 1.1, 512: 3.1}),
    Row("poll_calls", "system calls of a poll", ""),
    Row("descriptors", "open descriptors", "", {8: 512, 64: 4096, 512: 1100}, compared=False),
    Row("idle_wakeups", "wake-ups a minute between polls", "", {512: 0}),
    Row("idle_cpu", "CPU a minute between polls", "ms", {512: 1}),
    Row("series", "samples in an answer", "", compared=False),
    Row("plain_body", "bytes of an answer, plain", "", compared=False),
    Row("body", "bytes of an answer, gzip", "", compared=False),
)
