/** Cables: a port's frames go to the port, or to the function, that is connected to it. */
import { refuse } from "../../errors.js";
import { DeviceBase } from "../base/deviceBase.js";
import { wrongType } from "../../checks.js";
import type { FrameOptions } from "../traffic/input.js";
import type { Outcome } from "../traffic/outcome.js";
import { portOf, type CableEnd, type Port } from "../base/ports.js";

/** A device that frames arrive at. */
export interface FrameReceiver extends DeviceBase {
  receive(port: number, frame: Uint8Array, options?: FrameOptions): Outcome;
}

/** The port at which a frame left. */
export interface TransmitInfo {
  device: FrameReceiver;
  port: number;
}

/**
 * Receives the frames that leave a port, each before the call that sent it returns. Its result is
 * ignored. `frame` is the array that was received or sent if no rule changed it: copy it to keep
 * it, or use `createDevice({ copyFrames: true })`.
 */
export type FrameListener = (frame: Uint8Array, info: TransmitInfo) => unknown;

/** What a port is connected to: a port of a device, or a function. */
type Cable = DeviceEnd | ListenerEnd;

interface DeviceEnd extends CableEnd {
  readonly device: FrameReceiver;
  readonly port: Port;
}

interface ListenerEnd extends CableEnd {
  readonly port: null;
  readonly listener: FrameListener;
}

/**
 * Connects a port to a function, or to a port of this or of another device; a port can be connected
 * to itself.
 * @throws EINVAL no such port, a closed device; EBUSY one of the ports is connected already
 */
export function connect(
  call: string,
  device: FrameReceiver,
  number: number,
  to: FrameReceiver | FrameListener,
  otherNumber: number | undefined,
): void {
  const port = openPort(call, "port", device, number);
  if (typeof to === "function") {
    free(call, "port", port);
    attach(port, { port: null, listener: to });
    return;
  }
  if (!(to instanceof DeviceBase)) {
    wrongType(call, "to", "a Device or a function", to);
  }
  const other = openPort(call, "otherPort", to, otherNumber as number);
  free(call, "port", port);
  free(call, "otherPort", other);
  attach(port, { device: to, port: other });
  attach(other, { device, port });
}

/** Removes the cable of a port, at both ends. @throws EINVAL no such port */
export function disconnect(call: string, device: DeviceBase, number: number): void {
  const port = portOf(call, "port", device, number);
  const { cable } = port;
  port.cable = null;
  if (cable !== null && cable.port !== null) cable.port.cable = null;
}

/** Removes the cables of all ports of a device. */
export function disconnectAll(call: string, device: DeviceBase): void {
  for (const { number } of device.hardware.ports) disconnect(call, device, number);
}

/** The most cables that one frame crosses in a row, and that it crosses in all with its copies. */
const MOST_DEEP = 64;
const MOST = 4096;

/** Cables that the current frame has crossed. */
let crossed = { deep: 0, all: 0 };

/**
 * Passes a frame that leaves a port to the far end. Returns the outcome there, or null where it
 * went to a function or nowhere. MODEL: devices that forward a frame in a circle would never
 * return; the frame is lost on the 65th cable, and all its copies together cross 4096 cables at
 * most. A frame that a listener sends starts a new count.
 */
export function egress(
  device: FrameReceiver,
  port: Port,
  frame: Uint8Array,
  options: FrameOptions = {},
): Outcome | null {
  const cable = port.cable as Cable | null;
  if (cable === null) return null;
  const before = crossed;
  if (cable.port === null) {
    crossed = { deep: 0, all: 0 };
    try {
      cable.listener(frame, { device, port: port.number });
    } finally {
      crossed = before;
    }
    return null;
  }
  if (before.deep === 0) before.all = 0;
  if (before.deep === MOST_DEEP || before.all === MOST) return null;
  before.deep++;
  before.all++;
  try {
    return cable.device.receive(cable.port.number, frame, options);
  } finally {
    before.deep--;
  }
}

function attach(port: Port, cable: Cable): void {
  port.cable = cable;
}

function openPort(call: string, path: string, device: FrameReceiver, number: number): Port {
  if (device.closed) refuse({ code: "EINVAL", call, reason: "object_destroyed", path: "device", value: device });
  return portOf(call, path, device, number);
}

function free(call: string, path: string, port: Port): void {
  if (port.cable === null) return;
  const hint = "disconnect it first";
  refuse({ code: "EBUSY", call, reason: "in_use", path, value: port.number, hint });
}
