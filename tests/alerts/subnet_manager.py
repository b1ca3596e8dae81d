# SPDX-License-Identifier: Apache-2.0
"""The subnet manager of 64 nodes with eight ports each fails: one page. Meanwhile some nodes reboot."""
import tempfile

from leaf import NODES, PATIENCE, Machine, asked, check, healthy, sent, settle, tell, watched

from agent import wait  # behind leaf, which knows where it is

PORTS = [0, 3, 4, 5, 6, 9, 10, 11]  # of InfiniBand
REBOOTED = set(NODES[:3])
MASTER, STANDBY = "3", "2"


class Fabric(Machine):
    """Ports that know their subnet manager by MAD."""

    def __init__(self, binary, directory, names):
        super().__init__(binary, directory, names, "hgx-h100-ib", "")
        for port in PORTS:
            where = f"recorded/mad/mlx5_{port}/ports/1"
            self.write(f"{where}/sm_lid", "1")
            self.write(f"{where}/manager/guid", "1070:fd03:00aa:0001")

    def collect(self, what=None):
        for port in PORTS:
            self.write(f"recorded/mad/mlx5_{port}/ports/1/manager/state", STANDBY if what else MASTER)
            self.set_port(f"mlx5_{port}", "2: INIT" if what == "rebooted" else "4: ACTIVE",
                          "5: LinkUp")
        return self.samples()


def all_inhibited(manager):
    # The ports of a node share the finding that no subnet manager configures them.
    waiting, dead = len(REBOOTED), len(PORTS) * (len(NODES) - len(REBOOTED))
    return (manager.count(alertname="RdmaSubnetManagerUnhealthy") == {True: dead} and
            manager.count(alertname="RdmaPortAwaitsSubnetManager") == {True: waiting})


def complaints(binary, rules):
    with tempfile.TemporaryDirectory(prefix="rna-sm-") as directory, \
            watched(Fabric(binary, directory, asked(rules)), directory, 10) as (
                fleet, manager, prometheus):
        yield from healthy(prometheus)
        fleet.fail("dead", set(NODES) - REBOOTED)
        fleet.fail("rebooted", REBOOTED)
        wait("a page", lambda: fleet.sent, PATIENCE)
        wait("all alerts of ports are inhibited", lambda: all_inhibited(manager), PATIENCE)
        settle()
        tell(fleet, fleet.sent[0][0])
        yield from check("pages for a dead subnet manager", sent(fleet),
                         ["RdmaSubnetManagerDown critical - - -"])
        yield from check("its summary", fleet.sent[0][1]["annotations"]["summary"],
                         "rdma: 64 of 64 nodes have no working subnet manager")
