# SPDX-License-Identifier: Apache-2.0
"""Performance data, as Monitoring::Plugin (libmonitoring-plugin-perl) reads it."""
import json
import subprocess
import unittest

from nodes import command, node

PARSER = """
use strict; use warnings; use JSON::PP;
use Monitoring::Plugin::Performance use_die => 1;
my $line = <STDIN>; chomp $line;
my ($text, $data) = split /\\|/, $line, 2;
my %found;
for my $item (Monitoring::Plugin::Performance->parse_perfstring($data)) {
    my $range = $item->threshold;
    $found{$item->label} = {value => $item->value + 0, uom => $item->uom, min => $item->min,
        max => $item->max, warning => $range->warning->is_set ? "" . $range->warning : undef,
        critical => $range->critical->is_set ? "" . $range->critical : undef,
        status => $range->get_status($item->value)};
}
print encode_json(\\%found);
"""
OK, WARNING, CRITICAL = range(3)


def has_parser():
    return subprocess.run(["perl", "-MMonitoring::Plugin::Performance", "-e", "1"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(has_parser(), "libmonitoring-plugin-perl is not installed")
class PerformanceData(unittest.TestCase):
    def parse(self, state):
        with node(state) as root:
            text = subprocess.run(command("nagios", "--root", root), stdout=subprocess.PIPE,
                                  text=True, check=False).stdout
            document = json.loads(subprocess.run(command("json", "--root", root), text=True,
                                                 stdout=subprocess.PIPE, check=False).stdout)
        self.assertEqual(text.count("|"), 1, text)
        done = subprocess.run(["perl", "-e", PARSER], input=text, stdout=subprocess.PIPE, text=True,
                              check=True)
        return json.loads(done.stdout), document

    def test_values(self):
        found, document = self.parse("ok")
        self.assertEqual(set(found), {"devices", "ports_up", "critical", "warning", "info"})
        for name in "devices", "ports_up":
            self.assertEqual(found[name]["value"], document["inventory"][name])
        self.assertEqual(found["info"]["value"], document["counts"]["info"])
        self.assertEqual(int(found["ports_up"]["max"]), document["inventory"]["ports"])
        self.assertEqual({item["status"] for item in found.values()}, {OK})

    def test_ranges(self):
        """What alerts by its range is what has a finding."""
        found, document = self.parse("critical")
        self.assertEqual(found["ports_up"]["critical"],
                         f"{document['inventory']['ports_expected_up']}:")
        self.assertEqual({name: item["status"] for name, item in found.items()},
                         {"devices": OK, "ports_up": CRITICAL, "critical": CRITICAL, "warning": OK,
                          "info": OK})
        found, _ = self.parse("warning")
        self.assertEqual({name for name, item in found.items() if item["status"] != OK}, {"warning"})
        self.assertEqual(found["warning"]["status"], WARNING)
