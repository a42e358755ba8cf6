"""Which lines of a rule set some packet hits, by Z3: /usr/bin/python3 scripts/golden-cover.py < LINES, see golden-cover.mjs.

A line is | src | srcMask | dst | dstMask | sport low | high | dport low | high | protocol | mask |, best line first.
Writes a JSON object with the version and, for each line, whether a packet takes it and no line before it.
"""
import json
import sys

from z3 import And, BitVec, Bool, Implies, Not, Or, Solver, ULE, get_version_string, sat

TCP, UDP = 6, 17
src, dst = BitVec("src", 32), BitVec("dst", 32)
sport, dport = BitVec("sport", 16), BitVec("dport", 16)
protocol = BitVec("protocol", 8)
# False for fragments without ports, and for protocols other than TCP and UDP.
has_ports = Bool("has_ports")


def ports(field, low, high):
    if (low, high) == (0, 0xFFFF):
        return True
    return And(has_ports, ULE(low, field), ULE(field, high))


def takes(line):
    a, a_mask, b, b_mask, s_low, s_high, d_low, d_high, p, p_mask = line
    return And(
        src & a_mask == a,
        dst & b_mask == b,
        ports(sport, s_low, s_high),
        ports(dport, d_low, d_high),
        protocol & p_mask == p,
    )


def live(lines, space):
    solver = Solver()
    solver.add(space)
    answers = []
    for line in lines:
        solver.push()
        solver.add(takes(line))
        answer = solver.check()
        assert str(answer) in ("sat", "unsat"), answer
        answers.append(answer == sat)
        solver.pop()
        solver.add(Not(takes(line)))
    return answers


lines = json.load(sys.stdin)
has_header = Or(protocol == TCP, protocol == UDP)
json.dump(
    {
        "version": get_version_string(),
        "frames": live(lines, Implies(has_ports, has_header)),
        "tuples": live(lines, has_ports),
    },
    sys.stdout,
)
