#!/usr/bin/env python3
"""What Linux says of the frames of random TCP connections: new, established or invalid, and what it logs. As root:

    sysctl -w net.netfilter.nf_log_all_netns=1
    unshare -n python3 scripts/golden-conntrack.py > test/golden/conntrack.json

The kernel forwards between two veth pairs; a rule of nftables writes the state that its connection tracking found into the
DSCP of each frame. Mid-stream pick-up is off (nf_conntrack_tcp_loose), which devices do not have.
"""
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 7
CONNECTIONS = 1000
STATES = {1: "invalid", 2: "new", 3: "established"}
FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32
CLIENT, SERVER = "10.0.0.1", "10.0.1.1"
MASK = 0xFFFFFFFF

SETUP = """
ip link set lo up
ip link add a0 type veth peer name a1
ip link add b0 type veth peer name b1
ip link set a0 up promisc on mtu 9000
ip link set b0 up promisc on mtu 9000
ip addr add 10.0.0.254/24 dev a1
ip addr add 10.0.1.254/24 dev b1
ip link set a1 up mtu 9000 address 02:00:00:00:00:a1
ip link set b1 up mtu 9000 address 02:00:00:00:00:b1
ip neigh replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev a1
ip neigh replace 10.0.1.1 lladdr 02:00:00:00:00:02 dev b1
sysctl -qw net.ipv4.ip_forward=1
sysctl -qw net.ipv4.conf.all.rp_filter=0
sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0
sysctl -qw net.netfilter.nf_conntrack_checksum=0
sysctl -qw net.netfilter.nf_conntrack_log_invalid=6
nft add table ip t
nft add chain ip t c { type filter hook prerouting priority -100 ; }
nft add rule ip t c ct state invalid ip dscp set 1
nft add rule ip t c ct state new ip dscp set 2
nft add rule ip t c ct state established ip dscp set 3
"""


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(ident, port, one):
    """A frame of a row: [side, flags, seq, ack, win, bytes of payload, options in hexadecimal]."""
    side, flags, seq, ack, win, size, options = one
    options = bytes.fromhex(options)
    source, target = (CLIENT, SERVER) if side == 0 else (SERVER, CLIENT)
    ports = (port, 80) if side == 0 else (80, port)
    tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, (5 + len(options) // 4) << 4, flags, win, 0, 0) + options + b"x" * size
    pseudo = socket.inet_aton(source) + socket.inet_aton(target) + struct.pack(">HH", 6, len(tcp))
    tcp = tcp[:16] + struct.pack(">H", checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), ident, 0x4000, 64, 6, 0, socket.inet_aton(source), socket.inet_aton(target))
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    macs = ("020000000001", "0200000000a1") if side == 0 else ("020000000002", "0200000000b1")
    return bytes.fromhex(macs[1] + macs[0] + "0800") + ip + tcp


class Side:
    def __init__(self, draw):
        self.iss = draw.choice([draw.getrandbits(32), MASK - draw.randrange(3000)])
        self.next = self.iss
        self.win = draw.choice([0, 1, 512, 8192, 29200, 65535])
        self.scale = draw.choice([None, 0, 2, 7, 14])
        self.sack = draw.random() < 0.7
        self.finished = False


def options(draw, side, syn):
    if not syn:
        return "0101080a0000000100000000" if draw.random() < 0.2 else ""
    text = "020405b4"
    if side.sack:
        text += "04020101"
    if side.scale is not None:
        text += f"0303{side.scale:02x}01"
    return text


def connection(draw):
    """The frames of a connection: a plausible one, with what goes wrong on networks and what attackers send."""
    sides = [Side(draw), Side(draw)]
    rows = []

    def send(side, flags, size=0, seq=None, ack=None, win=None, opts=None, counts=True):
        me, other = sides[side], sides[1 - side]
        seq = me.next if seq is None else seq & MASK
        ack = (other.next if ack is None else ack & MASK) if flags & ACK else 0
        win = me.win if win is None else win
        opts = options(draw, me, bool(flags & SYN)) if opts is None else opts
        rows.append([side, flags, seq, ack, win, size, opts])
        if counts:
            me.next = (me.next + size + (1 if flags & SYN else 0) + (1 if flags & FIN else 0)) & MASK

    def odd():
        """A frame that need not belong there."""
        side = draw.randrange(2)
        me, other = sides[side], sides[1 - side]
        far = draw.choice([1, 2, 100, 1460, 65535, 70000, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31])
        kind = draw.randrange(14)
        if kind == 0 and rows:
            rows.append(list(draw.choice(rows)))
        elif kind == 1:
            send(side, ACK, draw.choice([0, 1, 1460]), seq=me.next + far, counts=False)
        elif kind == 2:
            send(side, ACK, 0, ack=other.next + far, counts=False)
        elif kind == 3:
            send(side, ACK, 0, ack=other.next - far, counts=False)
        elif kind == 4:
            send(side, ACK, 1, seq=me.next - far, counts=False)
        elif kind == 5:
            send(side, draw.choice([RST, RST | ACK]), seq=draw.choice([me.next, other.next, me.next + far, me.next - far, 0]), counts=False)
        elif kind == 6:
            send(side, SYN, seq=draw.choice([me.iss, me.next + far, draw.getrandbits(32)]), counts=False)
        elif kind == 7:
            send(side, SYN | ACK, seq=draw.choice([me.iss, me.next]), counts=False)
        elif kind == 8:
            send(side, draw.choice([0, SYN | FIN, SYN | RST, FIN | RST | ACK, FIN, PSH, URG, FIN | PSH | URG]), counts=False)
        elif kind == 9:
            me.win = draw.choice([0, 1, 512, 8192, 65535])
            send(side, ACK)
        elif kind == 10:
            left = (other.next - draw.choice([0, 1000])) & MASK
            right = (left + draw.choice([100, 70000])) & MASK
            send(side, ACK, opts="0101050a" + f"{left:08x}{right:08x}", ack=other.next - draw.choice([0, 1460]), counts=False)
        elif kind == 11:
            send(side, ACK | FIN, counts=draw.random() < 0.5)
        elif kind == 12:
            send(side, ACK | PSH, draw.choice([1, 100, 1400]), counts=draw.random() < 0.5)
        else:
            send(side, ACK, 0, seq=me.next - 1, counts=False)

    def maybe():
        while draw.random() < mess:
            odd()

    mess = draw.choice([0, 0.1, 0.3, 0.5])
    maybe()
    send(0, SYN)
    maybe()
    send(1, SYN | ACK)
    maybe()
    send(0, ACK)
    maybe()
    for _ in range(draw.randrange(6)):
        side = draw.randrange(2)
        send(side, ACK | PSH, draw.choice([1, 100, 1400]))
        maybe()
        send(1 - side, ACK)
        maybe()
    end = draw.randrange(4)
    side = draw.randrange(2)
    if end == 0:
        send(side, draw.choice([RST, RST | ACK]), counts=False)
    elif end < 3:
        send(side, FIN | ACK)
        maybe()
        send(1 - side, ACK)
        maybe()
        send(1 - side, FIN | ACK)
        maybe()
        send(side, ACK)
    maybe()
    if draw.random() < 0.3:
        sides[0].iss = sides[0].next = (sides[0].next + draw.randrange(1, 1 << 20)) & MASK
        sides[1].iss = sides[1].next = draw.getrandbits(32)
        send(0, SYN)
        maybe()
        send(1, SYN | ACK)
        send(0, ACK)
    return rows


def reason(log):
    """What the kernel logged of a frame, without numbers and without the frame."""
    text = ""
    while True:
        try:
            line = os.read(log, 8192).decode()
        except BlockingIOError:
            return text
        found = re.search(r"nf_ct_proto_6: (.*?) IN=", line)
        if found is not None:
            text = re.sub(r" ?\b\d+\b|\(index \d\) in dir \d ", "", found[1]).strip()


def main():
    for line in SETUP.strip().splitlines():
        subprocess.run(line.split(), check=True)
    ends = []
    for name in ("a0", "b0"):
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        end.bind((name, 0))
        end.settimeout(0.5)
        ends.append(end)
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    os.lseek(log, 0, os.SEEK_END)
    draw = random.Random(SEED)
    ident = 0
    connections, verdicts = [], []
    for number in range(CONNECTIONS):
        rows = connection(draw)
        states = []
        for row in rows:
            ident = (ident + 1) & 0xFFFF
            ends[row[0]].send(frame(ident, 10000 + number, row))
            while True:
                got = ends[1 - row[0]].recv(4096)
                if got[14] == 0x45 and struct.unpack(">H", got[18:20])[0] == ident and got[22] == 63:
                    break
            verdict = [STATES[got[15] >> 2], reason(log)]
            if verdict not in verdicts:
                verdicts.append(verdict)
            states.append(verdicts.index(verdict))
        connections.append([[*row, state] for row, state in zip(rows, states)])
    kernel = subprocess.run(["uname", "-r"], capture_output=True, text=True, check=True).stdout.strip()
    made = f"unshare -n python3 scripts/golden-conntrack.py {SEED}, Linux {kernel.split('-')[0]}"
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in connections)
    print(f'{{"made":{json.dumps(made)},\n"verdicts":{json.dumps(verdicts)},\n"connections":[\n{lines}\n]}}')


if __name__ == "__main__":
    sys.exit(main())
