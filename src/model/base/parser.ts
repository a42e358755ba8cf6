/**
 * The parser options of a device: programmable samples, and the Geneve option that rules can match.
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
}

const PARSER_TYPES: OptionTypes<ParserOptions> = { geneveOption0: "object", samples: "any" };
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
    this.#options = options;
    this.#declared = declared;
  }

  /** Passes the options to the core. */
  declare({ exports }: Core): void {
    const { geneveOption0, samples } = this.#options;
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
