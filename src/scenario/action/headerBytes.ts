/** Bytes that a document writes as headers or as hexadecimal digits: frames, and tunnel headers. */
import { refuse, SteeringError } from "../../errors.js";
import { buildFrame, type Layer } from "../../packet/builder/build.js";
import { LAYOUTS, layoutOf, type LaidOutHeader } from "../../packet/layout.js";
import { REFORMAT_TYPES, type ScenarioReformat } from "./destinations.js";
import type { ScenarioHeader } from "../frame/headers.js";

/** The bytes of headers. @throws EINVAL refused by `buildFrame`, or a value of the wrong type */
export function headerBytes(path: string, headers: readonly ScenarioHeader[]): Uint8Array {
  return built(path, headers.map(layerOf));
}

/** Hexadecimal digits with optional white space and colons. */
export function hexText(path: string, text: string): Uint8Array {
  const digits = text.replace(/[\s:]+/g, "");
  const wrong = /[^0-9a-f]/i.exec(digits)?.[0];
  if (wrong !== undefined || digits.length % 2 !== 0) {
    const hint =
      wrong === undefined
        ? `two digits a byte; there are ${digits.length}`
        : `${JSON.stringify(wrong)} is no hexadecimal digit`;
    refuse({ code: "EINVAL", reason: "bad_scenario", path, value: short(text), hint });
  }
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

/** The most characters of a text that a message quotes. */
export function short(text: string): string {
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}

/** Type and data of a packet reformat, in the form of the device. */
export interface Reformat {
  readonly type: number;
  /** null for a decapsulation. */
  readonly data: Uint8Array | null;
}

export function reformatOf(path: string, { type, data, headers }: ScenarioReformat): Reformat {
  const number = REFORMAT_TYPES.indexOf(type);
  if (headers !== undefined) return { type: number, data: tunnelBytes(`${path}.headers`, type, headers) };
  return { type: number, data: data === undefined ? null : hexText(`${path}.data`, data) };
}

/** The next protocol that the last header must announce, by its name. */
const ANNOUNCES: Readonly<Record<"ethernet" | "ipv4", readonly string[]>> = {
  ethernet: ["gre", "geneve", "vxlan_gpe"],
  ipv4: ["gre", "geneve", "vxlan_gpe", "ethernet", "vlan", "ipv4", "ipv6"],
};
const SIZES = { ethernet: 14, ipv4: 20 } as const;

/**
 * Tunnel headers: the last one announces the encapsulated packet, and UDP has no checksum (RFC 7348
 * section 5, RFC 6935).
 */
function tunnelBytes(path: string, type: ScenarioReformat["type"], headers: readonly ScenarioHeader[]): Uint8Array {
  const layers = headers.map((header) => layerOf(header.header === "udp" ? { checksum: 0, ...header } : header));
  const inside = type === "l2_to_l2_tunnel" || type === "l2_tunnel_to_l2" ? "ethernet" : "ipv4";
  const last = headers.at(-1);
  const announces = last !== undefined && last["bytes"] === undefined && ANNOUNCES[inside].includes(last.header);
  if (!announces) return built(path, layers);
  const whole = built(path, [...layers, { header: inside }]);
  return whole.subarray(0, whole.length - SIZES[inside]);
}

/** Numbers may be hexadecimal text, since JSON has no hexadecimal numbers. */
function layerOf(written: ScenarioHeader): Layer {
  const { header } = written;
  if (!Object.hasOwn(LAYOUTS, header)) return written as unknown as Layer;
  const layer: Record<string, unknown> = { ...written };
  for (const [name, , kind] of layoutOf(header as LaidOutHeader)) {
    const value = layer[name];
    if (kind !== "number" && kind !== "hex" && kind !== "flags") continue;
    if (typeof value === "string" && /^0x[0-9a-f]+$/i.test(value)) layer[name] = BigInt(value);
  }
  return layer as unknown as Layer;
}

function built(path: string, layers: readonly Layer[]): Uint8Array {
  try {
    return buildFrame(layers);
  } catch (error) {
    const place = (inner: string): string => inner.replace(/\blayers(?=\[)/g, path);
    if (error instanceof SteeringError) {
      const { code, reason, value, hint } = error;
      return refuse({ code, reason, path: place(error.path ?? ""), value, hint: hint && place(hint) });
    }
    const [, at, hint] =
      (error instanceof TypeError && /^buildFrame: (layers\S*) (must .*)$/.exec(error.message)) || [];
    if (at === undefined || hint === undefined) throw error;
    return refuse({ code: "EINVAL", reason: "bad_scenario", path: place(at), hint: `it ${hint}` });
  }
}
