/**
 * The parser options of a device: programmable samples, the Geneve option that rules can match, and
 * the UDP ports of VXLAN.
 */
import { Header, LEVEL_INNER, LEVEL_OUTER } from "../../abi/headers.js";
import {
  EXT_PRESENT_TUNNEL,
  GENEVE_OPTION_0_EXISTS,
  PRESENT_GENEVE_OPTION_0,
  PRESENT_SAMPLE,
  MISC_GENEVE_BITS,
  SAMPLE_COUNT,
} from "../../abi/key.js";
import type { Core } from "../../engine/core.js";
import { refuse } from "../../errors.js";
import { namesHint } from "../../base/nearest.js";
import { checkArray, checkOptions, type OptionTypes, unsigned, wrongType } from "../../base/checks.js";
import { PORT_VXLAN } from "../../abi/protocols.js";
import { HEADERS, OVER_UDP } from "../../headers/headers.js";
import type { HeaderName } from "../../packet/parsedFrame.js";

/** A programmable sample: four bytes of a frame, matched as `misc4.prog_sample_field_value_<id>`. */
export interface SampleOptions {
  /** 0 to 7. */
  id: number;
  /** The first header of this kind; `payload` is the data after the last header of the level. */
  header: Exclude<HeaderName, "none"> | "payload";
  /** @default "outer" */
  level?: "outer" | "inner";
  /** Bytes from the start of the header, 0 to 65535. */
  offset: number;
  /** Requires this UDP destination port at the level. @default any port, or no UDP at all */
  port?: number;
}

/** A Geneve option by its class (16 bits) and its type (8 bits, including the critical bit). */
export interface GeneveOption {
  class: number;
  type: number;
}

export interface ParserOptions {
  /** The option that `geneve_tlv_option_0_exist` and `geneve_tlv_option_0_data` match. */
  geneveOption0?: GeneveOption;
  samples?: readonly SampleOptions[];
  /**
   * The UDP destination ports after which VXLAN is read: those that the driver registered, 4 at most
   * (docs/drivers.md). @default [4789]
   */
  vxlanPorts?: readonly number[];
}

/** UDP destination ports of the headers over UDP. */
export type UdpPorts = Readonly<Record<(typeof OVER_UDP)[number], readonly number[]>>;

/** Linux mlx5, lib/vxlan.h, mlx5_vxlan_max_udp_ports: 4 unless the device reports another number. */
export const MAX_VXLAN_PORTS = 4;
const DEFAULT_VXLAN_PORTS: readonly number[] = [PORT_VXLAN];

const PARSER_TYPES: OptionTypes<ParserOptions> = { geneveOption0: "object", samples: "any", vxlanPorts: "any" };
const GENEVE_TYPES: OptionTypes<GeneveOption> = { class: "number", type: "number" };
const SAMPLE_TYPES: OptionTypes<SampleOptions> = {
  id: "number",
  header: "string",
  level: "string",
  offset: "number",
  port: "number",
};

const ANY_PORT = -1;

/** The checked parser options. */
export class ParserDeclaration {
  readonly #options: ParserOptions;
  /** Presence bits (`here: tunnels`) of what is declared. */
  readonly #declared: number;

  constructor(options: ParserOptions) {
    checkOptions("parser", options, PARSER_TYPES);
    let declared = 0;
    if (options.geneveOption0 !== undefined) {
      checkOptions("parser.geneveOption0", options.geneveOption0, GENEVE_TYPES);
      unsigned("parser.geneveOption0.class", options.geneveOption0.class, 16);
      unsigned("parser.geneveOption0.type", options.geneveOption0.type, 8);
      declared |= PRESENT_GENEVE_OPTION_0;
    }
    const samples: unknown = options.samples ?? [];
    checkArray("parser.samples", samples);
    for (const [i, sample] of (options.samples ?? []).entries()) {
      const path = `parser.samples[${i}]`;
      checkOptions(path, sample, SAMPLE_TYPES);
      checkSample(path, sample);
      const bit = PRESENT_SAMPLE << sample.id;
      if ((declared & bit) !== 0) {
        const hint = "each id is declared once";
        refuse({ code: "EINVAL", reason: "contradiction", path: `${path}.id`, value: sample.id, hint });
      }
      declared |= bit;
    }
    checkVxlanPorts(options.vxlanPorts ?? DEFAULT_VXLAN_PORTS);
    this.#options = options;
    this.#declared = declared;
  }

  /** Passes the options to the core. */
  declare(core: Core): void {
    const { exports } = core;
    const { geneveOption0, samples } = this.#options;
    declareVxlanPorts(core, this.vxlanPorts);
    if (geneveOption0 !== undefined) exports.declareGeneveOption(geneveOption0.class, geneveOption0.type);
    for (const { id, header, level, offset, port } of samples ?? []) {
      const kind = header === "payload" ? Header.none : Header[header];
      exports.declareSample(id, kind, level === "inner" ? LEVEL_INNER : LEVEL_OUTER, offset, port ?? ANY_PORT);
    }
  }

  /** The Geneve option that rules can match; undefined without one. */
  get geneveOption(): GeneveOption | undefined {
    return this.#options.geneveOption0;
  }

  get samples(): readonly SampleOptions[] {
    return this.#options.samples ?? [];
  }

  /** The UDP ports of VXLAN. */
  get vxlanPorts(): readonly number[] {
    return this.#options.vxlanPorts ?? DEFAULT_VXLAN_PORTS;
  }

  /** The UDP destination ports after which each header is read. */
  get udpPorts(): UdpPorts {
    const ports = OVER_UDP.map((header) => [header, [HEADERS[header].announced.port]]);
    return { ...(Object.fromEntries(ports) as UdpPorts), vxlan: this.vxlanPorts };
  }

  /** Whether rules can match a Geneve option. */
  get declaresGeneveOption(): boolean {
    return (this.#declared & PRESENT_GENEVE_OPTION_0) !== 0;
  }

  /**
   * @throws EOPNOTSUPP a mask, presence included, needs an option that the device does not declare
   */
  check(mask: Uint8Array): void {
    const asked = new DataView(mask.buffer, mask.byteOffset).getUint32(EXT_PRESENT_TUNNEL);
    const missing = asked & ~this.#declared;
    for (let id = 0; id < SAMPLE_COUNT; id++) {
      if ((missing & (PRESENT_SAMPLE << id)) === 0) continue;
      undeclared(`misc4.prog_sample_field_value_${id}`, `samples: [{ id: ${id}, ... }]`);
    }
    const exists =
      ((mask[MISC_GENEVE_BITS] ?? 0) & GENEVE_OPTION_0_EXISTS) !== 0 &&
      (this.#declared & PRESENT_GENEVE_OPTION_0) === 0;
    if ((missing & PRESENT_GENEVE_OPTION_0) === 0 && !exists) return;
    undeclared(
      exists ? "misc.geneve_tlv_option_0_exist" : "misc3.geneve_tlv_option_0_data",
      "geneveOption0: { class, type }",
    );
  }
}

/** Lets the parser of a core read VXLAN after these ports only. */
export function declareVxlanPorts(
  { exports }: Core,
  [first = 0, second = 0, third = 0, fourth = 0]: readonly number[],
): void {
  exports.declareVxlanPorts(first, second, third, fourth);
}

/** Why a device cannot read VXLAN at a UDP port, beside the ports that it has; null if it can. */
export function vxlanPortError(port: number, ports: readonly number[]): string | null {
  const other = OVER_UDP.find((header) => header !== "vxlan" && HEADERS[header].announced.port === port);
  if (other !== undefined) return `port ${port} is that of ${HEADERS[other].name}`;
  if (port === 0) return "1 to 65535";
  if (ports.includes(port)) return "each port is registered once";
  return ports.length < MAX_VXLAN_PORTS ? null : `a device has ${MAX_VXLAN_PORTS} VXLAN ports at most`;
}

function checkVxlanPorts(ports: readonly number[]): void {
  const path = "parser.vxlanPorts";
  checkArray(path, ports);
  for (const [i, port] of ports.entries()) {
    unsigned(`${path}[${i}]`, port, 16);
    const hint = vxlanPortError(port, ports.slice(0, i));
    if (hint !== null) refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}[${i}]`, value: port, hint });
  }
}

function undeclared(field: string, what: string): never {
  const hint = `the device does not declare it: createDevice({ parser: { ${what} } })`;
  return refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: `mask.${field}`, hint });
}

function checkSample(path: string, { id, header, level, offset, port }: SampleOptions): void {
  if (unsigned(`${path}.id`, id, 8) >= SAMPLE_COUNT) {
    refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.id`, value: id, hint: "0 to 7" });
  }
  if (typeof header !== "string") wrongType(`${path}.header`, "a string", header);
  const names = ["payload", ...Object.keys(Header).filter((name) => name !== "none" && Number.isNaN(Number(name)))];
  if (!names.includes(header)) {
    const hint = namesHint(header, "headers", names);
    refuse({ code: "EINVAL", reason: "bad_header", path: `${path}.header`, value: header, hint });
  }
  if (level !== undefined && level !== "outer" && level !== "inner") {
    const hint = `"outer" or "inner"`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.level`, value: level, hint });
  }
  unsigned(`${path}.offset`, offset, 16);
  if (port !== undefined) unsigned(`${path}.port`, port, 16);
}
