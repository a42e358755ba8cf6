"""Arguments and results of C calls: Python values and the JSON of docs/serve.md#calls-of-c."""

from collections import namedtuple

#: Integers beyond it are bigints.
_MAX_SAFE = (1 << 53) - 1

#: What a call returned, and its arguments that it has filled, by their places from 0 on.
Filled = namedtuple("Filled", ["result", "out"])


class U64(int):
    """An integer that is sent as a bigint of JavaScript, however small it is."""


class Constant:
    """A constant of C by its name; `|` joins several."""

    def __init__(self, name):
        self.name = name

    def __or__(self, other):
        return Constant("{}|{}".format(self.name, other.name))

    def __repr__(self):
        return self.name

    def json(self):
        return {"$": "constant", "name": self.name}


class _Constants:
    """`C.IBV_QPT_RC` is the constant of this name; `C.IBV_QP_STATE | C.IBV_QP_PORT` are several."""

    def __getattr__(self, name):
        if not name.startswith(("IBV_", "MLX5")):
            raise AttributeError(name)
        return Constant(name)


C = _Constants()


class Named:
    """An object of the scenario, or the context or device itself."""

    def __init__(self, kind, name=None):
        self.kind = kind
        self.name = name

    def __repr__(self):
        return "<{}>".format(self.kind if self.name is None else "{} {!r}".format(self.kind, self.name))

    def json(self):
        return {"$": self.kind} if self.name is None else {"$": self.kind, "name": self.name}


class Object:
    """An object that a call returned. Its members that are plain values are attributes: `qp.qp_num`."""

    def __init__(self, control, number, kind):
        self._control = control
        self.number = number
        self.kind = kind

    def fields(self):
        """All members that are plain values, as they are now."""
        return from_json(self._control, self._control.call("fields", id=self.number))

    def release(self):
        """Forgets the number of the object, which stays: a session has 100,000 at most."""
        self._control.call("release", id=self.number)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        fields = self.fields()
        if name not in fields:
            raise AttributeError("{} has no {}: {}".format(self.kind, name, ", ".join(sorted(fields))))
        return fields[name]

    def __eq__(self, other):
        return isinstance(other, Object) and (self._control, self.number) == (other._control, other.number)

    def __hash__(self):
        return hash(self.number)

    def __repr__(self):
        return "<{} {}>".format(self.kind, self.number)

    def json(self):
        return {"$": "object", "id": self.number}


class Memory:
    """Memory of the session, which calls read and write; a slice of it is memory too."""

    def __init__(self, control, number, at, length):
        self._control = control
        self.number = number
        self.at = at
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, part):
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise TypeError("memory has slices of bytes one after the other: memory[16:32]")
        first, end, _ = part.indices(self.length)
        return Memory(self._control, self.number, self.at + first, max(0, end - first))

    def __bytes__(self):
        return self.read()

    def read(self):
        """Its bytes."""
        return bytes.fromhex(self._control.call("memory_read", id=self.number, at=self.at, length=self.length)["hex"])

    def write(self, data):
        """Writes bytes to its beginning."""
        if len(data) > self.length:
            raise ValueError("{} bytes do not fit {} bytes of memory".format(len(data), self.length))
        self._control.call("memory_write", id=self.number, at=self.at, hex=bytes(data).hex())

    def release(self):
        """Frees the memory."""
        self._control.call("release", id=self.number)

    def json(self):
        return {"$": "memory", "id": self.number, "at": self.at, "length": self.length}


def to_json(value):
    """A Python value as an argument. Bytes are copied: what a call fills is in the result."""
    if value is None or isinstance(value, (bool, float, str)):
        return value
    if isinstance(value, int):
        if isinstance(value, U64) or abs(value) > _MAX_SAFE:
            return {"$": "bigint", "value": str(int(value))}
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$": "bytes", "hex": bytes(value).hex()}
    if isinstance(value, dict):
        return {name: to_json(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(one) for one in value]
    if hasattr(value, "json"):
        return value.json()
    raise TypeError("{} cannot be an argument of a call".format(type(value).__name__))


def from_json(control, value):
    """The Python value of a result."""
    if isinstance(value, list):
        return [from_json(control, one) for one in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("$")
    if kind is None:
        return {name: from_json(control, one) for name, one in value.items()}
    return _KINDS[kind](control, value)


def filled(control, value):
    """The result of a C call, with what it has written into its arguments, if there is any."""
    if isinstance(value, dict) and set(value) == {"result", "out"}:
        out = {int(place): from_json(control, one) for place, one in value["out"].items()}
        return Filled(from_json(control, value["result"]), out)
    return from_json(control, value)


_KINDS = {
    "object": lambda control, value: Object(control, value["id"], value["class"]),
    "memory": lambda control, value: Memory(control, value["id"], value.get("at", 0), value["length"]),
    "bytes": lambda control, value: bytes.fromhex(value.get("hex", "")),
    "text": lambda control, value: value.get("text", ""),
    "bigint": lambda control, value: int(value["value"]),
    "number": lambda control, value: float(value["value"].replace("Infinity", "inf")),
    "undefined": lambda control, value: None,
    "map": lambda control, value: [tuple(from_json(control, one)) for one in value["entries"]],
    "set": lambda control, value: from_json(control, value["values"]),
}
