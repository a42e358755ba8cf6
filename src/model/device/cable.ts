/** Cables: what is connected to a port gets the frames that leave it. */
import { refuse } from "../../errors.js";
import { DeviceBase } from "../base/deviceBase.js";
import { describe } from "../../checks.js";
import type { FrameOptions } from "../traffic/input.js";
import type { Outcome } from "../traffic/outcome.js";
import { portOf, type CableEnd, type Port } from "../base/ports.js";

/** A device that frames arrive at. */
export interface FrameReceiver extends DeviceBase {
  receive(port: number, frame: Uint8Array, options?: FrameOptions): Outcome;
}

/** Where a frame left a device. */
export interface TransmitInfo {
  device: FrameReceiver;
  port: number;
}

/** Gets the frames that leave a port, each before the call that sent it returns. What it returns is not looked at. */
export type FrameListener = (frame: Uint8Array, info: TransmitInfo) => unknown;

/** The far end, as a port sees it: a port of a device, or a function. */
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
 * Connects a port to a listener, or to a port of a device: another one's, another one of its own, or itself.
 * @throws EINVAL no such port, a closed device; EBUSY when one of the ports is connected already
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
    throw new TypeError(`${call}: to must be a Device or a function, not ${describe(to)}`);
  }
  const other = openPort(call, "otherPort", to, otherNumber as number);
  free(call, "port", port);
  free(call, "otherPort", other);
  attach(port, { device: to, port: other });
  attach(other, { device, port });
}

/** Takes away what is connected to a port, at both ends. @throws EINVAL no such port */
export function disconnect(call: string, device: DeviceBase, number: number): void {
  const port = portOf(call, "port", device, number);
  const { cable } = port;
  port.cable = null;
  if (cable !== null && cable.port !== null) cable.port.cable = null;
}

/** All ports of a device. */
export function disconnectAll(call: string, device: DeviceBase): void {
  for (const { number } of device.hardware.ports) disconnect(call, device, number);
}

/** Cables that a frame crosses, one behind the other, and all that it crosses with its copies. */
const MOST_DEEP = 64;
const MOST = 4096;

/** What has been crossed on the way of the frame that is under way. */
let crossed = { deep: 0, all: 0 };

/**
 * A frame leaves a port. What became of it at the port that it came to, or null where it went to a listener or nowhere.
 * MODEL: what devices forward to each other in a circle would never arrive; it is lost on the 65th cable, and all copies of a
 * frame cross 4096 at the most. What a listener sends begins anew.
 */
export function leave(
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
