"""Errors of pyverbs."""

import os


class PyverbsError(Exception):
    """An error of pyverbs."""


class PyverbsUserError(PyverbsError):
    """A wrong use of pyverbs."""


class PyverbsRDMAError(PyverbsError):
    """A call that the device refused."""

    def __init__(self, msg: str, error_code: int = -1) -> None:
        super().__init__(msg if error_code < 0 else f"{msg} ({os.strerror(error_code)})")
        self.error_code = error_code
