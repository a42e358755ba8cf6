/** Tables of links: which ports cables connect, as plain data. */
import { checkArray, checkObject, unsigned, wrongType, type OptionTypes } from "../base/checks.js";
import { namesHint } from "../base/nearest.js";
import { refuse } from "../errors.js";
import type { DeviceOptions } from "../model/device/options.js";
import { CABLE_OPTIONS, type CableOptions } from "../model/traffic/line.js";
import type { CaptureTarget } from "./captures.js";

/** A cable of a fabric, with its options. Frames take time on it: without options, none of the clock. */
export interface Link extends CableOptions {
  /** A port, as `leaf0:3`; a device alone is its port 1. */
  from: string;
  /** The port at the other end. */
  to: string;
  /** Seed of its chance. @default of the fabric's seed and the number of the cable: no two draw the same */
  seed?: number;
  /**
   * A frame that finds this many waiting or being sent is marked CE, if its transport knows ECN (RFC 3168). It
   * needs a rate. @default none is
   */
  ecn?: number;
  /** A pcapng file of the frames that the ports give to the cable, in Node.js, or what gets its bytes. */
  capture?: CaptureTarget;
}

export const LINK_OPTIONS: OptionTypes<Link> = {
  from: "any",
  to: "any",
  ...CABLE_OPTIONS,
  ecn: "any",
  capture: "any",
};

/** A device of a fabric: the options that it is made with, and what it is in its topology. */
export interface FabricNode extends DeviceOptions {
  name: string;
  /** What it is: `host`, `leaf`, or a word of the program's own. */
  role?: string;
  /** Its number among those of its role, from 0. */
  index?: number;
}

/** A port by the name of its device. */
export interface PortName {
  readonly device: string;
  readonly port: number;
}

/** `leaf0:3`, or `h7` for its port 1. A name may have colons of its own. @throws TypeError; EINVAL no port number */
export function portNamed(path: string, text: unknown): PortName {
  if (typeof text !== "string") wrongType(path, "a port, as leaf0:3", text);
  const [, device = "", digits] = /^(.*?)(?::(\d+))?$/s.exec(text) ?? [];
  const port = digits === undefined ? 1 : unsigned(path, Number(digits), 32);
  if (device !== "" && port > 0) return { device, port };
  return refuse({ code: "EINVAL", reason: "out_of_range", path, value: text, hint: PORT_FORM });
}

const PORT_FORM = "the name of a device, a colon, and the number of a port from 1, as leaf0:3";

/** The nodes that a table of links names, with as many ports as it uses. */
export function nodesOf(links: readonly Link[]): FabricNode[] {
  const ports = new Map<string, number>();
  for (const { path, device, port } of endsOf(links)) {
    // `a:x` is more likely a wrong port of `a` than a name.
    if (device.includes(":"))
      refuse({
        code: "EINVAL",
        reason: "out_of_range",
        path,
        value: device,
        hint: `${PORT_FORM}; list devices in nodes whose names have colons`,
      });
    ports.set(device, Math.max(port, ports.get(device) ?? 1));
  }
  return Array.from(ports, ([name, count]) => ({ name, ports: count }));
}

/** @throws EINVAL a link names a device that is not listed */
export function checkNamed(links: readonly Link[], listed: ReadonlySet<string>): void {
  for (const { path, device } of endsOf(links)) if (!listed.has(device)) refuseUnknown(path, device, listed);
}

function* endsOf(links: readonly Link[]): Generator<PortName & { readonly path: string }> {
  for (const [i, link] of links.entries()) {
    for (const end of ["from", "to"] as const) {
      const path = `links[${i}].${end}`;
      yield { path, ...portNamed(path, link[end]) };
    }
  }
}

export function refuseUnknown(path: string, name: string, devices: Iterable<string>): never {
  const hint = namesHint(String(name), "devices", [...devices]);
  return refuse({ code: "EINVAL", reason: "unknown_name", path, value: name, hint });
}

export function refuseDuplicate(path: string, name: string): never {
  const hint = "MAC addresses and ports are named by it: give each device a name of its own";
  return refuse({ code: "EINVAL", reason: "duplicate_name", path, value: name, hint });
}

/** A list of objects among the options. @throws TypeError */
export function checkedList<T extends object>(path: string, list: readonly T[] | undefined): readonly T[] {
  if (list === undefined) return [];
  checkArray(path, list);
  for (const [i, one] of list.entries()) checkObject(`${path}[${i}]`, one);
  return list;
}
