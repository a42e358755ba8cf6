"""Two network namespaces that reach each other by two served devices, with VXLAN between these.

    sudo python3 run.py [--json] [--seconds N] [COMMAND...]      COMMAND starts flowsteer

    namespace left        socat  left.json           right.json  socat       namespace right
    TAP 10.9.0.1 ------- UDP --- vm, uplink -- UDP -- uplink, vm --- UDP ------- TAP 10.9.0.2
                                 encapsulates  VXLAN  decapsulates

Pings, copies a file by TCP, measures the rate (with iperf3, where it is), and asks why telnet is
dropped. Needs Linux, root, ip, socat and ping. Exit codes: 0; 1 something did not work; 77 this
machine cannot run it, and the text says why.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from serve_client import Client  # noqa: E402

SKIPPED = 77
PATIENCE = 30
ADDRESS = {"left": "10.9.0.1", "right": "10.9.0.2"}
MAC = {"left": "02:00:00:00:00:01", "right": "02:00:00:00:00:02"}

RECEIVE = """
import hashlib, socket
listener = socket.create_server(("10.9.0.2", 2222))
print("listening", flush=True)
peer, _ = listener.accept()
hash, size = hashlib.sha256(), 0
while chunk := peer.recv(65536):
    hash.update(chunk)
    size += len(chunk)
print(size, hash.hexdigest())
"""
SEND = """
import hashlib, random, socket, time
data = random.Random(5001).randbytes(16 << 20)
start = time.monotonic()
peer = socket.create_connection(("10.9.0.2", 2222), 30)
peer.sendall(data)
peer.shutdown(socket.SHUT_WR)
peer.recv(1)
print(len(data), hashlib.sha256(data).hexdigest(), time.monotonic() - start)
"""
TELNET = """
import socket
try:
    socket.create_connection(("10.9.0.2", 23), 1)
    print("open")
except TimeoutError:
    print("no answer")
"""


class Skipped(Exception):
    """This machine cannot run it."""


class Failed(Exception):
    """Something did not work."""


class Hosts:
    """The namespaces, devices and processes. `close` ends all of them."""

    def __init__(self, command):
        self.command = command
        self.folder = tempfile.mkdtemp(prefix="flowsteer-")
        self.children = []
        self.namespaces = []
        self.name = {side: f"flowsteer-{side}-{os.getpid()}" for side in ADDRESS}

    def open(self):
        for side in ADDRESS:
            self._add_namespace(side)
        ports = free_ports(6)
        left = {"uplink": (ports[0], ports[1]), "vm": (ports[2], ports[3])}
        right = {"uplink": (ports[1], ports[0]), "vm": (ports[4], ports[5])}
        for side, wires in ("left", left), ("right", right):
            self._serve(side, wires)
        for side, wires in ("left", left), ("right", right):
            self._plug(side, *wires["vm"])
        for side in ADDRESS:
            self.run(side, "ip", "link", "set", "vm", "up")

    def _add_namespace(self, side):
        name = self.name[side]
        added = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
        if added.returncode != 0:
            raise Skipped(f"ip netns add: {added.stderr.strip()}: a container needs CAP_SYS_ADMIN")
        self.namespaces.append(name)
        # IPv6 would send frames of its own, which the events would show.
        self.run(side, "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6 || true")

    def _serve(self, side, wires):
        options = ["--control", f"unix:{self.control(side)}", "--json"]
        for place, (here, there) in wires.items():
            options += ["--wire", f"{place}=udp:127.0.0.1:{here}:127.0.0.1:{there}"]
        child = self.start([*self.command, "serve", str(HERE / f"{side}.json"), *options], stderr=subprocess.PIPE)
        line = child.stderr.readline()
        if '"ready"' not in line:
            raise Failed(f"flowsteer serve {side}.json: {line}{child.stderr.read()}")

    def _plug(self, side, device_port, here):
        tap = f"fs{side[0]}{os.getpid()}"
        ends = f"UDP4:127.0.0.1:{device_port},bind=127.0.0.1:{here}"
        child = self.start(["socat", "-b", "65536", f"TUN,tun-type=tap,iff-no-pi,tun-name={tap}", ends])
        until = time.monotonic() + PATIENCE
        while not pathlib.Path(f"/sys/class/net/{tap}").exists():
            if child.poll() is not None or time.monotonic() > until:
                raise Skipped("socat makes no TAP device: see what it says above")
            time.sleep(0.02)
        # A TAP device may move while socat runs.
        check(["ip", "link", "set", tap, "netns", self.name[side]])
        self.run(side, "ip", "link", "set", tap, "name", "vm", "address", MAC[side])
        self.run(side, "ip", "address", "add", f"{ADDRESS[side]}/24", "dev", "vm")

    def control(self, side):
        return f"{self.folder}/{side}.sock"

    def start(self, command, **options):
        child = subprocess.Popen(command, text=True, **options)
        self.children.append(child)
        return child

    def start_in(self, side, *command):
        return self.start(["ip", "netns", "exec", self.name[side], *command], stdout=subprocess.PIPE)

    def run(self, side, *command):
        """Runs a command in a namespace. Returns what it prints."""
        return check(["ip", "netns", "exec", self.name[side], *command])

    def close(self):
        for child in reversed(self.children):
            if child.poll() is None:
                child.terminate()
        for child in self.children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
        for name in self.namespaces:
            subprocess.run(["ip", "netns", "del", name], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def check(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def free_ports(count):
    """Ports that nobody has, below those that sockets get by themselves meanwhile."""
    ports = []
    while len(ports) < count:
        port = random.randrange(20000, 32000)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


def check_machine():
    if sys.platform != "linux":
        raise Skipped("network namespaces need Linux")
    if os.geteuid() != 0:
        raise Skipped("only root makes network namespaces and TAP devices: sudo")
    for tool, package in (("ip", "iproute2"), ("socat", "socat"), ("ping", "iputils-ping")):
        if shutil.which(tool) is None:
            raise Skipped(f"{tool} is missing: apt install {package}")
    if not os.path.exists("/dev/net/tun"):
        raise Skipped("there is no /dev/net/tun: modprobe tun, or docker run --device /dev/net/tun")


def ping(hosts):
    text = hosts.run("left", "ping", "-c", "10", "-i", "0.1", "-w", "10", ADDRESS["right"])
    received = int(re.search(r"(\d+) received", text)[1])
    return {"sent": 10, "received": received, "milliseconds": float(re.search(r"= [\d.]+/([\d.]+)", text)[1])}


def tunnelled(hosts):
    """A frame between the devices, as the right one gets it."""
    client = Client(hosts.control("right"))
    client.call("subscribe", events=["steered"])
    hosts.run("left", "ping", "-c", "1", ADDRESS["right"])
    while (event := client.event())["place"] != "port:1":
        pass
    client.close()
    frame = bytes.fromhex(event["frame"])
    udp = frame[34:]
    return {
        "port": int.from_bytes(udp[2:4], "big"),
        "vni": int.from_bytes(udp[12:15], "big"),
        "bytes": len(frame),
        "comment": event["comment"],
    }


def copy(hosts):
    """Sends 16 MiB by TCP. Both ends hash them."""
    receiver = hosts.start_in("right", sys.executable, "-c", RECEIVE)
    receiver.stdout.readline()
    *sent, seconds = hosts.run("left", sys.executable, "-c", SEND).split()
    if receiver.stdout.readline().split() != sent:
        raise Failed("the file of the TCP connection came with other bytes")
    return {"bytes": int(sent[0]), "megabits": int(sent[0]) * 8 / 1e6 / float(seconds)}


def rates(hosts, seconds):
    """Frames a second that the left machine sends and the right one gets: TCP, and small UDP packets."""
    if shutil.which("iperf3") is None:
        return None
    found = {}
    for kind, options in ("tcp", []), ("udp", ["-u", "-b", "0", "-l", "64"]):
        server = hosts.start_in("right", "iperf3", "-s", "-1", "-B", ADDRESS["right"], "--forceflush")
        while "listening" not in server.stdout.readline():
            pass
        [before, start] = [counts(hosts), time.monotonic()]
        text = hosts.run("left", "iperf3", "-c", ADDRESS["right"], "-t", str(seconds), "-J", *options)
        [after, spent] = [counts(hosts), time.monotonic() - start]
        total = json.loads(text)["end"]
        bits = (total["sum_received"] if kind == "tcp" else total["sum"])["bits_per_second"]
        found[kind] = {
            "sent": (after["sent"] - before["sent"]) / spent,
            "received": (after["received"] - before["received"]) / spent,
            "megabits": bits / 1e6,
        }
    return found


def counts(hosts):
    result = {}
    for side, key in ("left", "framesIn"), ("right", "framesOut"):
        client = Client(hosts.control(side))
        [wire] = [one for one in client.call("wires")["wires"] if one["place"] == "qp:vm"]
        result["sent" if side == "left" else "received"] = wire[key]
        client.close()
    return result


def telnet(hosts):
    client = Client(hosts.control("left"))
    client.call("subscribe", events=["drop"])
    if hosts.run("left", sys.executable, "-c", TELNET).strip() != "no answer":
        raise Failed("telnet is not dropped")
    frame = client.event()["frame"]
    explanation = client.call("why", queue="vm", frame=frame, target={"rule": "vm sends"})["explanation"]
    client.close()
    return {"frame": frame, "why": explanation["sentence"]}


def tell(done):
    pinged, copied, way, rate = done["ping"], done["tcp"], done["tunnel"], done["rates"]
    print(f"ping: {pinged['received']} of {pinged['sent']} answered, {pinged['milliseconds']:.2f} ms on average")
    print(f"on the way: {way['bytes']} bytes to UDP port {way['port']}, VNI {way['vni']}; {way['comment']}")
    print(f"TCP: {copied['bytes']:,} bytes are the same at both ends, {copied['megabits']:.0f} Mbit/s")
    if rate is None:
        print("rates: iperf3 is missing: apt install iperf3")
    else:
        for kind, one in rate.items():
            numbers = f"{one['sent']:,.0f} frames/s sent, {one['received']:,.0f} received"
            print(f"iperf3 {kind.upper()}: {numbers}" + (f", {one['megabits']:.0f} Mbit/s" if kind == "tcp" else ""))
    print(f"telnet: {done['telnet']['why']}")


def main():
    parser = argparse.ArgumentParser(description="Two network namespaces, two served devices, VXLAN between them.")
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of text")
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement with iperf3; 0 leaves it out")
    parser.add_argument("command", nargs="*", default=["flowsteer"], help="starts flowsteer, such as npx flowsteer")
    options = parser.parse_args()
    try:
        check_machine()
        if shutil.which(options.command[0]) is None:
            raise Skipped(f"{options.command[0]} is missing: name what starts flowsteer, such as npx flowsteer")
        hosts = Hosts(options.command)
        try:
            hosts.open()
            done = {"ping": ping(hosts), "tunnel": tunnelled(hosts), "tcp": copy(hosts), "telnet": telnet(hosts)}
            done["rates"] = rates(hosts, options.seconds) if options.seconds > 0 else None
        finally:
            hosts.close()
    except Skipped as why:
        print(f"skipped: {why}", file=sys.stderr)
        return SKIPPED
    except Failed as why:
        print(f"failed: {why}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(done))
    else:
        tell(done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
