"""Specifications of flows, as their C structs. Addresses and ports are in network byte order."""

import socket
import struct
from typing import ClassVar

from pyverbs.base import PyverbsObject
from pyverbs.constants import constant


class Spec(PyverbsObject):
    """A specification. In C: type, size, value, mask."""

    head: ClassVar[str]
    """Type and size, with the padding before the value."""

    type: int

    def value(self) -> bytes:
        """Returns the value."""
        raise NotImplementedError

    def mask(self) -> bytes:
        """Returns the mask."""
        raise NotImplementedError

    def __bytes__(self) -> bytes:
        body = self.value() + self.mask()
        size = (struct.calcsize(self.head) + len(body) + 3) // 4 * 4
        return (struct.pack(self.head, self.type, size) + body).ljust(size, b"\0")


def mac(text: str | None) -> bytes:
    """Returns a MAC address, zero for none."""
    return bytes(6) if text is None else bytes.fromhex(text.replace(":", ""))


def ones(given: object, size: int) -> bytes:
    """Returns the mask of a value that has none of its own."""
    return (b"\0" if given is None else b"\xff") * size


class EthSpec(Spec):
    """`struct ibv_flow_spec_eth`."""

    head = "<IH"

    def __init__(self, dst_mac: str | None = None, src_mac: str | None = None, ether_type: int | None = None) -> None:
        self.type = constant("IBV_FLOW_SPEC_ETH")
        self.dst_mac = dst_mac
        self.src_mac = src_mac
        self.src_mac_mask = None if src_mac is None else "ff:ff:ff:ff:ff:ff"
        self.ether_type = ether_type

    def value(self) -> bytes:
        return mac(self.dst_mac) + mac(self.src_mac) + struct.pack(">HH", self.ether_type or 0, 0)

    def mask(self) -> bytes:
        return ones(self.dst_mac, 6) + mac(self.src_mac_mask) + ones(self.ether_type, 2) + bytes(2)


class Ipv4ExtSpec(Spec):
    """`struct ibv_flow_spec_ipv4_ext`."""

    head = "<IH2x"

    def __init__(self, dst_ip: str | None = None, src_ip: str | None = None, proto: int | None = None) -> None:
        self.type = constant("IBV_FLOW_SPEC_IPV4_EXT")
        self.dst_ip = dst_ip
        self.src_ip = src_ip
        self.proto = proto

    def value(self) -> bytes:
        addresses = socket.inet_aton(self.src_ip or "0.0.0.0") + socket.inet_aton(self.dst_ip or "0.0.0.0")
        return addresses + struct.pack("B3x", self.proto or 0)

    def mask(self) -> bytes:
        return ones(self.src_ip, 4) + ones(self.dst_ip, 4) + ones(self.proto, 1) + bytes(3)


class Ipv6Spec(Spec):
    """`struct ibv_flow_spec_ipv6`."""

    head = "<IH2x"

    def __init__(self, dst_ip: str | None = None, src_ip: str | None = None, next_hdr: int | None = None) -> None:
        self.type = constant("IBV_FLOW_SPEC_IPV6")
        self.dst_ip = dst_ip
        self.src_ip = src_ip
        self.next_hdr = next_hdr

    def value(self) -> bytes:
        source = socket.inet_pton(socket.AF_INET6, self.src_ip or "::")
        destination = socket.inet_pton(socket.AF_INET6, self.dst_ip or "::")
        return source + destination + struct.pack("4xB3x", self.next_hdr or 0)

    def mask(self) -> bytes:
        return ones(self.src_ip, 16) + ones(self.dst_ip, 16) + bytes(4) + ones(self.next_hdr, 1) + bytes(3)


class TcpUdpSpec(Spec):
    """`struct ibv_flow_spec_tcp_udp`."""

    head = "<IH"

    def __init__(self, spec_type: int, dst_port: int | None = None, src_port: int | None = None) -> None:
        self.type = spec_type
        self.dst_port = dst_port
        self.src_port = src_port

    def value(self) -> bytes:
        return struct.pack(">HH", self.dst_port or 0, self.src_port or 0)

    def mask(self) -> bytes:
        return ones(self.dst_port, 2) + ones(self.src_port, 2)
