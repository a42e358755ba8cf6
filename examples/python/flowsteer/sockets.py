"""Unix sockets of a served device."""

import socket


def connected(path, timeout):
    """A connection to the socket at a path, whose waits are limited to so many seconds."""
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(timeout)
    try:
        made.connect(path)
    except OSError:
        made.close()
        raise
    return made
