/** A device with small worlds: each is reached by frames of a source address of its own, or through the root table itself. */
import { createDevice, createSink, type Device } from "../../../../src/index.js";
import type { Tracer } from "../../../../src/explain/trace/tracer.js";
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Action } from "../../../../src/model/action/action.js";
import type { MatchFields } from "../../../../src/model/match/match.js";
import type { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import type { DeviceFieldName } from "../../../../src/model/action/modifyFields.js";
import { Rule } from "../../../../src/model/rule/rule.js";
import type { Domain, Table } from "../../../../src/model/table/domain.js";
import { Matcher } from "../../../../src/model/table/matcher.js";
import { formatIpv4, formatMac } from "../../../../src/packet/addresses.js";
import {
  FIELDS,
  type Change,
  type SmallFrame,
  type SmallField,
  type SmallRule,
  type SmallWorld,
  type Term,
} from "./smallWorld.js";

type FieldName = (typeof FIELDS)[number]["name"];

export interface SmallDevice {
  device: Device;
  queue: QueuePair;
  drawn: Map<Rule, SmallRule>;
}

/** Worlds that begin in the root table have a device for themselves. */
export async function openWorlds(worlds: readonly SmallWorld[]): Promise<SmallDevice> {
  const device = await createDevice();
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const queue = createSink(context, "web");
  const received = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const sent = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX);
  const drawn = new Map<Rule, SmallRule>();
  const roots = new Map<Domain, Table>();
  for (const [index, world] of worlds.entries()) {
    const domain = world.sent ? sent : received;
    const root = roots.get(domain) ?? dv.mlx5dv_dr_table_create(domain, 0);
    roots.set(domain, root);
    const second = dv.mlx5dv_dr_table_create(domain, 2);
    const first = world.root ? root : dv.mlx5dv_dr_table_create(domain, 1);
    if (!world.root) {
      const matcher = Matcher.named(root, 0, undefined, `worlds of ${index}`);
      const next = dv.mlx5dv_dr_action_create_dest_table(first);
      Rule.named(matcher, { "outer.smac": sourceOf(index) }, [next], `world ${index}`);
    }
    addRules(world, domain, [first, second], queue, drawn);
  }
  return { device, queue, drawn };
}

/** The source address of the frames of a world. */
function sourceOf(index: number): string {
  return formatMac(0x02_00_00_01_00_00n + BigInt(index));
}

function addRules(
  { root, sent, priorities, rules }: SmallWorld,
  domain: Domain,
  tables: readonly [Table, Table],
  queue: QueuePair,
  drawn: Map<Rule, SmallRule>,
): void {
  const matchers = tables.map((table, at) =>
    priorities[at]!.map((priority, n) => Matcher.named(table, priority, undefined, `${at}/${n}`)),
  );
  for (const rule of rules) {
    const { table, matcher, terms, changes, then, name } = rule;
    const actions: Action[] = [];
    const inRoot = root && table === 0;
    if (changes.length > 0) {
      const flags = inRoot ? dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL : 0;
      actions.push(dv.mlx5dv_dr_action_create_modify_header(domain, flags, undefined, changes.map(wordOf)));
    }
    if (then === "next") actions.push(dv.mlx5dv_dr_action_create_dest_table(tables[1]));
    if (then === "drop") actions.push(dv.mlx5dv_dr_action_create_drop());
    if (then === "queue" && !sent) actions.push(dv.mlx5dv_dr_action_create_dest_ibv_qp(queue));
    drawn.set(Rule.named(matchers[table]![matcher]!, matchOf(terms), actions, name), rule);
  }
}

function wordOf(change: Change): dv.ModifyAction {
  const field = modifyName(change.field);
  if (change.type === "add") return { type: "add", field, data: change.data };
  const { length } = change;
  if (change.type === "set") return { type: "set", field, data: change.data, offset: change.offset, length };
  const to = modifyName(change.to);
  return { type: "copy", field, src_offset: change.from, length, to, dst_offset: change.toOffset };
}

function modifyName(at: number): DeviceFieldName {
  const { name, modify } = FIELDS[at] as SmallField;
  if (modify === null) throw new Error(`no header change writes ${name}`);
  return modify;
}

function matchOf(terms: readonly Term[]): MatchFields {
  return Object.fromEntries(terms.map((term) => [FIELDS[term.field]!.parts[term.part]![0], textOf(term)]));
}

function textOf({ field, part, mask, value, range, low, high }: Term): string | number {
  if (range) return `${low}-${high}`;
  if (mask === 0) return "any";
  const [name] = FIELDS[field]!.parts[part]!;
  if (name === "outer.ip_version") return value;
  return `${numberText(name, value)}/${numberText(name, mask)}`;
}

/** The low bits of an address, or a number. */
function numberText(name: string, value: number): string {
  if (name === "outer.dmac") return formatMac(BigInt(value));
  if (name.startsWith("outer.ipv4_")) return formatIpv4(BigInt(value));
  return `0x${value.toString(16)}`;
}

/** The bytes of a frame of a world: Ethernet, its tag, an IP header without anything after it. */
export function bytesOf({ short, tag, version, values }: SmallFrame, index: number): Uint8Array {
  const at = (name: FieldName) => values[FIELDS.findIndex((one) => one.name === name)]!;
  if (short) return new Uint8Array(13);
  const [start, ip] = [tag === 0 ? 12 : 16, tag === 0 ? 14 : 18];
  const bytes = new Uint8Array(64);
  const view = new DataView(bytes.buffer);
  view.setUint16(4, at("dmac"));
  bytes.set([2, 0, 0, 1, index >> 8, index & 255], 6);
  view.setUint16(12, tag);
  if (tag !== 0) view.setUint16(14, at("tci"));
  view.setUint16(start, version === 0 ? 0x88b5 : version === 4 ? 0x0800 : 0x86dd);
  const traffic = (at("dscp") << 2) | at("ecn");
  if (version === 4) {
    bytes.set([0x45, traffic, 0, 20, 0, 0, 0, 0, at("ttl"), 253], ip);
    view.setUint16(ip + 14, at("src"));
    view.setUint16(ip + 18, at("dst"));
  } else if (version === 6) {
    bytes.set([0x60 | (traffic >> 4), (traffic << 4) & 255, 0, 0, 0, 0, 59, at("ttl")], ip);
  }
  return bytes;
}

/** Which rules of a world a frame hits in the engine. */
export function hitsOf(bench: SmallDevice, world: SmallWorld, frame: SmallFrame, index: number): SmallRule[] {
  const bytes = bytesOf(frame, index);
  const outcome = world.sent
    ? bench.device.send(bench.queue, bytes, { metadata: metadataOf(frame) })
    : bench.device.receive(1, bytes);
  const rules = outcome.rules.map((rule) => (rule instanceof Rule ? bench.drawn.get(rule) : undefined));
  return rules.filter((rule) => rule !== undefined);
}

/** The key with which a frame comes in. */
export function keyOf(
  bench: SmallDevice,
  tracer: Tracer,
  world: SmallWorld,
  frame: SmallFrame,
  index: number,
): Uint8Array {
  const bytes = bytesOf(frame, index);
  const { lookups } = world.sent
    ? tracer.walkSent(bench.queue, bytes, { metadata: metadataOf(frame) })
    : tracer.walk(1, bytes, {});
  return lookups[0]!.key;
}

function metadataOf({ values }: SmallFrame): number {
  return values[FIELDS.findIndex((one) => one.name === "A")]!;
}
