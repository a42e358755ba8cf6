"""Two QEMU guests that reach each other by a served device (../serve-switch.json).

    python3 run.py [--root FOLDER] [--accel kvm] [--json] [COMMAND...]      COMMAND starts flowsteer

Guest 1 pings guest 2, reads 8 MiB from it by HTTP, and tries telnet, which the rules drop. The
guests are a kernel and BusyBox in memory: FOLDER has boot/vmlinuz-* and lib/modules, as the system
or an unpacked package does:

    apt download linux-image-cloud-amd64 && dpkg-deb -x linux-image-*.deb FOLDER

(That package names the one with the kernel.) Needs qemu-system-x86_64 and a static busybox. Exit
codes: 0; 1 something did not work; 77 this machine cannot run it, and the text says why.
"""

import argparse
import gzip
import json
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
PATIENCE = 240
# In the order in which they need each other. One that is not there is part of the kernel.
MODULES = (
    *("virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci"),
    *("failover", "net_failover", "virtio_net"),
)
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
for module in MODULES; do [ -f /$module.ko ] && insmod /$module.ko; done
number=$(sed -n 's/.*guest=\\([0-9]\\).*/\\1/p' /proc/cmdline)
ip link set lo up
ip address add 10.9.0.$number/24 dev eth0
ip link set eth0 up
if [ $number = 1 ]; then
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    wget -q -O /got http://10.9.0.2/data && break
    sleep 1
  done
  ping -c 5 10.9.0.2
  echo "got $(md5sum < /got) $(wc -c < /got)"
  nc -w 2 10.9.0.2 23 < /dev/null || echo "telnet has no answer"
  echo "guest 1 has ended"
  poweroff -f
fi
mkdir /www
dd if=/dev/urandom of=/www/new bs=1M count=8 2> /dev/null
echo "sent $(md5sum < /www/new)"
mv /www/new /www/data
httpd -f -h /www
"""


class Skipped(Exception):
    """This machine cannot run it."""


class Failed(Exception):
    """Something did not work."""


def initrd(modules):
    """The files of the guests as an archive: cpio, format newc."""
    busybox = shutil.which("busybox")
    if busybox is None:
        raise Skipped("busybox is missing: apt install busybox-static")
    init = INIT.replace("MODULES", " ".join(MODULES)).encode()
    files = [(name, 0o040755, b"") for name in ("bin", "dev", "proc")]
    files += [("init", 0o100755, init), ("bin/busybox", 0o100755, pathlib.Path(busybox).read_bytes())]
    for name in MODULES:
        for path in modules.rglob(f"{name}.ko*"):
            if path.suffix not in (".ko", ".xz"):
                raise Skipped(f"{path}: this program unpacks .xz only")
            data = path.read_bytes()
            files.append((f"{name}.ko", 0o100644, lzma.decompress(data) if path.suffix == ".xz" else data))
    archive = bytearray()
    for number, (name, mode, data) in enumerate([*files, ("TRAILER!!!", 0, b"")], 1):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        archive += bytes(-len(archive) % 4) + data
        archive += bytes(-len(archive) % 4)
    return gzip.compress(bytes(archive), 1)


def kernel_of(root):
    kernels = sorted((root / "boot").glob("vmlinuz-*"))
    if not kernels:
        raise Skipped(f"there is no {root / 'boot/vmlinuz-*'}: unpack a kernel package, and name its folder by --root")
    kernel = kernels[-1]
    return kernel, root / "lib/modules" / kernel.name.removeprefix("vmlinuz-")


def guest(number, folder, kernel, accel):
    """Starts a guest. Its console goes to a file."""
    ends = f"server=off,addr.type=unix,addr.path={folder}/vm{number}.sock"
    command = ["qemu-system-x86_64", "-accel", accel, "-m", "256", "-nographic", "-no-reboot", "-nic", "none"]
    command += ["-kernel", str(kernel), "-initrd", f"{folder}/initrd.gz"]
    command += ["-append", f"console=ttyS0 loglevel=4 guest={number}"]
    command += ["-netdev", f"stream,id=net,{ends}"]
    command += ["-device", f"virtio-net-pci,netdev=net,mac=02:00:00:00:00:0{number},romfile="]
    with open(f"{folder}/guest{number}.txt", "wb") as console:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT)


def run(options, folder):
    if shutil.which("qemu-system-x86_64") is None:
        raise Skipped("qemu-system-x86_64 is missing: apt install qemu-system-x86")
    if shutil.which(options.command[0]) is None:
        raise Skipped(f"{options.command[0]} is missing: name what starts flowsteer, such as npx flowsteer")
    kernel, modules = kernel_of(pathlib.Path(options.root))
    pathlib.Path(f"{folder}/initrd.gz").write_bytes(initrd(modules))
    wires = [f"--wire=vm{n}=unix-listen:{folder}/vm{n}.sock" for n in (1, 2)]
    scenario = str(HERE.parent / "serve-switch.json")
    command = [*options.command, "serve", scenario, "--json", *wires]
    served = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    children = [served]
    try:
        ready = served.stderr.readline()
        if '"ready"' not in ready:
            raise Failed(f"flowsteer serve: {ready}{served.stderr.read()}")
        children += [guest(number, folder, kernel, options.accel) for number in (2, 1)]
        try:
            children[-1].wait(PATIENCE)
        except subprocess.TimeoutExpired:
            text = console(folder, 1)
            raise Failed(f"guest 1 did not end within {PATIENCE} s; its console:\n{text}") from None
    finally:
        for child in reversed(children):
            child.terminate()
        told = served.stderr.read()
        for child in children:
            child.wait()
    return result(console(folder, 1), console(folder, 2), json.loads(told.splitlines()[-1]))


def console(folder, number):
    return pathlib.Path(f"{folder}/guest{number}.txt").read_text(errors="replace")


def result(first, second, summed):
    got = re.search(r"got (\w+) +- (\d+)", first)
    sent = re.search(r"sent (\w+)", second)
    pings = re.search(r"(\d+) packets received", first)
    if got is None or sent is None or pings is None:
        raise Failed(f"a guest did not tell all; the consoles:\n{first}\n{second}")
    return {
        "pings": int(pings[1]),
        "bytes": int(got[2]),
        "same": got[1] == sent[1],
        "telnet": "no answer" if "telnet has no answer" in first else "answered",
        "wires": summed["wires"],
        "dropped": summed["dropped"],
    }


def main():
    parser = argparse.ArgumentParser(description="Two QEMU guests and a served device between them.")
    parser.add_argument("--root", default="/", help="has boot/vmlinuz-* and lib/modules")
    parser.add_argument("--accel", default="tcg", help="of QEMU; kvm is faster where it works")
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of text")
    parser.add_argument("command", nargs="*", default=["flowsteer"], help="starts flowsteer, such as npx flowsteer")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="flowsteer-") as folder:
            done = run(options, folder)
    except Skipped as why:
        print(f"skipped: {why}", file=sys.stderr)
        return SKIPPED
    except Failed as why:
        print(f"failed: {why}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(done))
    else:
        same = "the same" if done["same"] else "NOT the same"
        print(f"ping: {done['pings']} of 5 answered")
        print(f"HTTP: {done['bytes']:,} bytes, {same} in both guests")
        print(f"telnet: {done['telnet']}; dropped: {done['dropped']}")
        for wire in done["wires"]:
            print(f"{wire['place']}: {wire['framesIn']:,} frames in, {wire['framesOut']:,} out, lost {wire['lost']}")
    return 0 if done["same"] and done["pings"] > 0 and done["telnet"] == "no answer" else 1


if __name__ == "__main__":
    sys.exit(main())
