// Random devices with direct rules, in the types of the reference. Each rule is made for a frame at
// a point of its path: a frame is walked, and the rule goes into one of the tables that it entered,
// with the fields that the frame had there. So rules match fields that earlier rules rewrote or
// wrote into registers. Most match their frame, others miss it by one bit.

import { FIELD_WIDTHS } from "../wire/fields.js";
import { type GeneratedFrame, DECLARED, randomFrame } from "./frame.js";
import { type Places, randomActions } from "./actions.js";
import { addState, REGISTERS } from "./state.js";
import { randomRuleFor } from "./rule.js";
import { type Fields, type Range, type Term } from "../walk/match.js";
import {
  type DomainType,
  type HostRule,
  PF,
  type Pipeline,
  type PipelineAction,
  WIRE,
  newPipeline,
  tableNamed,
} from "../walk/pipeline.js";
import { type Observer, receivePipeline, sendPipeline } from "../walk/pipelineWalk.js";
import { type Random } from "./random.js";
import { type Frame } from "../act/rewrite.js";

export const VPORTS = 2;
export const PORTS = 2;
/** Tables that are not root, on each function; most are in the FDB of the PF. */
const TABLES: Record<DomainType, number> = { nic_rx: 2, nic_tx: 2, fdb: 4 };
export const COUNTERS = 8;
export const PRIORITIES = [0, 1, 2, 3];
const BASES = 14;

/** Fields that describe the path of a frame, with their widths. */
export const WAY_WIDTHS: ReadonlyMap<string, number> = new Map([
  ...Array.from({ length: 8 }, (_, n) => [`misc2.metadata_reg_c_${n}`, 32] as const),
  ["misc2.metadata_reg_a", 32],
  ["misc.source_port", 16],
  ["misc.source_vhca_port", 4],
  ["misc.source_eswitch_owner_vhca_id", 16],
  ["misc.source_sqn", 24],
  ["misc.outer_emd_tag", 1],
]);

/** A frame and the queue that sends it; null: it is received on its port. */
export interface Base {
  frame: GeneratedFrame;
  sender: string | null;
  metadata: number;
  /** Its own arrival time. */
  time?: bigint;
}

/** One mask at one priority of one table. */
export interface DrawnMatcher {
  name: string;
  table: string;
  priority: number;
  masks: DrawnMask[];
  /** No mask: its rules name their fields, each its own, including `ext` and ranges. */
  named?: boolean;
}

/** In device bytes, `ip_version` has a mask of its own, the same for all rules of the matcher. */
export interface DrawnMask {
  field: string;
  mask: bigint;
  version?: bigint | undefined;
}

export interface DrawnRule {
  id: string;
  matcher: DrawnMatcher;
  terms: Term[];
  ranges: Range[];
  actions: PipelineAction[];
}

export interface Draft {
  random: Random;
  world: Pipeline;
  bases: Base[];
  matchers: DrawnMatcher[];
  rules: Map<string, DrawnRule>;
  made: number;
  /** Whether rules have stateful actions. */
  remembers: boolean;
}

/**
 * Queues `pf`, `v1`, `v2` and a second one of each accept all frames; the other queues of the PF
 * and of the first VF accept none.
 */
export const QUEUE_NAMES = ["pf", "v1", "v2", "pf'", "v1'", "v2'"] as const;
export const DEAF_QUEUES = [
  { name: "reset", vport: 0, refuses: "queue_not_ready" },
  { name: "empty", vport: 1, refuses: "no_receive_buffer" },
] as const;

/** Objects that rules can name; the creator of the device supplies the queues. */
export function newDraft(random: Random, remembers = false): Draft {
  const world = newPipeline(VPORTS, DECLARED);
  for (const [name, { domain, vport }] of [...world.tables])
    for (let n = 1; n <= TABLES[domain]; n++) {
      world.tables.set(`${name}/${n}`, { domain, vport, root: false, rules: [] });
    }
  return { random, world, bases: [], matchers: [], rules: new Map(), made: 0, remembers };
}

/** Frames that rules are made for; half of the sendable ones are sent. */
export function drawBases(draft: Draft): void {
  draft.bases = Array.from({ length: BASES }, () => drawBase(draft));
}

export function drawBase({ random }: Draft): Base {
  const frame = randomFrame(random);
  if (random.chance(0.5) || frame.linkType !== 1 || frame.bytes.length < 14) {
    const wireLength = random.chance(0.06) ? random.pick(LONG) - random.below(40) : frame.wireLength;
    return { frame: { ...frame, wireLength: Math.max(wireLength, frame.bytes.length) }, sender: null, metadata: 0 };
  }
  const sender = random.pick(QUEUE_NAMES);
  const metadata = random.chance(0.5) ? 0 : random.word();
  return { frame: { ...frame, wireLength: frame.bytes.length }, sender, metadata };
}

/** Wire lengths from which on nothing more can be added: of IP packets, of frames. */
const LONG = [65535, 65549, 262144];

/** The reference's answer. */
export function walkBase(
  world: Pipeline,
  { frame, sender, metadata, time }: Base,
  observe?: Observer,
): ReturnType<typeof receivePipeline> {
  if (sender === null) return receivePipeline(world, time === undefined ? frame : { ...frame, time }, observe);
  const queue = world.queues.get(sender);
  if (!queue) throw new Error(`no queue ${sender}`);
  return sendPipeline(world, queue, { ...frame, port: queue.port }, metadata, observe);
}

/** A table that a frame enters. */
export interface Visit {
  table: string;
  fields: Fields;
  hit: boolean;
  frame: Frame;
}

/** A copy without effects on counters and state. */
export function aside(world: Pipeline): Pipeline {
  const state = structuredClone(world.state);
  return { ...world, counters: new Map(), reasons: new Map(), state };
}

/** A point on the path of one of the frames. */
export function visitsOf({ world, bases, random }: Draft): Visit[] {
  const visits: Visit[] = [];
  walkBase(aside(world), random.pick(bases), (table, fields, hit, frame) =>
    visits.push({ table, fields, hit: hit !== null, frame }),
  );
  return visits;
}

/** A point on the path of a frame, usually one where it misses. */
function pickVisit(draft: Draft): Visit | null {
  const visits = visitsOf(draft).filter(({ table }) => !table.startsWith("host:"));
  const open = visits.filter(({ hit }) => !hit);
  if (visits.length === 0) return null;
  return draft.random.pick(draft.random.chance(0.75) && open.length > 0 ? open : visits);
}

/** A rule for one of the frames; null if that frame enters no table. */
export function drawRule(draft: Draft): DrawnRule | null {
  const visit = pickVisit(draft);
  if (!visit) return null;
  const made = draft.random.chance(0.15) ? drawNamed(draft, visit) : drawMasked(draft, visit);
  return { ...made, actions: drawActions(draft, visit) };
}

/** In device bytes, under the mask of its matcher. */
function drawMasked(draft: Draft, visit: Visit): Omit<DrawnRule, "actions"> {
  const { random } = draft;
  const matcher = matcherFor(draft, visit);
  const terms = matcher.masks.map(({ field, mask }) => ({
    field,
    mask,
    value: (visit.fields.get(field) ?? 0n) & mask,
  }));
  if (random.chance(0.35)) flipOne(random, terms);
  return { id: `r${draft.made++}`, matcher, terms, ranges: [] };
}

/**
 * By field names, with ranges: all parsed fields except IP versions, which matchers mask in their
 * own way.
 */
function drawNamed(draft: Draft, { table, fields }: Visit): Omit<DrawnRule, "actions"> {
  const { random, matchers } = draft;
  const priority = random.pick(PRIORITIES);
  const known = matchers.find((one) => one.named === true && one.table === table && one.priority === priority);
  const matcher = known ?? { name: `m${draft.made++}`, table, priority, masks: [], named: true };
  if (!known) matchers.push(matcher);
  const asked = new Map([...fields].filter(([field]) => !field.endsWith("ip_version")));
  const { terms, ranges } = randomRuleFor(asked, random, { near: random.pick(["hit", "hit", "bit", "range"]) });
  return { id: `r${draft.made++}`, matcher, terms, ranges };
}

function drawActions({ random, world, remembers }: Draft, { table, frame }: Visit): PipelineAction[] {
  const places = placesOf(world, table);
  const actions = randomActions(random, frame, places);
  if (remembers) addState(random, world.state, places, actions);
  return actions;
}

/** Rules of one matcher: a drawn one, and others that miss its frame by one bit. */
export function drawRules(draft: Draft): DrawnRule[] {
  const { random } = draft;
  const visit = pickVisit(draft);
  if (!visit) return [];
  const drawn = { ...drawMasked(draft, visit), actions: drawActions(draft, visit) };
  const others = Array.from({ length: random.between(1, 5) }, () => {
    const terms = drawn.terms.map((term) => ({ ...term }));
    flipOne(random, terms);
    return { ...drawn, id: `r${draft.made++}`, terms };
  });
  return [drawn, ...others];
}

/** One masked bit, except of `ip_version`, which is no bit mask in device bytes. */
export function flipOne(random: Random, terms: readonly Term[]): void {
  const spoiled = terms.filter(({ field }) => !field.endsWith("ip_version"));
  if (spoiled.length === 0) return;
  const term = random.pick(spoiled);
  const bits: bigint[] = [];
  for (let bit = 1n; bit <= term.mask; bit <<= 1n) if (term.mask & bit) bits.push(bit);
  term.value ^= random.pick(bits);
}

function matcherFor(draft: Draft, { table, fields }: Visit): DrawnMatcher {
  const { random, matchers, remembers } = draft;
  const fits = matchers.filter(
    (one) => one.named !== true && one.table === table && one.masks.every((term) => canAsk(term, fields)),
  );
  if (fits.length > 0 && random.chance(0.35)) return random.pick(fits);
  const matcher = {
    name: `m${draft.made++}`,
    table,
    priority: random.pick(PRIORITIES),
    masks: remembers && random.chance(0.4) ? withRegister(random, fields) : randomMasks(random, fields),
  };
  matchers.push(matcher);
  return matcher;
}

function canAsk({ field, version }: DrawnMask, fields: Fields): boolean {
  return fields.has(field) && (version === undefined || version === fields.get(field));
}

/** Leaves out fields that device bytes cannot express: `ext`, and samples, which need ids. */
const inDeviceBytes = (field: string): boolean => !field.startsWith("ext.");
const widthOf = (field: string): number => WAY_WIDTHS.get(field) ?? FIELD_WIDTHS.get(field) ?? 0;

/**
 * Masks over up to four fields; path fields and the groups of tunnels are as frequent as the
 * others.
 */
export function randomMasks(random: Random, fields: Fields): DrawnMatcher["masks"] {
  const present = random.shuffle([...fields.keys()].filter(inDeviceBytes));
  const way = present.filter((field) => WAY_WIDTHS.has(field));
  const written = way.filter((field) => fields.get(field) !== 0n);
  const names = new Set<string>();
  for (let n = random.pick([0, 1, 1, 2, 2, 3, 4]); n > 0; n--) {
    const group = random.pick([...new Set(present.map((field) => field.slice(0, field.indexOf("."))))].sort());
    const pool =
      random.chance(0.2) && written.length > 0
        ? written
        : random.chance(0.12)
          ? way
          : present.filter((field) => field.startsWith(`${group}.`));
    names.add(random.pick(pool));
  }
  return [...names].map((field) => ({ field, mask: maskOf(random, field), version: versionOf(field, fields) }));
}

/** Fields that hold the results of stateful actions, among others. */
function withRegister(random: Random, fields: Fields): DrawnMatcher["masks"] {
  const field = `misc2.metadata_reg_c_${random.pick(REGISTERS)}`;
  const others = randomMasks(random, fields).filter((one) => one.field !== field);
  return [...others.slice(0, 2), { field, mask: random.pick([0xffn, 0xffn, 0x3n, 0x40n]) }];
}

function versionOf(field: string, fields: Fields): bigint | undefined {
  return field.endsWith("ip_version") ? fields.get(field) : undefined;
}

function maskOf(random: Random, field: string): bigint {
  const width = widthOf(field);
  const full = (1n << BigInt(width)) - 1n;
  if (field.endsWith("ip_version") || field === "misc.source_port") return full;
  const kind = random.below(3);
  if (kind === 0) return full;
  if (kind === 1) return full ^ (full >> BigInt(random.between(1, width)));
  return random.bits(width) || full;
}

/** Objects that rules of a table can name. */
export function placesOf(world: Pipeline, name: string): Places {
  const { domain, vport } = tableNamed(world, name);
  const own = [...world.tables].filter(([, one]) => one.domain === domain && one.vport === vport && !one.root);
  const tables = own.map(([other]) => other);
  return {
    domain,
    queues: [...world.queues].filter(([, queue]) => queue.vport === vport).map(([queue]) => queue),
    behind: tables.filter((other) => other > name),
    tables,
    counters: Array.from({ length: COUNTERS }, (_, n) => `c${n}`),
    vports: [PF, ...Array.from({ length: VPORTS }, (_, n) => n + 1), WIRE],
    ports: Array.from({ length: PORTS }, (_, n) => n + 1),
    priorities: PRIORITIES,
  };
}

/** A rule of a host application for a frame that misses all earlier tables. */
export function drawHostRule(draft: Draft): HostRule | null {
  const { random, world } = draft;
  const isRoot = (name: string): boolean => world.tables.get(name)?.domain === "nic_rx" && tableNamed(world, name).root;
  const visit = visitsOf(draft).find(({ table, hit }) => !hit && isRoot(table));
  if (!visit) return null;
  const terms = randomMasks(random, visit.fields)
    .filter(({ field }) => FIELD_WIDTHS.has(field))
    .map(({ field, mask }) => ({ field, mask, value: (visit.fields.get(field) ?? 0n) & mask }));
  const action: PipelineAction = random.chance(0.3) ? { kind: "drop" } : { kind: "host", queue: random.below(4) };
  return {
    id: `h${draft.made}`,
    vport: tableNamed(world, visit.table).vport,
    application: random.pick(["ethtool", "tc", "nic"] as const),
    priority: random.below(3),
    made: draft.made++,
    terms,
    actions: [action],
  };
}
