/** Cables: a port's frames go to the port, or to the function, that is connected to it. */
import { refuse } from "../../errors.js";
import { DeviceBase } from "../base/deviceBase.js";
import { checkOptions, wrongType } from "../../base/checks.js";
import type { FrameOptions } from "./input.js";
import type { Outcome } from "./outcome.js";
import { portOf, type CableCounters, type CableEnd, type Port } from "../base/port/ports.js";
import { Line, lineSettings, type CableOptions } from "./line.js";

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

/** Options of a port that is connected to a function. */
export interface ListenerOptions {
  /**
   * Whether the function carries frames on in time of its own. Connections then wait for answers until
   * their time-outs; else a packet without an answer is repeated at once. @default false
   */
  delays?: boolean;
}

/** What a port is connected to: a port of a device, or a function. */
type Cable = DeviceEnd | ListenerEnd;

interface DeviceEnd extends CableEnd {
  readonly device: FrameReceiver;
  readonly port: Port;
  /** The way to the far end; null where frames arrive at once. */
  readonly line: Line | null;
}

interface ListenerEnd extends CableEnd {
  readonly port: null;
  readonly listener: FrameListener;
  readonly delays: boolean;
}

/**
 * Connects a port to a function, or to a port of this or of another device; a port can be connected
 * to itself.
 * @throws EINVAL no such port, a closed device; EBUSY one of the ports is connected already
 */
export function connect(
  device: FrameReceiver,
  number: number,
  to: FrameReceiver | FrameListener,
  more: number | ListenerOptions | undefined,
  options: CableOptions | undefined,
): void {
  const port = openPort("port", device, number);
  if (typeof to === "function") {
    const own = (more ?? {}) as ListenerOptions;
    checkOptions("options", own, { delays: "boolean" });
    free("port", port);
    attach(port, { port: null, listener: to, delays: own.delays === true });
    return;
  }
  if (!(to instanceof DeviceBase)) {
    wrongType("to", "a Device or a function", to);
  }
  const other = openPort("otherPort", to, more as number);
  const settings = options === undefined ? null : lineSettings(options, device.seed);
  free("port", port);
  free("otherPort", other);
  const line = (from: FrameReceiver, end: FrameReceiver, at: Port, salt: number): Line | null =>
    settings === null ? null : new Line(from, end, at, settings, salt);
  attach(port, { device: to, port: other, line: line(device, to, other, 0) });
  if (other !== port) attach(other, { device, port, line: line(to, device, port, 1) });
}

/** The port that a port's cable leads to, and whether frames arrive there at once; null for a listener. */
export function farEnd(cable: CableEnd): { device: FrameReceiver; port: Port; atOnce: boolean } | null {
  const end = cable as Cable;
  return end.port === null ? null : { device: end.device, port: end.port, atOnce: end.line === null };
}

/** What a port's cable has counted, or the one that was removed last; null for a port whose frames arrive at once. */
export function cableCounters({ cable, counted }: Port): CableCounters | null {
  return lineOf(cable as Cable | null)?.counters ?? counted;
}

function lineOf(cable: Cable | null): Line | null {
  return cable === null || cable.port === null ? null : cable.line;
}

/** Removes the cable of a port, at both ends. @throws EINVAL no such port */
export function disconnect(device: DeviceBase, number: number): void {
  const port = portOf("port", device, number);
  const { cable } = port as { readonly cable: Cable | null };
  unplug(port);
  if (cable !== null && cable.port !== null) unplug(cable.port);
}

/** Takes the cable out of a port. What it has counted stays, with the frames that were under way. */
function unplug(port: Port): void {
  const line = lineOf(port.cable as Cable | null);
  line?.cut();
  port.counted = line?.counters ?? port.counted;
  port.cable = null;
}

/** Removes the cables of all ports of a device. */
export function disconnectAll(device: DeviceBase): void {
  for (const { number } of device.hardware.ports) disconnect(device, number);
}

/** The most cables that one frame crosses in a row, and that it crosses in all with its copies. */
const MAX_DEEP = 64;
const MAX = 4096;

/** Cables that the current frame has crossed. */
let crossed = { deep: 0, all: 0 };

/** Frames that cables have taken which do not arrive at once. */
let taken = 0;

/** Whether a frame that leaves during `run` is carried on in time: its answer may come later. */
export function isCarried(run: () => unknown): boolean {
  const before = taken;
  run();
  return taken !== before;
}

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
    if (cable.delays) taken++;
    crossed = { deep: 0, all: 0 };
    try {
      cable.listener(frame, { device, port: port.number });
    } finally {
      crossed = before;
    }
    return null;
  }
  if (cable.line !== null) {
    taken++;
    cable.line.send(frame);
    return null;
  }
  if (before.deep === 0) before.all = 0;
  if (before.deep === MAX_DEEP || before.all === MAX) return null;
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
  port.counted = null;
}

function openPort(path: string, device: FrameReceiver, number: number): Port {
  if (device.closed) refuse({ code: "EINVAL", reason: "object_destroyed", path: "device", value: device });
  return portOf(path, device, number);
}

function free(path: string, port: Port): void {
  if (port.cable === null) return;
  const hint = "disconnect it first";
  refuse({ code: "EBUSY", reason: "in_use", path, value: port.number, hint });
}
