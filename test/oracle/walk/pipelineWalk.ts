// Reference of direct rules in all domains, part 2: the path of one frame (docs/rules.md, "The way
// of a frame").
// A frame is a list of branches, initially one. In each round each branch, in order, does a lookup
// in one table; its results take its place in the list of the next round.

import { type Fields, firstMatch } from "./match.js";
import { type Registers, noRegisters } from "../act/modifyHeader.js";
import { type Origin, fieldsOf, hostRules } from "./pipelineFields.js";
import {
  type DomainType,
  type Member,
  PF,
  type Pipeline,
  type PipelineAction,
  type PipelineRule,
  type Queue,
  type Sampler,
  type Step,
  type Terminal,
  WIRE,
  count,
  noteReason,
  rootName,
  tableNamed,
} from "./pipeline.js";
import { beginFrame, remember, takesSample } from "./pipelineState.js";
import { type Frame, type Lost, isDecapsulation, modified, popVlan, pushVlan, reformatted } from "../act/rewrite.js";
import { MAX_JUMPS } from "./walk.js";

/** Maximum number of branches of a frame. */
export const MAX_BRANCHES = 64;

/** Maximum number of destinations of a frame (docs/flows.md). */
const MAX_DESTINATIONS = 128;

/** Maximum number of rules that an outcome lists. */
export const MAX_RULES = 72;

export interface Arrival {
  name: string;
  bytes: Uint8Array;
  tag: number;
}

export interface PipelineOutcome {
  verdict: "deliver" | "transmit" | "forward" | "drop" | "miss";
  reason: string | null;
  tag: number | null;
  /** Registers that a rule wrote and that are still valid. */
  registers: Record<string, number>;
  to: Arrival[];
  rules: string[];
  /** Destinations of samples. */
  copies: Arrival[];
  /**
   * Names of the tables without a rule: where the branch that set the verdict left the FDB, and
   * where it ended.
   */
  missed: string[];
  /** Whether it had several branches. */
  several: boolean;
}

/** Called for each table that a branch enters, with the branch as it is there. */
export type Observer = (table: string, fields: Fields, hit: PipelineRule | null, frame: Frame) => void;

interface Branch {
  frame: Frame;
  /** Name of a table, or of the stage after a NIC_RX root table: `host:` and the function. */
  at: string;
  /** Rules of lower ranks are skipped. */
  from: bigint;
  hops: number;
  tag: number | null;
  registers: Registers;
  /** An action requested the miss. */
  missed: boolean;
  /** The table of the FDB that it left without a rule; null for none. */
  missedFdb: string | null;
  /** It is a sample, which does not affect the verdict of the frame. */
  sample: boolean;
}

type Ended = Pick<PipelineOutcome, "verdict" | "reason" | "tag" | "registers" | "missed"> & {
  /**
   * It leaves the eSwitch with this arrival, after the function's own rules, which may keep it.
   */
  leaves: { branch: Branch; arrival: Arrival } | null;
  sample: boolean;
};

interface Walk {
  world: Pipeline;
  origin: Origin;
  observe: Observer;
  /** A frame of the PF that returns to the PF's own rules. */
  looped: boolean;
  branches: number;
  to: Arrival[];
  copies: Arrival[];
  rules: string[];
  /** Reasons why queues refused it. */
  refused: { reason: string; sample: boolean }[];
  ended: Ended[];
}

const nobody: Observer = () => undefined;

export type FrameIn = Omit<Frame, "parser"> & {
  /** Arrival time in nanoseconds; default: the clock. */
  time?: bigint;
};

/** A frame received on a port. */
export function receivePipeline(world: Pipeline, frame: FrameIn, observe: Observer = nobody): PipelineOutcome {
  const origin = { vport: WIRE, port: frame.port, sqn: 0, metadata: 0 };
  return wayOf(newWalk(world, origin, observe), frame, rootName("fdb", PF));
}

/** A frame sent by a queue; `frame.port` is the port of the queue. */
export function sendPipeline(
  world: Pipeline,
  queue: Queue,
  frame: FrameIn,
  metadata = 0,
  observe: Observer = nobody,
): PipelineOutcome {
  const { vport, port, number } = queue;
  return wayOf(newWalk(world, { vport, port, sqn: number, metadata }, observe), frame, rootName("nic_tx", vport));
}

function newWalk(world: Pipeline, origin: Origin, observe: Observer, looped = false): Walk {
  return { world, origin, observe, looped, branches: 1, to: [], copies: [], rules: [], refused: [], ended: [] };
}

function wayOf(walk: Walk, given: FrameIn, at: string): PipelineOutcome {
  const { parser, state } = walk.world;
  beginFrame(state, given.time);
  const frame = { ...given, parser };
  const registers = noRegisters();
  registers.values.set("A", BigInt(walk.origin.metadata));
  run(walk, { frame, at, from: 0n, hops: 0, tag: null, registers, missed: false, missedFdb: null, sample: false });
  const { verdict, reason, tag, registers: written, missed } = afterLoopback(walk, result(walk));
  return {
    verdict,
    reason,
    tag,
    registers: written,
    to: walk.to,
    rules: walk.rules,
    copies: walk.copies,
    missed,
    several: walk.ended.length > 1,
  };
}

/** Walks all branches to their ends. */
function run(walk: Walk, first: Branch): void {
  for (let round = [first]; round.length > 0;) round = round.flatMap((branch) => move(walk, branch));
}

const VERDICTS: readonly (readonly PipelineOutcome["verdict"][])[] = [
  ["deliver"],
  ["transmit", "forward"],
  ["miss"],
  ["drop"],
];

/** The best verdict; among equals the first branch that ended. */
function best(ended: readonly Ended[]): Ended {
  for (const verdicts of VERDICTS) {
    const found = ended.find(({ verdict }) => verdicts.includes(verdict));
    if (found) return found;
  }
  throw new Error("a frame has no end");
}

/**
 * Queues accept or refuse after everything else. If all queues that were to receive a frame refuse
 * it, its verdict is that it left by a port, if it did, or that it was dropped for the first
 * reason; tag and registers stay. The other reasons are counted.
 */
function result({ world, origin, to, refused, ended }: Walk): Ended {
  for (const { reason } of refused) noteReason(world, reason);
  const chosen = best(ended.filter(({ sample }) => !sample));
  const first = refused.find(({ sample }) => !sample)?.reason;
  if (chosen.verdict !== "deliver" || first === undefined || to.some(({ name }) => !name.startsWith("port:")))
    return chosen;
  if (to.length > 0) return { ...chosen, verdict: departed(origin) };
  return { ...chosen, verdict: "drop", reason: first };
}

const departed = ({ vport }: Origin): "forward" | "transmit" => (vport === WIRE ? "forward" : "transmit");

/** One lookup in one table; returns the branches of the next round. */
function move(walk: Walk, branch: Branch): Branch[] {
  // SPEC: the jump is refused on arrival: the rule that jumped was hit, and its tag and counters
  // count.
  if (branch.hops > MAX_JUMPS) return ended(walk, branch, "drop", "hop_limit");
  const rule = lookUp(walk, branch);
  if (rule) return act(walk, branch, rule);
  const isFdb = !branch.at.startsWith("host:") && tableNamed(walk.world, branch.at).domain === "fdb";
  return unwanted(walk, isFdb ? { ...branch, missedFdb: branch.at } : branch, "table_miss");
}

function lookUp({ world, origin, observe }: Walk, branch: Branch): PipelineRule | null {
  const fields = fieldsOf(branch.frame, branch.registers, origin);
  const host = /^host:(\d+)$/.exec(branch.at)?.[1];
  const rules = host === undefined ? tableNamed(world, branch.at).rules : hostRules(world, Number(host));
  const rule = firstMatch(rules, fields, branch.from);
  observe(branch.at, fields, rule, branch.frame);
  return rule;
}

/** The end of a table, or an action that requests the miss. */
function unwanted(walk: Walk, branch: Branch, why: "table_miss" | "default_miss"): Branch[] {
  const missed = branch.missed || why === "default_miss";
  const nobody = missed ? "default_miss" : "no_rule";
  if (branch.at.startsWith("host:")) return ended(walk, branch, "miss", nobody);
  const { world, looped, origin } = walk;
  const { domain, vport, root } = tableNamed(world, branch.at);
  switch (domain) {
    case "nic_rx":
      if (!root) return ended(walk, branch, "drop", why);
      if (looped) return ended(walk, branch, "miss", null);
      // A table exists only where there is a rule.
      if (hostRules(world, vport).length === 0) return ended(walk, branch, "miss", nobody);
      return [{ ...branch, at: `host:${vport}`, from: 0n, missed }];
    case "nic_tx":
      return [crossed(branch, rootName("fdb", PF))];
    case "fdb":
      return root && origin.vport === PF ? leaveByDefault(walk, branch) : [crossed(branch, rootName("nic_rx", PF))];
  }
}

/** Enters another domain: of the registers only C0 and C1 are kept. */
function crossed(branch: Branch, at: string): Branch {
  const values = new Map([...branch.registers.values].filter(([name]) => PASS.includes(name)));
  const written = new Set([...branch.registers.written].filter((name) => PASS.includes(name)));
  return { ...branch, at, from: 0n, registers: { values, written } };
}

const PASS = ["C0", "C1"];

/** The stages of NIC_RX after its root table count as the root table. */
function missedTables({ at, missedFdb }: Branch): string[] {
  const last = at.replace(/^host:/, "nic_rx:");
  return missedFdb === null ? [last] : [missedFdb, last];
}

/** Ends a branch; no branch remains of it. */
function ended(
  walk: Walk,
  branch: Branch,
  verdict: PipelineOutcome["verdict"],
  reason: string | null,
  leaves: Ended["leaves"] = null,
): Branch[] {
  const { tag, registers, sample } = branch;
  const { values, written } = registers;
  const missed = reason === "no_rule" || reason === "table_miss" ? missedTables(branch) : [];
  const held = Object.fromEntries([...written].map((name) => [name, Number(values.get(name))]));
  walk.ended.push({ verdict, reason, tag, registers: held, leaves, sample, missed });
  noteReason(walk.world, reason);
  return [];
}

const OF_RULES: readonly Step["kind"][] = [
  ...(["tag", "counter", "modify", "popVlan", "pushVlan", "reformat", "firstHit", "meter", "track"] as const),
];
const isStep = (action: PipelineAction): action is Step => (OF_RULES as readonly string[]).includes(action.kind);

type Kind = Exclude<Step["kind"], "reformat"> | "decapsulate" | "encapsulate";

/** docs/state.md, "Order of execution". */
const ORDER: Record<"received" | "sent", readonly Kind[]> = {
  received: [
    ...(["decapsulate", "tag", "popVlan", "firstHit", "modify", "pushVlan", "meter", "track", "counter"] as const),
    "encapsulate",
  ],
  sent: [
    ...(["decapsulate", "meter", "popVlan", "track", "counter", "modify", "pushVlan", "firstHit"] as const),
    "encapsulate",
  ],
};

function kindOf(step: Step): Kind {
  if (step.kind !== "reformat") return step.kind;
  return isDecapsulation(step.reformat) ? "decapsulate" : "encapsulate";
}

/** Runs the actions of a rule in the device's order. */
function act(walk: Walk, branch: Branch, rule: PipelineRule): Branch[] {
  if (walk.rules.length < MAX_RULES) walk.rules.push(rule.id);
  const { values, written } = branch.registers;
  const here = { ...branch, registers: { values: new Map(values), written: new Set(written) } };
  const atHost = branch.at.startsWith("host:");
  // The tag of a rule that passes the frame on is not kept for the next one.
  if (atHost) here.tag = null;
  const domain = atHost ? "nic_rx" : tableNamed(walk.world, branch.at).domain;
  const received = domain === "nic_rx" || (domain === "fdb" && walk.origin.vport === WIRE);
  const steps = rule.actions.filter(isStep);
  for (const kind of ORDER[received ? "received" : "sent"]) {
    for (const step of steps) {
      if (kindOf(step) !== kind) continue;
      const frame = take(walk, here, step);
      if (typeof frame === "string") return ended(walk, here, "drop", frame);
      here.frame = frame;
    }
  }
  const terminals = rule.actions.filter((action): action is Terminal => !isStep(action));
  if (terminals.length > 1) throw new Error(`rule ${rule.id} has two terminal actions`);
  return terminals[0] ? goTo(walk, here, terminals[0]) : noDestination(walk, here, domain);
}

function take({ world }: Walk, branch: Branch, step: Step): Frame | Lost {
  const { frame } = branch;
  switch (step.kind) {
    case "tag":
      branch.tag = step.value & 0xffffff;
      return frame;
    case "counter":
      count(world, step.counter, frame.wireLength);
      return frame;
    case "modify":
      return modified(frame, step.list, branch.registers);
    case "popVlan":
      return popVlan(frame);
    case "pushVlan":
      return pushVlan(frame, step.header);
    case "reformat":
      return reformatted(frame, step.reformat);
    case "firstHit":
    case "meter":
    case "track":
      remember(world.state, step, frame, branch.registers);
      return frame;
  }
}

/** On receive: dropped, in a root table too; on send: sent; in the FDB: as after a miss. */
function noDestination(walk: Walk, branch: Branch, domain: DomainType): Branch[] {
  if (domain === "nic_rx") return ended(walk, branch, "drop", "no_destination");
  return unwanted(walk, branch, "table_miss");
}

function goTo(walk: Walk, branch: Branch, terminal: Terminal): Branch[] {
  const { world, origin } = walk;
  switch (terminal.kind) {
    case "drop":
      return ended(walk, branch, "drop", "drop_action");
    case "defaultMiss":
      return unwanted(walk, branch, "default_miss");
    case "table":
      return [atTable(branch, terminal.table)];
    case "flowMeter":
      remember(world.state, terminal, branch.frame, branch.registers);
      return [atTable(branch, terminal.table)];
    case "sampler": {
      const { number, ratio, set, table } = terminal;
      const copies = takesSample(world.state, number, ratio) ? sample(walk, branch, terminal) : [];
      const frame = set ? modified(branch.frame, [set], branch.registers) : branch.frame;
      return [...copies, atTable({ ...branch, frame }, table)];
    }
    case "rootTable": {
      const { domain, vport } = tableNamed(world, branch.at);
      const from = BigInt(terminal.priority) << 48n;
      return [{ ...branch, at: rootName(domain, vport), from, hops: branch.hops + 1 }];
    }
    case "qp": {
      const { refuses } = world.queues.get(terminal.qp) ?? { refuses: "" };
      return arrived(walk, branch, `qp:${terminal.qp}`, "deliver", refuses);
    }
    case "host": {
      const vport = Number(branch.at.slice("host:".length));
      return arrived(walk, branch, `${vport === PF ? "" : `vf${vport}/`}host:${terminal.queue}`, "deliver");
    }
    case "port": {
      if (origin.vport === WIRE && origin.port === terminal.port) return ended(walk, branch, "drop", "wire_to_wire");
      const loops = origin.vport === PF && terminal.port === origin.port && isMulticast(branch.frame.bytes);
      return arrived(walk, branch, `port:${terminal.port}`, departed(origin), null, loops);
    }
    case "vport":
      if (terminal.vport !== WIRE) return [crossed(branch, rootName("nic_rx", terminal.vport))];
      return goTo(walk, branch, { kind: "port", port: origin.port });
    case "array": {
      const onward = terminal.members.flatMap((member) => split(walk, branch, member));
      const counts = terminal.members.every(({ dest }) => dest.kind === "counter");
      return counts ? noDestination(walk, branch, tableNamed(world, branch.at).domain) : onward;
    }
  }
}

function atTable(branch: Branch, table: string): Branch {
  return { ...branch, at: table, from: 0n, hops: branch.hops + 1 };
}

/** Result of a copy, which is a branch of its own wherever it goes. */
function sample(walk: Walk, branch: Branch, { sample: { tag, counter, dest } }: Sampler): Branch[] {
  const { values, written } = branch.registers;
  const copy = { ...branch, sample: true, registers: { values: new Map(values), written: new Set(written) } };
  if (walk.branches++ >= MAX_BRANCHES) return ended(walk, copy, "drop", "copy_limit");
  if (tag !== undefined) copy.tag = tag & 0xffffff;
  if (counter !== undefined) count(walk.world, counter, branch.frame.wireLength);
  return goTo(walk, copy, dest);
}

/** Whether an array member is a branch of its own: it continues, or it is a different frame. */
function isBranch({ reformat, dest }: Member): boolean {
  const goesOn = dest.kind === "table" || dest.kind === "defaultMiss" || (dest.kind === "vport" && dest.vport !== WIRE);
  return goesOn || reformat !== undefined;
}

/** Result of one member's copy. Counters do not receive one and so cannot change it. */
function split(walk: Walk, branch: Branch, member: Member): Branch[] {
  const { reformat, dest } = member;
  if (dest.kind === "counter") {
    count(walk.world, dest.counter, branch.frame.wireLength);
    return [];
  }
  if (isBranch(member) && walk.branches++ >= MAX_BRANCHES) return ended(walk, branch, "drop", "copy_limit");
  const frame = reformat ? reformatted(branch.frame, reformat) : branch.frame;
  if (typeof frame === "string") return ended(walk, branch, "drop", frame);
  return goTo(walk, { ...branch, frame }, dest);
}

/** Delivers the branch to a queue or a port, if the limit of destinations allows it. */
function arrived(
  walk: Walk,
  branch: Branch,
  name: string,
  verdict: "deliver" | "transmit" | "forward",
  refuses: string | null = null,
  loops = false,
): Branch[] {
  if (walk.to.length + walk.copies.length + walk.refused.length === MAX_DESTINATIONS) {
    return ended(walk, branch, "drop", "copy_limit");
  }
  const arrival = { name, bytes: branch.frame.bytes, tag: branch.tag ?? 0 };
  if (refuses === null) (branch.sample ? walk.copies : walk.to).push(arrival);
  else walk.refused.push({ reason: refuses, sample: branch.sample });
  return ended(walk, branch, verdict, null, loops ? { branch, arrival } : null);
}

/** Leaves by the port that it was sent on, unless the PF's own rules match it. */
function leaveByDefault(walk: Walk, branch: Branch): Branch[] {
  return arrived(walk, branch, `port:${walk.origin.port}`, "transmit", null, true);
}

/** Whether the group bit of the destination MAC is set. */
const isMulticast = (bytes: Uint8Array): boolean => ((bytes[0] ?? 0) & 1) !== 0;

/**
 * Copies that leave by default, and multicast copies that a rule sends out of the port, return to
 * the PF's rules, each on its own path. A copy delivered there does not leave, unless its group bit
 * is set; its recipients come before the port. Earlier deliveries rank highest in the verdict, then
 * these deliveries, then the copies that leave.
 */
function afterLoopback(walk: Walk, sent: Ended): Ended {
  const stayed = walk.ended.flatMap(({ leaves }) =>
    leaves ? (loopBack(walk, leaves.branch, leaves.arrival) ?? []) : [],
  );
  if (sent.verdict !== "transmit") return sent;
  const delivered = stayed.find(({ verdict }) => verdict === "deliver");
  const left = walk.to.some(({ name }) => name.startsWith("port:"));
  return delivered ?? (left ? sent : (stayed[0] ?? sent));
}

/** docs/flows.md, Sending. The result; null if the frame leaves. */
function loopBack(walk: Walk, { frame, sample }: Branch, arrival: Arrival): Ended | null {
  const back = newWalk(walk.world, walk.origin, walk.observe, true);
  const at = rootName("nic_rx", PF);
  const registers = noRegisters();
  run(back, { frame, at, from: 0n, hops: 0, tag: null, registers, missed: false, missedFdb: null, sample: false });
  walk.rules.push(...back.rules);
  walk.copies.push(...back.copies);
  const looped = result(back);
  // SPEC: a frame that a rule gave to a queue that refused it was for the port, and does not leave
  // either.
  const stays =
    (looped.verdict === "deliver" || back.refused.some(({ reason }) => reason === looped.reason)) &&
    !isMulticast(frame.bytes);
  const list = sample ? walk.copies : walk.to;
  list.splice(list.indexOf(arrival), 1, ...back.to, ...(stays ? [] : [arrival]));
  return stays && !sample ? looped : null;
}
