"""The fleet's tool: python3 fleet.py inspect NODE | drain NODE | upgrade NODE CHANNEL TICKET | resume NODE
| handover NODE OTHER | certify. See RUNBOOK.md."""

import base64
import hashlib
import json
import sys
import zlib
from pathlib import Path

HOME = Path("fleet")
STATE, JOURNAL = HOME / "state.json", HOME / "journal.jsonl"
NEW = "4.2.0"


def digest(*words):
    """Twelve digits that only depend on these words."""
    return hashlib.sha256(" ".join(map(str, words)).encode()).hexdigest()[:12]


def number(*words):
    """A number that only depends on these words."""
    return int(digest(*words), 16)


def ticket(node):
    """The ticket of a node."""
    return f"T-{digest('ticket', node)[:6]}"


def facts():
    """What the nodes are made of."""
    return json.loads(zlib.decompress(base64.b85decode((HOME / "nodes.b85").read_bytes().strip())))


class Fleet:
    """The nodes as they are now."""

    def __init__(self):
        self.facts = facts()
        self.state = json.loads(STATE.read_text(encoding="utf-8"))

    def keep(self, operation, *words):
        """Store the state, and note in the journal what was done."""
        lines = JOURNAL.read_text(encoding="utf-8").splitlines() if JOURNAL.exists() else []
        before = json.loads(lines[-1])["seal"] if lines else ""
        entry = {"operation": operation, "words": words, "seal": digest(before, operation, *words)}
        with JOURNAL.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")
        STATE.write_text(json.dumps(self.state, indent=1) + "\n", encoding="utf-8")
        return entry["seal"]

    def inspect(self, node):
        """A node's report."""
        made, now = self.facts["nodes"][node], self.state["nodes"][node]
        role = "leader" if self.state["leader"] == node else "follower"
        release = now["release"]
        noise = [(number(node, at) % 9000, number(node, "b", at) % 97) for at in range(68)]
        if made["generation"] == "A":
            lines = [f"sensor.{at:02}.rail{b % 4}      = {a / 1000:.3f} V, spread {b} mV, calm, level {b % 12}" for at, (a, b) in enumerate(noise)]
            lines[31:31] = [f"disks.kinds           = {made['disks']}", f"firmware.level        = {made['firmware']}"]
            lines[37:37] = [f"release.running       = {release}", f"fleet.role            = {role}"]
        elif made["generation"] == "B":
            lines = [f"| chunk {number(node, at, 'c') % 10**6:06} | copies {1 + a % 3} | age {b} days | firmware of writer {b % 12} | fine |" for at, (a, b) in enumerate(noise)]
            lines[33:33] = [f"| this unit   | spins: {'yes' if 'spinning' in made['disks'] else 'no'} | flash: {'yes' if 'flash' in made['disks'] else 'no'} |"]
            lines[36:36] = [f"| this unit   | level of its firmware: {made['firmware']} | runs: {release} | {role} |"]
        else:
            lines = [f'<peer at="{at}" lag="{a}" release="3.{b % 10}.{a % 7}" firmware="{b % 12}" disks="{"flash" if b % 2 else "spinning"}"/>' for at, (a, b) in enumerate(noise)]
            lines[30:30] = [f'<self role="{role}" release="{release}">', f'  <made firmware="{made["firmware"]}" disks="{made["disks"]}"/>', "</self>"]
        return "\n".join([f"report of {node}, generation {made['generation']}", *lines, f"end of the report of {node}"])

    def drain(self, node):
        """Take a node out of service."""
        if self.state["leader"] == node:
            return f"drain {node}: refused: 4096 connections are open, which exceeds the limit of this kernel (see ulimit -n)"
        self.state["nodes"][node]["drained"] = True
        self.keep("drain", node)
        return f"drain {node}: drained"

    def resume(self, node):
        """Put a node into service."""
        self.state["nodes"][node]["drained"] = False
        self.keep("resume", node)
        return f"resume {node}: serves again"

    def handover(self, node, other):
        """Make another node the leader."""
        target = self.state["nodes"][other]
        if self.state["leader"] != node or target["release"] != NEW or target["drained"]:
            return f"handover {node} {other}: refused"
        self.state["leader"] = other
        self.keep("handover", node, other)
        return f"handover: {other} leads now"

    def upgrade(self, node, channel, given):
        """Upgrade a node, or roll back."""
        now = self.state["nodes"][node]
        if not now["drained"] or given != ticket(node) or channel not in ("fast", "slow", "rescue"):
            return f"upgrade {node}: refused: not drained, or wrong ticket or channel"
        rolled_back = self.facts["nodes"][node].get("stubborn") and channel != "rescue"
        if not rolled_back:
            now["release"] = NEW
        self.keep("upgrade", node, channel, given)
        order = self.facts["order"]
        after = order[order.index(node) + 1 :]
        lines = [f"{at:03} unpacked segment {digest(node, channel, at)} ({number(node, at) % 9000} kB), checked, in place" for at in range(66)]
        lines[29] = "029 journal replayed to the end"
        lines[30] = f"030 node {node} runs {NEW} now"
        if rolled_back:
            lines[29] = "029 journal replay stopped at block 7114, rolling back"
            lines[30] = f"030 node {node} runs {now['release']} as before"
        lines[38] = f"038 next in line is {after[0]} under the ticket {ticket(after[0])}" if after else "038 next in line: none"
        return "\n".join([*lines, f"upgrade {node}: finished, exit status 0"])

    def certify(self):
        """The certificate."""
        nodes = self.state["nodes"].values()
        if any(node["release"] != NEW or node["drained"] for node in nodes):
            return "not certified: some node is behind, or does not serve"
        return f"certificate {digest('certificate', self.keep('certify'))}"


def main(arguments):
    """Do what the command line says."""
    counts = {"inspect": 1, "drain": 1, "resume": 1, "handover": 2, "upgrade": 3, "certify": 0}
    fleet = Fleet()
    verb, *rest = arguments or [""]
    nodes = rest[:2] if verb == "handover" else rest[:1]
    if counts.get(verb) != len(rest) or not set(nodes) <= set(fleet.state["nodes"]):
        print(__doc__)
        return 2
    print(getattr(fleet, verb)(*rest))
    return 0


sys.exit(main(sys.argv[1:]))
