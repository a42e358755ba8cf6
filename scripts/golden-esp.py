#!/usr/bin/env python3
"""ESP as scapy does it, with the AES-GCM of python3-cryptography: test/golden/esp/scapy.json.

Run from the project root (Debian: python3-scapy, python3-cryptography):

    python3 scripts/golden-esp.py

A case has an association as docs/esp.md speaks of it, and frames in their order: what came, and what came out of it, or that it was
lost. scapy keeps no state: numbers, IVs, and the fields of the outer header that follow from them or from the packet inside
(identification, DSCP, ECN, don't fragment) are given to it; where headers go, what is in them, and every byte of ESP is its own.
"""
import json
import random
import struct

import cryptography
import scapy
from cryptography.hazmat.primitives.ciphers import algorithms, modes
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_RR
from scapy.layers.inet6 import (
    IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN,
)
from scapy.layers.ipsec import (
    CRYPT_ALGOS, ESP, CryptAlgo, IPSecIntegrityError, SecurityAssociation, _ESPPlain, split_for_transport,
)
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw, raw

rnd = random.Random(20261121)
LINK = {"src": "02:00:00:00:00:aa", "dst": "02:00:00:00:00:01"}
OUTER4 = ("192.0.2.1", "192.0.2.2")
OUTER6 = ("2001:db8::1", "2001:db8::2")

# scapy's own entry goes through an interface that has tags of 16 bytes only.
CRYPT_ALGOS["AES-GCM-ANY"] = CryptAlgo(
    "AES-GCM-ANY", cipher=algorithms.AES, mode=modes.GCM, salt_size=4, block_size=1, iv_size=8, icv_size=16,
    format_mode_iv=lambda sa, iv, **_: sa.crypt_salt + iv)


def new_cipher(self, key, mode_iv, digest=None):
    from cryptography.hazmat.primitives.ciphers import Cipher
    mode = modes.GCM(mode_iv) if digest is None else modes.GCM(mode_iv, digest, len(digest))
    return Cipher(algorithms.AES(key), mode)


class Association:
    """An association of scapy, and what docs/esp.md calls it."""

    def __init__(self, encrypt, transport, outer, key, icv, esn, seq, udp, tfc=0, replay=None):
        self.esn, self.number, self.outer, self.transport, self.tfc = esn, (esn or 0) * 2**32 + seq, outer, transport, tfc
        self.key, self.salt = rnd.randbytes(key), rnd.randbytes(4)
        self.spi, self.iv = rnd.randrange(256, 2**32), rnd.randrange(2**63)
        self.ports = (rnd.randrange(1, 65536), rnd.randrange(1, 65536)) if udp else None
        self.icv = icv
        src, dst = OUTER4 if outer == 4 else OUTER6
        encap = []
        if not transport and outer == 4:
            encap.append({"type": "ipv4", "src_ip": raw(IP(src=src, dst=dst))[12:16].hex(), "dst_ip": raw(IP(src=src, dst=dst))[16:20].hex()})
        if not transport and outer == 6:
            six = raw(IPv6(src=src, dst=dst))
            encap.append({"type": "ipv6", "src_ip": six[8:24].hex(), "dst_ip": six[24:40].hex(), "flow_label": 0x12345, "hop_limit": 7})
        if udp:
            encap.append({"type": "udp", "src_port": self.ports[0], "dst_port": self.ports[1]})
        keymat = {"key": self.key.hex(), "salt": self.salt.hex(), "iv": str(self.iv), "icvLength": icv}
        self.settings = {
            "offload": "full", "encrypt": encrypt, "transport": transport, "spi": self.spi, "seq": seq, "esn": esn, "tfcPad": tfc,
            "keymat": keymat, "replay": replay, "encap": encap}

    def scapy(self, inner):
        tunnel = None
        if not self.transport and self.outer == 4:
            v4 = isinstance(inner, IP)
            tos = inner.tos if v4 else inner.tc
            tunnel = IP(src=OUTER4[0], dst=OUTER4[1], id=self.number & 0xFFFF, tos=tos, flags=(int(inner.flags) & 2) if v4 else 0)
        elif not self.transport:
            tos = inner.tos if isinstance(inner, IP) else inner.tc
            tunnel = IPv6(src=OUTER6[0], dst=OUTER6[1], hlim=7, fl=0x12345, tc=tos)
        nat = UDP(sport=self.ports[0], dport=self.ports[1]) if self.ports else None
        algorithm = "AES-GCM" if self.icv == 16 else "AES-GCM-ANY"
        made = SecurityAssociation(
            ESP, spi=self.spi, crypt_algo=algorithm, crypt_key=self.key + self.salt, crypt_icv_size=self.icv,
            tunnel_header=tunnel, nat_t_header=nat, esn_en=self.esn is not None)
        if self.icv != 16:
            made.crypt_algo.new_cipher = new_cipher.__get__(made.crypt_algo)
        return made

    def seal(self, inner, next_header=None, padding=None):
        """The next packet. `next_header`, `padding`: other ones than are right."""
        sa = self.scapy(inner)
        iv = struct.pack("!Q", self.iv)
        seq, esn = self.number & 0xFFFFFFFF, self.number >> 32
        plain = next_header is None and padding is None and self.tfc == 0 and self.ports is None
        if plain and seq != 0 and esn != 0:
            done = sa.encrypt(inner, seq_num=seq, iv=iv, esn=esn)
        else:
            # What scapy's encrypt does, with the trailer in between, a number of 0, and UDP: its own has a wrong length.
            around = sa.tunnel_header
            whole = around.__class__(raw(unset(around.copy()) / Raw(raw(inner)))) if around else inner
            if around:
                setattr(whole, "proto" if around.version == 4 else "nh", 4 if isinstance(inner, IP) else 41)
            head, nh, payload = split_for_transport(whole, 50)
            tfc = 0 if self.transport and nh not in (4, 17, 41) else self.tfc
            plain = _ESPPlain(spi=self.spi, seq=seq, iv=iv, data=raw(payload) + bytes(tfc), nh=nh)
            sa.crypt_algo.pad(plain)
            if padding is not None:
                plain.padding, plain.padlen = padding
            if next_header is not None:
                plain.nh = next_header
            esp = sa.crypt_algo.encrypt(sa, plain, sa.crypt_key, sa.crypt_icv_size, esn_en=self.esn is not None, esn=esn)
            done = finish(head, sa.nat_t_header, esp)
        self.number += 1
        self.iv += 1
        return done

    def open(self, packet, inner):
        """None where the ICV is wrong."""
        try:
            done = self.scapy(inner).decrypt(packet.copy(), esn=self.number >> 32)
        except IPSecIntegrityError:
            return None
        return done


def unset(header):
    for name in ("proto", "len", "chksum") if header.version == 4 else ("nh", "plen"):
        delattr(header, name)
    return header


def finish(head, nat, esp):
    if nat:
        nat = nat.copy()
        nat.chksum, nat.len = 0, 8 + len(esp)
        if head.version == 4:
            head.proto = 17
        else:
            last = head
            while not isinstance(last.payload, type(None)) and hasattr(last.payload, "nh"):
                last = last.payload
            last.nh = 17
        head = head / nat
    if head.version == 4:
        head.len = len(head) + len(esp)
        del head.chksum
    else:
        head.plen = len(head.payload) + len(esp)
    return head.__class__(raw(head) + raw(esp))


def framed(packet, vlan=False):
    link = Ether(**LINK) / Dot1Q(vlan=5) if vlan else Ether(**LINK)
    kind = 0x86DD if raw(packet)[0] >> 4 == 6 else 0x0800
    (link.payload if vlan else link).type = kind
    return (raw(link) + raw(packet)).hex()


def body(length=None):
    return Raw(rnd.randbytes(rnd.choice([0, 1, 2, 3, 40, rnd.randrange(200)]) if length is None else length))


def inner4(**more):
    ip = IP(src="10.0.0.1", dst="10.0.0.2", id=rnd.randrange(65536), tos=rnd.randrange(256), flags=rnd.choice([0, 2]), **more)
    upper = rnd.choice([UDP(sport=1, dport=53), TCP(sport=1, dport=80, seq=7), ICMP()])
    return IP(raw(ip / upper / body()))


def inner6(*headers):
    ip = IPv6(src="fd00::1", dst="fd00::2", fl=rnd.randrange(2**20), tc=rnd.randrange(256))
    for header in headers:
        ip = ip / header
    return IPv6(raw(ip / rnd.choice([UDP(sport=1, dport=53), TCP(sport=1, dport=80)]) / body()))


def options():
    return inner4(options=[IPOption_RR(length=7, pointer=4, routers=["0.0.0.0"]), IPOption_NOP()])


PAD = PadN(optdata=b"\0\0\0\0")
DEST = lambda: IPv6ExtHdrDestOpt(options=[PAD])  # noqa: E731
HOP = lambda: IPv6ExtHdrHopByHop(options=[PAD])  # noqa: E731
ROUTE = lambda: IPv6ExtHdrRouting(type=2, addresses=["fd00::3"], segleft=0)  # noqa: E731
# Not destination options alone: scapy leaves them in front of ESP, as Linux does; the page does not (RFC 4303, 3.1.1).
EXTENDED = [[HOP()], [ROUTE()], [HOP(), ROUTE()], [HOP(), DEST(), ROUTE()], [HOP(), DEST(), ROUTE(), DEST()], [DEST(), ROUTE(), DEST()]]


def seals():
    turn = 0
    for transport in (False, True):
        for outer in (4, 6):
            for udp in (False, True):
                for key in (16, 24, 32):
                    for esn in (None, 6):
                        turn += 1
                        sa = Association(True, transport, outer, key, (8, 12, 16)[turn % 3], esn, 2**32 - 2, udp, (0, 0, 13)[turn % 3])
                        made = []
                        for _ in range(2 if esn is None else 4):
                            inner = inner4() if (outer if transport else rnd.choice([4, 6])) == 4 else inner6()
                            vlan = rnd.random() < 0.3
                            made.append({"from": framed(inner, vlan), "to": framed(sa.seal(inner), vlan)})
                        name = f"seals {'transport' if transport else 'tunnel'} {outer}{' in UDP' if udp else ''}, key {key}, ICV {sa.icv}"
                        yield {"name": name + (f", ESN" if esn else "") + (f", TFC {sa.tfc}" if sa.tfc else ""), "settings": sa.settings, "frames": made}
    for udp in (False, True):
        sa = Association(True, True, 6, 16, 16, 1, 7, udp)
        made = []
        for headers in EXTENDED:
            inner = inner6(*headers)
            made.append({"from": framed(inner), "to": framed(sa.seal(inner))})
        yield {"name": f"seals behind extension headers{', UDP' if udp else ''}", "settings": sa.settings, "frames": made}
        sa = Association(True, True, 4, 16, 16, 1, 7, udp)
        made = [(inner, sa.seal(inner)) for inner in (options() for _ in range(3))]
        made = [{"from": framed(inner), "to": framed(done)} for inner, done in made]
        yield {"name": f"seals behind options{', UDP' if udp else ''}", "settings": sa.settings, "frames": made}


def flipped(packet, rnd_byte):
    whole = bytearray(raw(packet))
    whole[rnd_byte] ^= 1 << rnd.randrange(8)
    return packet.__class__(bytes(whole))


def opens():
    turn = 0
    for transport in (False, True):
        for outer in (4, 6):
            for key in (16, 24, 32):
                for esn in (None, 6):
                    turn += 1
                    sa = Association(False, transport, outer, key, (8, 12, 16)[turn % 3], esn, 2**32 - 3, False, (0, 13, 0)[turn % 3], 64)
                    made = []
                    for i in range(3 if esn is None else 7):
                        inner = inner4() if (outer if transport else rnd.choice([4, 6])) == 4 else inner6()
                        if transport and sa.tfc:
                            inner = inner4() if outer == 4 else inner6()
                        number = sa.number
                        wire = sa.seal(inner)
                        if rnd.random() < 0.3:
                            wire = flipped(wire, rnd.randrange(len(raw(wire)) - 20, len(raw(wire))))
                        sa.number, after = number, sa.number
                        done = sa.open(wire, inner)
                        sa.number = after
                        frame = {"from": framed(wire)}
                        if done is None:
                            frame["lost"] = True
                        else:
                            # scapy does not cut TFC padding: the packet is as long as it was before.
                            frame["to"] = framed(inner if sa.tfc else done)
                        made.append(frame)
                    yield {"name": f"opens {'transport' if transport else 'tunnel'} {outer}, key {key}, ICV {sa.icv}{', ESN' if esn else ''}{f', TFC {sa.tfc}' if sa.tfc else ''}", "settings": sa.settings, "frames": made}


def broken():
    """Right ICVs over what must not be taken."""
    sa = Association(False, False, 4, 16, 16, 1, 7, False, 0, 64)
    inner = inner4()
    rest = -(len(raw(inner)) + 2) % 4
    frames = [
        ("a dummy packet", {"next_header": 59}), ("another next header", {"next_header": 17}), ("the other version", {"next_header": 41}),
        ("other padding", {"padding": (bytes(rest + 4), rest + 4)}), ("padding that does not fit", {"padding": (b"", 255)})]
    made = [{"from": framed(sa.seal(inner, **how)), "lost": True} for _, how in frames]
    more = bytes(range(1, rest + 5))
    made.append({"from": framed(sa.seal(inner, padding=(more, rest + 4))), "to": framed(inner)})
    yield {"name": "opens no dummies, no wrong trailers, but more padding than is needed", "settings": sa.settings, "frames": made}


def main():
    cases = [*seals(), *opens(), *broken()]
    made = {"command": "python3 scripts/golden-esp.py", "scapy": scapy.__version__, "cryptography": cryptography.__version__}
    rows = ",\n".join(json.dumps(one, separators=(",", ":")) for one in cases)
    with open("test/golden/esp/scapy.json", "w") as out:
        out.write(f'{{"made":{json.dumps(made)},"cases":[\n{rows}\n]}}\n')
    print(f"{len(cases)} associations")


main()
