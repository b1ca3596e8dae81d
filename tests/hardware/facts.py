# SPDX-License-Identifier: Apache-2.0
"""Facts: what a tool says of an object, and where the agent says it.

A node changes while it is looked at. So the tools are asked, then the agent, then the tools again:
the agent agrees if it says what they said before or after, or a number in between if it moves.
"""
from tools import NotTried

UNSAID = object()  # the tool does not say it, so there is nothing to compare
AGREES, DIFFERS, NOT_TRIED = "agrees", "differs", "not tried"
# What a parser raises for an output that it does not expect.
NOT_UNDERSTOOD = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, SyntaxError,
                  TypeError, ValueError)


class Fact:
    """theirs: the tool's value; ours: a function that takes it from the Agent.

    moves: it changes by itself, as counters do; slack: how far apart equal values may be, where a
    tool rounds.
    """

    def __init__(self, tool, thing, name, theirs, ours, moves=False, slack=0):
        self.tool, self.thing, self.name = tool, thing, name
        self.theirs, self.ours, self.moves, self.slack = theirs, ours, moves, slack
        self.origin = None  # the part and the object that it came from

    def key(self):
        return self.tool, self.thing, self.name


class Row:
    """One line of the table: a fact that was judged, or why there is none."""

    def __init__(self, verdict, tool, thing, name, theirs=None, ours=None):
        self.verdict, self.tool, self.thing, self.name = verdict, tool, thing, name
        self.theirs, self.ours = theirs, ours

    def text(self):
        if self.verdict == NOT_TRIED:
            return f"{self.thing}: {self.tool}: not tried: {self.theirs}"
        return f"{self.thing}: {self.name}: {self.tool} says {self.theirs}, the agent {self.ours}"


def not_tried(tool, thing, reason):
    return Row(NOT_TRIED, tool, thing or "node", "", reason)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def agree(fact, later, ours):
    """Whether the agent's value is that of the tool, at the first look or at the later one."""
    values = [fact.theirs] if later is None else [fact.theirs, later.theirs]
    if ours in values:
        return True
    if not is_number(ours) or not all(map(is_number, values)):
        return False
    if fact.moves and min(values) <= ours <= max(values):
        return True
    return any(abs(value - ours) <= fact.slack for value in values)


def gather(tools, origins):
    """(facts, rows of what was not tried) of parts, functions that yield the facts of one thing."""
    facts, untried = [], []
    for tool, part, thing in origins:
        try:
            for fact in part(tools, *thing):
                fact.origin = tool, part, thing
                facts += [fact] if fact.theirs is not UNSAID else []
        except NotTried as error:
            untried.append(not_tried(tool, "/".join(thing), str(error)))
        except NOT_UNDERSTOOD as error:
            untried.append(not_tried(tool, "/".join(thing), f"output not understood: {error!r}"))
    return facts, untried


def origins_of(tables, tools, devices):
    """What there is to gather: each part of the tables with each of its things."""
    things = {"node": [()], "device": [(device,) for device in devices],
              "port": [(device, port) for device in devices for port in tools.ports(device)]}
    return [(tool, part, thing) for table in tables for scope, tool, part in table
            for thing in things[scope]]


def judge(facts, agent, later=()):
    """Rows of facts, in their order."""
    afterwards = {fact.key(): fact for fact in later}
    rows = []
    for fact in facts:
        ours = fact.ours(agent)
        good = agree(fact, afterwards.get(fact.key()), ours)
        rows.append(Row(AGREES if good else DIFFERS, fact.tool, fact.thing, fact.name,
                        fact.theirs, ours))
    return rows


# --- where the agent says it ----------------------------------------------------------------------

def metric(name, device, port=None, **labels):
    if port is not None:
        labels["port"] = port
    return lambda agent: agent.value(name, device=device, **labels)


def label(name, key, device, port=None, form=str):
    labels = {"device": device} if port is None else {"device": device, "port": port}

    def ours(agent):
        found = agent.label(name, key, **labels)
        return None if found is None else form(found)
    return ours


def of_device(device, *path):
    return lambda agent: walk(agent.device(device), path)


def of_port(device, port, *path):
    return lambda agent: walk(agent.port(device, port), path)


def walk(value, path):
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
