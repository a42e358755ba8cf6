/** A case for every field of every filter, outer and inner, and for every spec with an empty mask. */
import { specLayouts, type FilterField, type SpecLayout } from "../../../../src/model/match/flowSpec.js";
import * as v from "../../../../src/verbs/index.js";
import { tag } from "../../support/flows.js";
import { sampleOf, type Frame, type Level, type Sample } from "./frames.js";
import { inner, MISS, type Case, type Probe } from "./record.js";

const LEVELS: readonly Level[] = ["outer", "inner"];

/** Fields that the driver cannot match. */
const UNSUPPORTED = new Set(["IPV4_EXT ttl", "IPV4_EXT flags", "IPV6 hop_limit", "ESP seq", "GRE c_ks_res0_ver"]);
/** Fields of the outer packet only. */
const OUTER_ONLY = new Set(["GRE", "VXLAN_TUNNEL"]);
/** Masks of fields that have fewer bits than their C type. */
const WHOLE: Readonly<Record<string, bigint>> = {
  "IPV4_EXT flags": 0x6n,
  "IPV6 flow_label": 0xfffffn,
  "VXLAN_TUNNEL tunnel_id": 0xffffffn,
};

export const EMPTY = "(empty mask)";

/** One field in a flow. */
interface Asked {
  /** Specs before it. */
  readonly before: readonly object[];
  readonly type: number;
  readonly field: string;
  readonly whole: bigint;
}

export const shortName = (layout: SpecLayout): string => layout.name.replace("IBV_FLOW_SPEC_", "");
const typeAt = (type: number, level: Level): number => (level === "inner" ? inner({ type }).type : type);
const maskOf = (spec: string, { name, size }: FilterField): bigint =>
  WHOLE[`${spec} ${name}`] ?? (1n << BigInt(8 * size)) - 1n;

function fieldCase(layout: SpecLayout, field: FilterField, level: Level): Case {
  const spec = shortName(layout);
  const whole = maskOf(spec, field);
  const asked: Asked = { before: [], type: typeAt(layout.type, level), field: field.name, whole };
  const run = (probe: Probe): void => {
    if (level === "inner" && OUTER_ONLY.has(spec)) refusesField(probe, asked, "EINVAL");
    else if (probe.connectx && UNSUPPORTED.has(`${spec} ${field.name}`)) refusesField(probe, asked, "EOPNOTSUPP");
    else asksField(probe, asked, sampleOf(layout.type, level));
  };
  return { spec, field: field.name, level, run };
}

function stackCase(carrier: "UDP" | "GRE", level: Level): Case {
  const before = [{ type: typeAt(carrier === "UDP" ? v.IBV_FLOW_SPEC_UDP : v.IBV_FLOW_SPEC_GRE, level) }];
  const asked: Asked = { before, type: typeAt(v.IBV_FLOW_SPEC_MPLS, level), field: "label", whole: 0xffffffffn };
  const run = (probe: Probe): void => {
    // An INNER GRE that it could follow does not exist.
    if (level === "inner" && carrier === "GRE") refusesField(probe, asked, "EINVAL");
    else asksField(probe, asked, sampleOf(carrier, level));
  };
  return { spec: "MPLS", field: `label behind ${carrier}`, level, run };
}

/**
 * An empty mask matches the frames with the header, and other frames if the spec does not imply the
 * header.
 */
function emptyCase(layout: SpecLayout, level: Level): Case {
  const spec = shortName(layout);
  const specs = [{ type: typeAt(layout.type, level) }, tag(9)];
  const run = (probe: Probe): void => {
    if (level === "inner" && OUTER_ONLY.has(spec)) {
      probe.refuses("EINVAL", specs);
      return;
    }
    const { frames, without, implies } = sampleOf(layout.type, level);
    probe.flow("a", specs);
    for (const { bytes } of frames) probe.gets(bytes, "a9 deliver");
    for (const frame of without) probe.gets(frame, implies ? MISS : "a9 deliver");
  };
  return { spec, field: EMPTY, level, run };
}

const asks = ({ before, type, field }: Asked, val: bigint, mask: bigint, tag_id: number): object[] => [
  ...before,
  { type, val: { [field]: val }, mask: { [field]: mask } },
  tag(tag_id),
];

const bitsOf = (mask: bigint): bigint[] =>
  Array.from(mask.toString(2), (_, i) => 1n << BigInt(i)).filter((bit) => (mask & bit) !== 0n);

function refusesField(probe: Probe, asked: Asked, code: string): void {
  probe.refuses(code, asks(asked, 0n, asked.whole, 1));
  for (const bit of bitsOf(asked.whole)) probe.refuses(code, asks(asked, 0n, bit, 1));
}

/**
 * The frame's own value matches it under the full mask and bit by bit; each inverted bit does not,
 * nor does the full mask match a frame without the field. Covers every bit of the first frame under
 * manual, one bit of each byte under the profiles that translate with it, and one bit of the other
 * frames.
 */
function asksField(probe: Probe, asked: Asked, { frames, without, withoutField }: Sample): void {
  const { whole, field } = asked;
  const bits = bitsOf(whole);
  for (const [i, frame] of frames.entries()) {
    const first = probe.connectx ? bits.filter((_, n) => n % 8 === (n >> 3) % 8 || n === bits.length - 1) : bits;
    asksFrame(probe, asked, frame, i === 0 ? first : [bits[i % bits.length]!]);
  }
  const absent = [...without, ...(withoutField[field] ?? [])];
  for (const value of [frames[0]!.values[field]!, 0n]) {
    const flow = probe.flow("a", asks(asked, value, whole, 1));
    for (const bytes of absent) probe.gets(bytes, MISS);
    v.ibv_destroy_flow(flow);
  }
}

function asksFrame(probe: Probe, asked: Asked, { bytes, values }: Frame, bits: readonly bigint[]): void {
  const { whole, field } = asked;
  const value = values[field]!;
  const tries = (val: bigint, mask: bigint, tag_id: number, expected: string, made: "flow" | "flowOfBytes"): void => {
    const flow = probe[made]("a", asks(asked, val, mask, tag_id));
    probe.gets(bytes, expected);
    v.ibv_destroy_flow(flow);
  };
  tries(value, whole, 5, "a5 deliver", "flow");
  tries(value, whole, 6, "a6 deliver", "flowOfBytes");
  for (const bit of bits) {
    tries(value ^ bit, whole, 5, MISS, "flow");
    tries(value & bit, bit, 7, "a7 deliver", "flow");
    tries((value & bit) ^ bit, bit, 7, MISS, "flowOfBytes");
  }
}

/** MPLS over UDP and GRE, by the spec before it. */
const STACK_CASES: readonly Case[] = (["UDP", "GRE"] as const).flatMap((carrier) =>
  LEVELS.map((level) => stackCase(carrier, level)),
);

export const FIELD_CASES: readonly Case[] = specLayouts().flatMap((layout) => [
  ...layout.fields.flatMap((field) => LEVELS.map((level) => fieldCase(layout, field, level))),
  ...(layout.type === v.IBV_FLOW_SPEC_MPLS ? STACK_CASES : []),
  ...LEVELS.map((level) => emptyCase(layout, level)),
]);
