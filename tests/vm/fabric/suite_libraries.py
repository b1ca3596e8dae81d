# SPDX-License-Identifier: Apache-2.0
"""UCX and Open MPI between two nodes, with the variables that the agent gives, and without.

Each rail has an address of a network that no other node answers in, and then its own; on node1 these
have other indexes of the GID table. A third device is on the interface for management, where the
default route goes. The counters of each device tell what it carried.

RNA_LIBRARIES_ROOT is a Debian whose UCX is tried instead (tests/platforms/debian make).
"""
import itertools
import json
import os
import re
import shlex

import frames
import lab

NODES, RAILS = 2, 2
DEVICES = ("rxe0", "rxe1", "rxe9")
STRANGE = "192.0.2."
RAILS_APART = '"r0=10.77.0.0/24", "r1=10.77.1.0/24"'
ONE_NETWORK = '"all=10.77.0.0/16"'
CHECK = "UCX_UD_VERBS_ETH_DGID_CHECK"
DEFAULT_CLASS = 106  # UCT_IB_DEFAULT_ROCEV2_DSCP in src/uct/ib/base/ib_device.h of UCX
ROOT = os.environ.get("RNA_LIBRARIES_ROOT", "")
LIMIT = 120  # seconds of a program; UCX itself gives up after 30
MPI_PROGRAM = "/usr/bin/python3 -m mpi4py.bench ringtest -n 1000 -l 20"

# arp_ignore=2: a node answers ARP only within the prefix of an address, and each of STRANGE has one of
# its own.
SET_UP = """
hostname node$node
sysctl -q -w net.ipv4.conf.all.arp_ignore=2
for rail in 0 1; do
	ip address del 10.77.$rail.$((node + 1))/24 dev rail$rail
	for ((number = 0; number <= node; number++)); do
		ip address add {strange}$((10 * number + node + 1))/32 dev rail$rail || exit 1
	done
	ip address add 10.77.$rail.$((node + 1))/24 dev rail$rail || exit 1
done
ip neigh flush all
new_rxe rxe9 manage && ip route add default via 10.78.0.254 dev manage || exit 1
[ -z "{root}" ] || for directory in proc sys dev; do
	mount --rbind /$directory {root}/$directory || exit 1
done
"""


class Outcome:
    def __init__(self, status, output, before, after):
        self.good, self.output = status == 0, output
        self.moved = {device for device in DEVICES
                      if all(end[device] > begin[device] for begin, end in zip(before, after))}
        self.lanes = set(re.findall(r"/(rxe\d):1", " ".join(re.findall(r"tag\(([^)]*)\)", output))))

    def __str__(self):
        return f"good: {self.good}, moved: {self.moved}, lanes: {self.lanes}\n{self.output}"


class Nodes:
    def __init__(self, one_lab, program):
        self.nodes, self.program = one_lab.nodes, program
        self.ports = itertools.count(5000)
        for status, output in one_lab.run_all(SET_UP.format(strange=STRANGE, root=ROOT)):
            if status:
                raise RuntimeError(output)
        enter = f"chroot {ROOT} " if ROOT else ""
        version = self.nodes[0].must(f"{enter}ucx_info -v", LIMIT)
        self.version = [int(part) for part in re.search(r"ersion:? ([\d.]+)", version)[1].split(".")]
        # A UCX with MPI takes itself for a process of a job if it has no terminal.
        has_mpi = "-P <0|1>" in self.nodes[0].run(f"{enter}ucx_perftest -h", LIMIT)[1]
        self.perftest = f"{enter}ucx_perftest -t tag_lat -w 2{' -P 0' if has_mpi else ''}"

    def advice(self, library, networks):
        """What the agent of each node says, from its JSON."""
        command = (f"echo 'fabric: {{networks: [{networks}]}}' >/run/env.yaml\n"
                   f"{self.program} env --for={library} --format=json --config /run/env.yaml")
        return [json.loads(node.must(command)) for node in self.nodes]

    def counters(self):
        command = " ".join(["cat", *(f"/sys/class/infiniband/{device}/ports/1/hw_counters/sent_pkts"
                                     for device in DEVICES)])
        return [dict(zip(DEVICES, map(int, node.must(command).split()))) for node in self.nodes]

    def measure(self, variables, size=64, count=20, limit=LIMIT):
        """A perftest, with variables of each node."""
        port, before = next(self.ports), self.counters()
        server, client = [f"{assigned(one)} UCX_LOG_LEVEL=info timeout {limit} {self.perftest} "
                          f"-s {size} -n {count} -p {port}" for one in variables]
        self.nodes[0].must(f"{{ {server}; }} >/run/server 2>&1 </dev/null &\necho $! >/run/server.pid\n"
                           f"within 60 eval 'ss -ltn | grep -q :{port}'", 240)
        status, output = self.nodes[1].run(f"{client} 10.78.0.1 2>&1", limit + 60)
        _, other = self.nodes[0].run("kill $(</run/server.pid) 2>/dev/null; cat /run/server")
        return Outcome(status, f"{other}\n{output}", before, self.counters())

    def run_mpi(self, variables):
        """Two processes of a job, one on each node."""
        before = self.counters()
        ranks = " : ".join(f"-np 1 -H 10.78.0.{number} {assigned(one)} UCX_LOG_LEVEL=info {MPI_PROGRAM}"
                           for number, one in enumerate(variables, 1))
        status, output = self.nodes[0].run(
            f"cd /tmp; timeout {2 * LIMIT} mpirun --allow-run-as-root --mca plm_rsh_agent {lab.HERE}/rsh "
            f"--mca oob_tcp_if_include manage {ranks} 2>&1", 3 * LIMIT)
        return Outcome(status, output, before, self.counters())


def assigned(variables):
    """A command that has them in its environment, and no others of a library."""
    return " ".join(["env", *(shlex.quote(f"{name}={value}") for name, value in variables.items())])


def of(advice, without=(), **more):
    """The variables of each node, but for some, and with others."""
    return [{**{variable["name"]: variable["value"] for variable in one["variables"]
                if variable["name"] not in without}, **more} for one in advice]


def check_ports(nodes, report, advice):
    """Only the rails are listed, UCX uses what is listed, and nothing else carries anything."""
    report.same("the rails, not the interface for management", {"rxe0:1,rxe1:1"},
                {one["UCX_NET_DEVICES"] for one in of(advice)})
    outcome = nodes.measure(of(advice), size=1 << 20, count=3)
    report.check("both rails carry a large message", outcome.good
                 and outcome.lanes == outcome.moved == {"rxe0", "rxe1"}, outcome)
    for device in ("rxe0", "rxe1"):
        outcome = nodes.measure(of(advice, UCX_NET_DEVICES=f"{device}:1"))
        report.check(f"given {device} alone, it alone carries", outcome.good
                     and outcome.lanes == outcome.moved == {device}, outcome)


def check_index(nodes, report, advice):
    report.same("the index of each node", ["2", "3"], [one.get("UCX_IB_GID_INDEX") for one in of(advice)])
    outcome = nodes.measure(of(advice, without=["UCX_IB_GID_INDEX"]))
    report.check("without it UCX uses the strange address, and fails",
                 not outcome.good and STRANGE in outcome.output, outcome)
    # Only node0 finds the error; node1 waits.
    outcome = nodes.measure(of(advice, UCX_IB_GID_INDEX="2"), limit=45)
    report.check("with that of the other node as well", not outcome.good and STRANGE in outcome.output,
                 outcome)


def check_prefix(nodes, report):
    """Which versions have UCX_IB_ROCE_SUBNETS, and that others have the index of the warning."""
    advice = nodes.advice("ucx", ONE_NETWORK)
    report.same("the prefix of one network", {"10.77.0.0/16"},
                {one.get("UCX_IB_ROCE_SUBNETS") for one in of(advice)})
    outcome = nodes.measure(of(advice))
    if nodes.version >= [1, 18]:
        report.check("the prefix alone is enough", outcome.good, outcome)
        return
    report.check("before UCX 1.18 it is ignored", not outcome.good
                 and "unused env variable: UCX_IB_ROCE_SUBNETS" in outcome.output, outcome)
    indexes = [re.findall(r"there set UCX_IB_GID_INDEX=(\d+)", " ".join(one["warnings"])) for one in advice]
    if report.same("the warning names the index of each node", [["2"], ["3"]], indexes):
        variables = [{**one, "UCX_IB_GID_INDEX": index[0]} for one, index in zip(of(advice), indexes)]
        outcome = nodes.measure(variables)
        report.check("which is enough there", outcome.good, outcome)


def check_datagrams(nodes, report, advice, switches):
    """UCX before 1.19 drops datagrams over IPv4, for rxe does not tell them from those over IPv6."""
    report.same("the check of datagrams is off", {"n"}, {one.get(CHECK) for one in of(advice)})
    outcome = nodes.measure(of(advice, without=[CHECK]))
    if nodes.version >= [1, 19]:
        report.check("it need not be", outcome.good, outcome)
    else:
        report.check("with it UCX does not connect", not outcome.good and "timeout" in outcome.output,
                     outcome)
    classes = {frames.traffic_class(frame) for rail in range(RAILS) for frame in switches.recorded(0, rail)}
    report.same("the traffic class that UCX has by itself", {DEFAULT_CLASS}, classes)


def check_open_mpi(nodes, report):
    advice = nodes.advice("openmpi", RAILS_APART)
    nodes.nodes[1].must("setsid busybox nc -ll -p 1023 -e /bin/bash >/dev/null 2>&1 </dev/null &\n"
                        "within 20 eval 'ss -ltn | grep -q :1023'")
    outcome = nodes.run_mpi(of(advice))
    report.check("Open MPI: a job uses the rails", outcome.good and "time for 20 loops" in outcome.output
                 and outcome.moved and outcome.moved <= {"rxe0", "rxe1"}, outcome)
    # Without Debian's own settings, "pml = ^ucx" among them. TCP would take the strange address as well.
    outcome = nodes.run_mpi(of(advice, without=["OMPI_MCA_pml"], OMPI_MCA_mca_base_param_files="/dev/null",
                               OMPI_MCA_btl_tcp_if_include="manage"))
    report.check("Open MPI: by itself it prefers TCP", outcome.good and not outcome.moved, outcome)
    outcome = nodes.run_mpi(of(advice, without=["UCX_IB_GID_INDEX"]))
    report.check("Open MPI: with the strange address it fails, and does not go on over TCP",
                 not outcome.good and STRANGE in outcome.output, outcome)


def run(results, report, agent, _cases):
    with lab.Lab(results, nodes=NODES, rails=RAILS, limit=2400) as one_lab:
        one_lab.switches.layout("rail")
        nodes = Nodes(one_lab, agent)
        report.note(f"UCX {'.'.join(map(str, nodes.version))}")
        advice = nodes.advice("ucx", RAILS_APART)
        check_ports(nodes, report, advice)
        check_index(nodes, report, advice)
        check_prefix(nodes, report)
        check_datagrams(nodes, report, advice, one_lab.switches)
        if not ROOT:
            check_open_mpi(nodes, report)
