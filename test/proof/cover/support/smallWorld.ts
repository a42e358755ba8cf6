/**
 * Worlds so small that every frame can be tried: rules look at some bits of a few fields, and all values of these bits are
 * walked through the tables by brute force. Written from docs/rules.md and docs/parsing.md.
 */
import type { DeviceFieldName } from "../../../../src/model/action/modifyFields.js";
import type { Random } from "../../../oracle/generate/random.js";

/** The header that a field is in; state and registers are always there. */
type Header = "always" | "ethernet" | "vlan" | "ip" | "ipv4";

export interface SmallField {
  name: string;
  width: number;
  /** Where the field is present. */
  header: Header;
  /** Names of match fields: each is so many bits of this one, from a bit on. */
  parts: readonly (readonly [name: string, shift: number, width: number])[];
  /** The name that header changes have for it, and where they change it. */
  modify: DeviceFieldName | null;
  modifyHeader: Header;
}

const field = <Name extends string>(
  name: Name,
  width: number,
  header: Header,
  parts: SmallField["parts"],
  modify: DeviceFieldName | null,
  modifyHeader = header,
): SmallField & { name: Name } => ({ name, width, header, parts, modify, modifyHeader });

const register = <Name extends "A" | "C_0" | "C_1">(name: Name, match: string): SmallField & { name: Name } =>
  field(name, 32, "always", [[match, 0, 32]], `METADATA_REG_${name}`);

/** Of MAC and IP addresses the low 16 bits. */
export const FIELDS = [
  field("dmac", 16, "ethernet", [["outer.dmac", 0, 16]], "OUT_DMAC_15_0"),
  field(
    "tci",
    16,
    "vlan",
    [
      ["outer.first_prio", 13, 3],
      ["outer.first_cfi", 12, 1],
      ["outer.first_vid", 0, 12],
    ],
    "OUT_FIRST_VID",
  ),
  field("src", 16, "ipv4", [["outer.ipv4_src", 0, 16]], "OUT_SIPV4"),
  field("dst", 16, "ipv4", [["outer.ipv4_dst", 0, 16]], "OUT_DIPV4"),
  field("dscp", 6, "ip", [["outer.ip_dscp", 0, 6]], "OUT_IP_DSCP"),
  field("ecn", 2, "ip", [["outer.ip_ecn", 0, 2]], "OUT_IP_ECN"),
  field("ttl", 8, "ip", [["outer.ip_ttl_hoplimit", 0, 8]], "OUT_IP_TTL", "ipv4"),
  register("C_0", "misc2.metadata_reg_c_0"),
  register("C_1", "misc2.metadata_reg_c_1"),
  register("A", "misc2.metadata_reg_a"),
  field("cvlan", 1, "always", [["outer.cvlan_tag", 0, 1]], null),
  field("svlan", 1, "always", [["outer.svlan_tag", 0, 1]], null),
  field("version", 4, "ip", [["outer.ip_version", 0, 4]], null),
] as const;

const number = (name: (typeof FIELDS)[number]["name"]) => FIELDS.findIndex((one) => one.name === name);
const [A, CVLAN, SVLAN, VERSION] = [number("A"), number("cvlan"), number("svlan"), number("version")];
/** Registers that only changes fill. */
const REGISTERS = [number("C_0"), number("C_1")];
/** The fields of frames whose bits are drawn; sent frames bring register A too. */
const DRAWN = [...Array(number("ttl") + 1).keys()];

/** Bits of a part of a field, or its limits. A mask of 0 asks for the header alone. */
export interface Term {
  field: number;
  part: number;
  mask: number;
  value: number;
  range: boolean;
  low: number;
  high: number;
}

export type Change =
  | { type: "set"; field: number; data: number; offset: number; length: number }
  | { type: "add"; field: number; data: number }
  | { type: "copy"; field: number; from: number; to: number; toOffset: number; length: number };

export interface SmallRule {
  name: string;
  table: 0 | 1;
  /** Its matcher, in the order in which they are made. */
  matcher: number;
  terms: Term[];
  changes: Change[];
  then: "next" | "drop" | "queue" | "nothing";
}

/** Bits of a field that rules look at. */
export interface Group {
  field: number;
  shift: number;
  width: number;
}

export interface SmallWorld {
  /** Whether the first table is the root table. */
  root: boolean;
  sent: boolean;
  groups: Group[];
  /** The matchers of each table, oldest first, by priority. */
  priorities: [number[], number[]];
  rules: SmallRule[];
}

/** The values of all fields; what the frame has. */
interface State {
  values: number[];
  headers: ReadonlySet<Header>;
}

/** A frame, without the bits that no rule looks at. */
export interface SmallFrame {
  /** Too short for an Ethernet header. */
  short: boolean;
  /** 0x8100, 0x88a8, or 0 without a tag. */
  tag: number;
  /** 4, 6, or 0 without an IP header. */
  version: number;
  values: number[];
}

function termHolds({ values, headers }: State, term: Term): boolean {
  const { header, parts } = FIELDS[term.field] as SmallField;
  if (!headers.has(header)) return false;
  const [, shift, width] = parts[term.part]!;
  const value = ((values[term.field]! >>> shift) & (2 ** width - 1)) >>> 0;
  if (term.range) return term.low <= value && value <= term.high;
  return (value & term.mask) >>> 0 === term.value;
}

/** Each change works on the result of the one before; without its header it does nothing. */
function change({ values, headers }: State, changes: readonly Change[]): void {
  const isHere = (at: number) => headers.has(FIELDS[at]!.modifyHeader);
  for (const one of changes) {
    if (!isHere(one.field) || (one.type === "copy" && !isHere(one.to))) continue;
    const value = values[one.field]!;
    if (one.type === "add") values[one.field] = (value + one.data) % 2 ** FIELDS[one.field]!.width;
    else if (one.type === "set") write(values, one.field, one.offset, one.length, one.data);
    else write(values, one.to, one.toOffset, one.length, value >>> one.from);
  }
}

function write(values: number[], at: number, offset: number, length: number, data: number): void {
  const mask = (2 ** length - 1) << offset;
  values[at] = ((values[at]! & ~mask) | ((data << offset) & mask)) >>> 0;
}

/** The rules of a table, first the one that wins: priority, matcher, then age. */
export function inOrder(world: SmallWorld, table: 0 | 1): SmallRule[] {
  const priorities = world.priorities[table];
  // The newer matcher comes first, in the root table the older one.
  const newer = table === 0 && world.root ? 1 : -1;
  return world.rules
    .filter((rule) => rule.table === table)
    .map((rule, age) => ({ rule, age }))
    .sort(
      (a, b) =>
        priorities[a.rule.matcher]! - priorities[b.rule.matcher]! ||
        newer * (a.rule.matcher - b.rule.matcher) ||
        a.age - b.age,
    )
    .map(({ rule }) => rule);
}

/** Every frame, as far as rules can tell frames apart. */
export function allFrames({ root, sent, groups, rules }: SmallWorld): SmallFrame[] {
  const asked = new Set<Header>();
  const ask = (at: number) => asked.add(FIELDS[at]!.header).add(FIELDS[at]!.modifyHeader);
  for (const group of groups) ask(group.field);
  for (const rule of rules) for (const term of rule.terms) ask(term.field);
  const states = rules.some(({ terms }) => terms.some((term) => term.field === CVLAN || term.field === SVLAN));
  const tags = states || asked.has("vlan") ? [0, 0x8100, 0x88a8] : [0];
  const versions = asked.has("ip") || asked.has("ipv4") ? [0, 4, 6] : [0];
  const frames: SmallFrame[] = [];
  const shapes = tags.flatMap((tag) => versions.map((version) => ({ short: false, tag, version })));
  // The address that leads to other worlds needs the header, and queue pairs do not send frames without it.
  if (root && !sent) shapes.push({ short: true, tag: 0, version: 0 });
  for (const shape of shapes) {
    const { tag, version } = shape;
    const headers = headersOf(shape);
    const values = FIELDS.map(() => 0);
    [values[CVLAN], values[SVLAN], values[VERSION]] = [Number(tag === 0x8100), Number(tag === 0x88a8), version];
    const free = groups.filter((group) => headers.has(FIELDS[group.field]!.header));
    const width = free.reduce((sum, group) => sum + group.width, 0);
    for (let bits = 0; bits < 2 ** width; bits++) {
      const own = [...values];
      let left = bits;
      for (const group of free) {
        own[group.field]! |= (left & (2 ** group.width - 1)) << group.shift;
        left >>>= group.width;
      }
      frames.push({ ...shape, values: own });
    }
  }
  return frames;
}

function headersOf({ short, tag, version }: Omit<SmallFrame, "values">): Set<Header> {
  const headers = new Set<Header>(["always"]);
  if (!short) headers.add("ethernet");
  if (tag !== 0) headers.add("vlan");
  if (version !== 0) headers.add("ip");
  if (version === 4) headers.add("ipv4");
  return headers;
}

/** What brute force knows of a rule. */
export interface Truth {
  /** Indexes of the frames that hit it. */
  frames: number[];
  /** For each frame that comes to its table and matches it, the rules before it that match too. */
  rivals: SmallRule[][];
}

/** The frames of each rule. */
export function enumerate(world: SmallWorld): { frames: SmallFrame[]; truth: Map<SmallRule, Truth> } {
  const frames = allFrames(world);
  const tables = [inOrder(world, 0), inOrder(world, 1)] as const;
  const truth = new Map<SmallRule, Truth>(world.rules.map((rule) => [rule, { frames: [], rivals: [] }]));
  for (const [index, frame] of frames.entries()) {
    const state: State = { values: [...frame.values], headers: headersOf(frame) };
    for (const rules of tables) {
      const matching = rules.filter((rule) => rule.terms.every((term) => termHolds(state, term)));
      for (const [place, rule] of matching.entries()) truth.get(rule)!.rivals.push(matching.slice(0, place));
      const hit = matching[0];
      if (hit === undefined) break;
      truth.get(hit)!.frames.push(index);
      change(state, hit.changes);
      if (hit.then !== "next") break;
    }
  }
  return { frames, truth };
}

/** Bits of keys that a world has at most, and of each group. */
const MAX_BITS = 12;
const MAX_PER_GROUP = 4;
/** Ranges that a rule can have. */
const MAX_RANGES = 2;

/** A world with up to 12 bits. */
export function drawWorld(random: Random, root: boolean): SmallWorld {
  const sent = random.chance(0.3);
  const groups: Group[] = [];
  let bits = random.between(2, random.chance(0.05) ? MAX_BITS : 8);
  const fields = random.shuffle(sent ? [...DRAWN, A] : DRAWN);
  for (const at of fields.slice(0, random.between(1, 4))) {
    // The kind of tag, and the IP version, are bits too.
    bits -= FIELDS[at]!.header === "ethernet" || FIELDS[at]!.header === "always" ? 0 : 2;
    if (bits <= 0) break;
    const width = Math.min(bits, random.between(1, random.chance(0.1) ? 8 : MAX_PER_GROUP), FIELDS[at]!.width);
    groups.push({ field: at, width, shift: random.below(Math.min(16, FIELDS[at]!.width) - width + 1) });
    bits -= width;
  }
  if (groups.length === 0) groups.push({ field: number("dmac"), width: 2, shift: 3 });
  const matchers = () => Array.from({ length: random.between(1, 3) }, () => random.below(3));
  const world: SmallWorld = { root, sent, groups, priorities: [matchers(), matchers()], rules: [] };
  const second = random.chance(0.7);
  for (const table of second ? ([0, 1] as const) : ([0] as const)) {
    for (let left = random.between(1, 7); left > 0; left--) world.rules.push(drawRule(random, world, table, second));
  }
  return world;
}

function drawRule(random: Random, world: SmallWorld, table: 0 | 1, second: boolean): SmallRule {
  const before = world.rules.filter((rule) => rule.table === table);
  const twin = before.length > 0 && random.chance(0.08) ? random.pick(before) : undefined;
  const goesOn = table === 0 && second;
  return {
    name: `rule ${world.rules.length}`,
    table,
    matcher: twin !== undefined && random.chance(0.7) ? twin.matcher : random.below(world.priorities[table].length),
    terms: twin?.terms ?? drawTerms(random, world, table),
    changes: goesOn ? Array.from({ length: random.below(4) }, () => drawChange(random, world)) : [],
    then: goesOn && random.chance(0.75) ? "next" : random.pick(["drop", "queue", "queue", "nothing"]),
  };
}

function drawTerms(random: Random, world: SmallWorld, table: 0 | 1): Term[] {
  const terms = new Map<string, Term>();
  const put = (term: Term) => terms.set(`${term.field}/${term.part}`, term);
  const plain = { range: false, low: 0, high: 0 };
  for (const { field: at, shift, width } of world.groups) {
    if (!random.chance(0.6)) continue;
    for (const [part, [, low, size]] of (FIELDS[at] as SmallField).parts.entries()) {
      const [from, to] = [Math.max(shift, low), Math.min(shift + width, low + size)];
      if (from >= to) continue;
      const mask = random.below(2 ** (to - from)) * 2 ** (from - low);
      const term = { field: at, part, mask, value: 0, ...plain };
      term.value = (random.word() & mask) >>> 0;
      if (to - from === size && random.chance(0.3)) Object.assign(term, drawRange(random, size));
      if (mask !== 0 || term.range || random.chance(0.1)) put(term);
    }
  }
  for (const at of REGISTERS) {
    if (!random.chance(table === 1 ? 0.35 : 0.02)) continue;
    const mask = 1 + random.below(31);
    const term = { field: at, part: 0, mask, value: (random.word() & mask) >>> 0, ...plain };
    put(random.chance(0.2) ? Object.assign(term, drawRange(random, 5)) : term);
  }
  const has = (header: Header) => world.groups.some((group) => FIELDS[group.field]!.header === header);
  if (has("vlan") && random.chance(0.2)) {
    put({ field: random.pick([CVLAN, SVLAN]), part: 0, mask: 1, value: random.below(2), ...plain });
  }
  if (has("ip") && !has("ipv4") && random.chance(0.2)) {
    put({ field: VERSION, part: 0, mask: 15, value: random.pick([4, 6]), ...plain });
  }
  const ranges = [...terms].filter(([, { range }]) => range);
  for (const [place] of ranges.slice(MAX_RANGES)) terms.delete(place);
  return [...terms.values()];
}

function drawRange(random: Random, width: number): Partial<Term> {
  const [a, b] = [random.below(2 ** width), random.below(2 ** width)];
  return { range: true, mask: 0, value: 0, low: Math.min(a, b), high: Math.max(a, b) };
}

/** A change of a register, or of bits that rules look at. */
function drawChange(random: Random, { groups }: SmallWorld): Change {
  const target = random.pick(REGISTERS);
  const own = groups.filter(({ field: at }) => FIELDS[at]!.modify !== null);
  const draw = random.below(6);
  if (draw === 0 || own.length === 0) {
    if (random.chance(0.5)) return { type: "add", field: target, data: random.below(32) };
    return {
      type: "set",
      field: target,
      data: random.below(32),
      offset: random.below(3),
      length: random.between(1, 5),
    };
  }
  const { field: at, shift, width } = random.pick(own);
  const length = random.between(1, width);
  const inGroup = shift + random.below(width - length + 1);
  if (draw === 1) return { type: "set", field: at, data: random.below(2 ** length), offset: inGroup, length };
  if (draw === 2) return { type: "add", field: at, data: random.below(2 ** width) * 2 ** shift };
  if (draw === 3) {
    return { type: "copy", field: random.pick(REGISTERS), from: random.below(3), to: at, toOffset: inGroup, length };
  }
  return { type: "copy", field: at, from: inGroup, to: target, toOffset: random.below(3), length };
}
