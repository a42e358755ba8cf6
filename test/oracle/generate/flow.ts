// Random flows for a given frame: they match it, or miss it by one bit. Values are those of the
// frame under random masks of every kind; some flows are invalid (EINVAL), have bits outside their
// masks, or have a spec that a later one replaces.

import {
  type Filter,
  FILTERS,
  type FlowSpec,
  INNER,
  SPEC,
  bare,
  isAction,
  specsAreValid,
  valueFor,
} from "../flow/spec.js";
import { FLAG, type FlowAttr, TYPE } from "../flow/flows.js";
import { type Fields } from "../walk/match.js";
import { type Level } from "../wire/packet.js";
import { type Random } from "./random.js";

export interface RandomFlow extends FlowAttr {
  /**
   * "hit": the specs match the frame. "bit": they miss it by one bit. "wrong": the specs are
   * invalid.
   */
  near: "hit" | "bit" | "wrong";
  /** The deciding field. */
  missBy: string | null;
}

export interface FlowWishes {
  near?: RandomFlow["near"];
  ports?: number;
  /** Names of counters objects. */
  counters?: readonly string[];
}

export function randomFlowFor(fields: Fields, random: Random, wishes: FlowWishes = {}): RandomFlow {
  const near = wishes.near ?? random.pick(["hit", "hit", "hit", "bit", "bit", random.pick(["bit", "wrong"] as const)]);
  const groups = random.shuffle(groupsFor(fields, random)).slice(0, random.pick([0, 1, 1, 2, 2, 3, 4, 9]));
  const filled = fill(fields, groups.flat(), random);
  const missBy = near === "bit" ? flip(filled, random) : null;
  let specs = withActions(replaced(filled, random), random, wishes.counters ?? []);
  if (near === "wrong") specs = spoiled(specs, random);
  return {
    ...randomAttr(random, wishes.ports ?? 1),
    specs,
    near: missBy === null && near === "bit" ? "hit" : near,
    missBy,
  };
}

/** Mostly a few values, so that flows collide; also all 16 bits. */
const PRIORITIES = [0, 1, 1, 2, 2, 2, 15, 16, 0x7fff, 0x8000, 0xffff];

/** Mostly NORMAL. */
function randomAttr(random: Random, ports: number): Omit<FlowAttr, "specs"> {
  const type = random.chance(0.85)
    ? TYPE.NORMAL
    : random.pick([TYPE.ALL_DEFAULT, TYPE.MC_DEFAULT, TYPE.SNIFFER, TYPE.SNIFFER]);
  let flags = random.chance(0.3) ? FLAG.ALLOW_LOOP_BACK : 0;
  if (type === TYPE.NORMAL || random.chance(0.02)) {
    if (random.chance(0.25)) flags |= FLAG.DONT_TRAP;
    if (random.chance(0.2)) flags |= FLAG.EGRESS;
  }
  return { type, flags, port: random.between(1, ports), priority: random.pick(PRIORITIES) };
}

/** Specs that can match a frame; specs whose order matters stay together. */
function groupsFor(fields: Fields, random: Random): FlowSpec[][] {
  const groups: FlowSpec[][] = [];
  for (const level of ["outer", "inner"] as const) {
    const has = (name: string): boolean => fields.has(`${level}.${name}`);
    const spec = (type: number): FlowSpec => ({ type: level === "inner" ? type | INNER : type });
    const add = (...types: number[]): void => void groups.push(types.map(spec));
    if (has("dmac")) add(SPEC.ETH);
    const version = fields.get(`${level}.ip_version`);
    if (version === 4n) add(random.pick([SPEC.IPV4, SPEC.IPV4_EXT, SPEC.IPV4_EXT]));
    if (version === 6n) add(SPEC.IPV6);
    const protocol = fields.get(`${level}.ip_protocol`);
    if (protocol === 6n) add(SPEC.TCP);
    const overUdp = entryIs(fields, level, "_over_udp");
    if (protocol === 17n) add(SPEC.UDP, ...(overUdp ? [SPEC.MPLS] : []));
    if (fields.has(`misc.${level}_esp_spi`) || random.chance(0.05)) add(SPEC.ESP);
    if (entryIs(fields, level, "")) groups.push([...(random.chance(0.3) ? [spec(SPEC.ESP)] : []), spec(SPEC.MPLS)]);
  }
  const overGre = entryIs(fields, "outer", "_over_gre");
  if (fields.get("outer.ip_protocol") === 47n) {
    groups.push([{ type: SPEC.GRE }, ...(overGre ? [{ type: SPEC.MPLS }] : [])]);
  }
  if (fields.has("misc.vxlan_vni") || random.chance(0.02)) groups.push([{ type: SPEC.VXLAN_TUNNEL }]);
  return groups;
}

const entryIs = (fields: Fields, level: Level, over: string): boolean =>
  fields.has(`${level === "inner" && over !== "" ? "ext" : "misc2"}.${level}_first_mpls${over}_label`);

/** Bits that a filter field may mask, if not all. */
const ALLOWED: Readonly<Record<string, number>> = { flow_label: 20, tunnel_id: 24 };

function widthOf(spec: FlowSpec, name: string): number {
  return ALLOWED[name] ?? FILTERS.get(bare(spec))?.[name] ?? 0;
}

/** Masks and values of the specs of a flow. */
function fill(fields: Fields, specs: readonly FlowSpec[], random: Random): FlowSpec[] {
  return specs.map((spec, i) => {
    const mask: Record<string, bigint> = {};
    const val: Record<string, bigint> = {};
    // Most fields are omitted, so that flows collide.
    const asked = random.pick([0.2, 0.4, 0.9]);
    for (const name of Object.keys(FILTERS.get(bare(spec)) ?? {})) {
      const value = valueFor(fields, { spec, before: specs[i - 1] }, name);
      const width = widthOf(spec, name);
      const isFlags = bare(spec) === SPEC.IPV4_EXT && name === "flags";
      if (value === undefined || !random.chance(asked)) mask[name] = 0n;
      else mask[name] = maskFor(width, random) & (isFlags ? 6n : -1n);
      const outside = random.chance(0.2) ? random.bits(width) & ~mask[name] : 0n;
      val[name] = ((value ?? 0n) & mask[name]) | outside;
    }
    return { ...spec, val, mask };
  });
}

function maskFor(width: number, random: Random): bigint {
  const full = (1n << BigInt(width)) - 1n;
  switch (random.below(4)) {
    case 0:
      return full ^ (full >> BigInt(random.between(1, width)));
    case 1:
      return random.bits(width);
    case 2:
      return 1n << BigInt(random.below(width));
    default:
      return full;
  }
}

/** Flips one masked bit; returns the field of that bit, null if no spec masks any. */
function flip(specs: FlowSpec[], random: Random): string | null {
  const bits = specs.flatMap((spec, i) => {
    // Of two specs of one type the last one counts.
    if (bare(spec) !== SPEC.MPLS && specs.findLastIndex(({ type }) => type === spec.type) !== i) return [];
    return Object.entries(spec.mask ?? {}).flatMap(([name, one]) => bitsOf(i, name, one));
  });
  if (bits.length === 0) return null;
  // Draws the field first; otherwise addresses would dominate.
  const { spec: i, name } = random.pick([...new Map(bits.map((bit) => [`${bit.spec} ${bit.name}`, bit])).values()]);
  const { bit } = random.pick(bits.filter((one) => one.spec === i && one.name === name));
  const spec = specs[i] as FlowSpec;
  specs[i] = { ...spec, val: { ...spec.val, [name]: ((spec.val as Filter)[name] ?? 0n) ^ bit } };
  return `${spec.type.toString(16)} ${name}`;
}

/**
 * Specs close to other specs: the same, another value under the same masks, one mask bit less, or
 * the destination's match on the source. Only the first are identical.
 */
export function related(specs: readonly FlowSpec[], random: Random): FlowSpec[] {
  const near = specs.map((spec) => ({ ...spec }));
  switch (random.below(5)) {
    case 0:
      flip(near, random);
      break;
    case 1:
      askLess(near, random);
      break;
    case 2:
      return near.map((spec) => ({ ...spec, ...swapped(spec) }));
  }
  return near;
}

/** Removes one bit from a mask; the value may or may not have that bit. */
function askLess(specs: FlowSpec[], random: Random): void {
  const asking = specs.flatMap(({ mask = {} }, i) =>
    Object.entries(mask).flatMap(([name, one]) => bitsOf(i, name, one)),
  );
  if (asking.length === 0) return;
  const { spec: i, name, bit } = random.pick(asking);
  const spec = specs[i] as FlowSpec;
  specs[i] = { ...spec, mask: { ...spec.mask, [name]: ((spec.mask as Filter)[name] ?? 0n) ^ bit } };
}

/** Swaps source and destination. */
function swapped({ val, mask }: FlowSpec): Pick<FlowSpec, "val" | "mask"> {
  const turn = (filter: Filter): Filter =>
    Object.fromEntries(
      Object.entries(filter).map(([name, one]) => [
        name.replace(/^(src|dst)/, (end) => (end === "src" ? "dst" : "src")),
        one,
      ]),
    );
  return { ...(val ? { val: turn(val) } : {}), ...(mask ? { mask: turn(mask) } : {}) };
}

function bitsOf(spec: number, name: string, mask: bigint): { spec: number; name: string; bit: bigint }[] {
  const bits = [];
  for (let bit = 1n; bit <= mask; bit <<= 1n) if (mask & bit) bits.push({ spec, name, bit });
  return bits;
}

/** Rarely puts a spec first that a later one replaces. */
function replaced(specs: readonly FlowSpec[], random: Random): FlowSpec[] {
  const last = specs.filter((spec) => bare(spec) !== SPEC.MPLS).at(-1);
  if (!last || !random.chance(0.06)) return [...specs];
  const val = Object.fromEntries(Object.keys(last.val ?? {}).map((name) => [name, random.bits(widthOf(last, name))]));
  return [{ ...last, val, mask: val }, ...specs].filter((spec) => specsAreValid([spec]));
}

function withActions(specs: readonly FlowSpec[], random: Random, counters: readonly string[]): FlowSpec[] {
  const actions: FlowSpec[] = [];
  if (random.chance(0.35)) actions.push({ type: SPEC.ACTION_TAG, tag_id: random.pick([0, 1, 1, 0xffffff]) });
  if (random.chance(0.15)) actions.push({ type: SPEC.ACTION_DROP });
  if (counters.length > 0 && random.chance(0.5)) {
    actions.push({ type: SPEC.ACTION_COUNT, counters: random.pick(counters) });
  }
  return random.chance(0.5) ? [...actions, ...specs] : [...specs, ...actions];
}

/** Specs that no flow can have. */
function spoiled(specs: readonly FlowSpec[], random: Random): FlowSpec[] {
  const wrong: FlowSpec[][] = [
    [{ type: SPEC.GRE | INNER }],
    [{ type: SPEC.VXLAN_TUNNEL | INNER }],
    [{ type: random.pick([0x21, 0x33, 0x42, 0x52, 0x61, 0x200, 0x1004]) }],
    [{ type: SPEC.ACTION_TAG, tag_id: 2 ** 24 }],
    [
      { type: SPEC.ACTION_TAG, tag_id: 1 },
      { type: SPEC.ACTION_TAG, tag_id: 1 },
    ],
    [{ type: SPEC.TCP }, { type: SPEC.UDP }],
    [{ type: SPEC.IPV4 }, { type: SPEC.IPV6 }],
    [{ type: SPEC.IPV6, mask: { flow_label: 1n << 20n } }],
    [{ type: SPEC.VXLAN_TUNNEL, val: { tunnel_id: 1n << 24n } }],
    [{ type: SPEC.IPV4_EXT, mask: { flags: 1n } }],
  ];
  return [...specs.filter((spec) => !isAction(spec)), ...random.pick(wrong)];
}
