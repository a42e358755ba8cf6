"""The computer that the tests see: its clock, its files of devices, and what its tools say."""

import builtins
import glob
import os
import subprocess
import time
from typing import Any

from pyverbs.link import link

DEVICE = "mlx5_0"
PCI = "0000:03:00.0"

# Files of the kernel that exist.
FILES = {
    "/dev/infiniband/mlx5_perm_ctrl_local": os.devnull,
    "/dev/infiniband/mlx5_perm_ctrl_other_vhca": os.devnull,
}

# Folders of the kernel whose files are only these.
FOLDERS = ("/sys/class/infiniband/", "/sys/bus/pci/devices/", "/dev/infiniband/")

ANSWERS = {
    ("rdma", "link"): b"[]",
    # The eSwitch is on, and encapsulates in NIC tables.
    ("devlink", "dev", "eswitch"): b"mode switchdev inline-mode none encap-mode none",
    ("devlink", "dev", "param"): b"name enable_roce value false",
}


def install() -> None:
    """Shows the computer to the tests."""
    time.perf_counter = lambda: link.now / 1e9
    os.geteuid = lambda: 0
    glob.glob = _for_paths(glob.glob, _globbed)
    os.path.exists = _for_paths(os.path.exists, lambda path: path in FILES)
    os.path.isfile = _for_paths(os.path.isfile, lambda path: path in FILES)
    os.path.isdir = _for_paths(os.path.isdir, lambda _: False)
    builtins.open = _for_paths(builtins.open, _opened)
    subprocess.check_output = _answer


def _for_paths(real: Any, ours: Any) -> Any:
    def either(path: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(path, str) and path.startswith(FOLDERS):
            return ours(path, *args, **kwargs)
        return real(path, *args, **kwargs)

    return either


def _globbed(pattern: str) -> list[str]:
    found = f"/sys/bus/pci/devices/{PCI}/infiniband/{DEVICE}"
    return [found] if pattern == found.replace(PCI, "*") else []


def _opened(path: str, mode: str = "r") -> Any:
    if path not in FILES:
        raise FileNotFoundError(path)
    return os.fdopen(os.open(FILES[path], os.O_RDONLY), mode)


def _answer(command: list[str], **_: Any) -> bytes:
    for start, answer in ANSWERS.items():
        if tuple(command[: len(start)]) == start:
            return answer
    raise FileNotFoundError(f"no answer to {command}")
