/** What a rule does, as actions of OpenFlow in the order in which the device executes them. */
import { fieldNamed } from "../../../model/match/fields.js";
import { fullMask, parseBits } from "../../../model/match/term.js";
import type { ScenarioHeaderChange, ScenarioRuleAction } from "../../../scenario/index.js";
import { NotExported } from "../../writing/terms.js";
import { PLAIN, TYPE, type OvsField } from "../fields.js";
import { maskedText, portName, type Kind } from "./match.js";

export interface Names {
  readonly table: (name: string) => number;
  readonly ports: number;
  /** Whether the table is the root table. */
  readonly isRoot: boolean;
}

/** A flow of a rule: what it asks besides, and does. */
export interface Variant {
  readonly words: readonly string[];
  readonly actions: string;
}

type ActionObject = Exclude<ScenarioRuleAction, string>;

const { ipv4: IPV4, ipv6: IPV6 } = TYPE;
const TAG = ["outer.first_vid", "outer.first_prio"];
const KNOWN = new Set(["count", "modify", "push_vlan", "table", "vport", "port", "array", "offset"]);

/** The first that a frame fits is the one that is executed. @throws NotExported */
export function variantsOf(actions: readonly ScenarioRuleAction[], kind: Kind, names: Names): Variant[] {
  const objects = actions.filter((action): action is ActionObject => typeof action === "object");
  for (const action of objects) {
    const other = Object.keys(action).find((key) => !KNOWN.has(key));
    if (other !== undefined) throw new NotExported(`flows have no equal of ${other}`);
    if (action.table !== undefined && "priority" in action) throw new NotExported("flows do not begin within a table");
  }
  const pops = actions.filter((action) => action === "pop_vlan").length;
  if (pops > 1) throw new NotExported("OpenFlow removes tags that a flow asks for: one");
  const changes = objects.flatMap(({ modify = [] }) => modify);
  const fields = changes.map(fieldOf);
  const asksTag = pops > 0 || fields.some((name) => TAG.includes(name));
  if (pops > 0 && fields.some((name) => TAG.includes(name))) throw new NotExported("a tag after one that is removed");
  const variants: Variant[] = [];
  for (const tagged of asksTag && kind.tagged === undefined ? [true, false] : [kind.tagged]) {
    for (const one of kindsOf({ ...kind, tagged }, fields)) {
      for (const ttl of ttlsOf(changes, one)) {
        const before = [
          ...(pops > 0 && one.tagged === true ? ["pop_vlan"] : []),
          ...changes.flatMap((change) => changeText(change, one, ttl)),
          ...objects.flatMap(({ push_vlan: tag }) => (tag === undefined ? [] : pushText(tag))),
        ];
        const ends = endsOf(actions, one, names);
        variants.push({
          words: [
            ...(kind.tagged === undefined && one.tagged !== undefined
              ? [one.tagged ? "vlan_tci=0x1000/0x1000" : "vlan_tci=0x0000/0x1fff"]
              : []),
            ...(kind.type === undefined && one.type !== undefined
              ? [`eth_type=0x${one.type.toString(16).padStart(4, "0")}`]
              : []),
            ...(kind.protocol === undefined && one.protocol !== undefined ? [`nw_proto=${one.protocol}`] : []),
            ...(ttl === undefined ? [] : [`nw_ttl=${ttl}`]),
          ],
          actions: ends.length === 0 ? "drop" : [...before, ...ends].join(","),
        });
      }
    }
  }
  return variants;
}

/** Kinds of frames that changes tell apart, the last one with what is left. */
function kindsOf(kind: Kind, fields: readonly string[]): Kind[] {
  const needs = fields.map((name) => changed(name)?.needs);
  const asksType = needs.some((one) => one?.types !== undefined);
  const protocols = [...new Set(needs.flatMap((one) => one?.protocols ?? []))];
  const types = kind.type === undefined && asksType ? [IPV4, IPV6, undefined] : [kind.type];
  return types.flatMap((type) => {
    const isIp = type === IPV4 || type === IPV6;
    const open = kind.protocol === undefined && isIp ? [...protocols, undefined] : [kind.protocol];
    return open.map((protocol) => ({ ...kind, type, protocol }));
  });
}

/** A TTL that becomes less than 0 starts again at 255; Open vSwitch ends the frame. */
function ttlsOf(changes: readonly ScenarioHeaderChange[], { type }: Kind): (number | undefined)[] {
  const adds = changes.filter((change) => typeof change === "object" && change.add !== undefined);
  if (adds.length === 0 || (type !== IPV4 && type !== IPV6)) return [undefined];
  if (adds.length > 1) throw new NotExported("flows add to a field once");
  return [0, 1, undefined];
}

function fieldOf(change: ScenarioHeaderChange): string {
  if (typeof change === "string") throw new NotExported("changes in words of the device");
  return change.set ?? change.add ?? change.into ?? "";
}

function changeText(change: ScenarioHeaderChange, kind: Kind, ttl: number | undefined): string[] {
  if (typeof change === "string") return [];
  const name = fieldOf(change);
  if (TAG.includes(name)) return tagText(change, name, kind);
  const target = openflowField(name);
  if (!has(kind, name)) return [];
  if (change.add !== undefined) {
    if (name !== "outer.ip_ttl_hoplimit" || change.by !== -1) throw new NotExported("flows subtract 1 from a TTL only");
    return [ttl === undefined ? "dec_ttl" : `set_field:${ttl === 0 ? 255 : 0}->nw_ttl`];
  }
  const field = fieldNamed(name);
  if (field === undefined) return notChanged(name);
  if (change.copy !== undefined) {
    const source = fieldNamed(change.copy);
    const from = openflowField(change.copy);
    if (source === undefined) throw new NotExported(`flows do not copy ${change.copy}`);
    if (!has(kind, change.copy)) return [];
    const { fromBit = 0, intoBit = 0 } = change;
    const bits = change.bits ?? Math.min(source.width - fromBit, field.width - intoBit);
    return [`move:${from}[${fromBit}..${fromBit + bits - 1}]->${target}[${intoBit}..${intoBit + bits - 1}]`];
  }
  const bits = parseBits("to", field, change.to ?? 0);
  if (bits.mask === 0n) return [];
  const text = maskedText(name, { mask: bits.mask, value: bits.value & bits.mask });
  return [`set_field:${text}->${target}`];
}

function has({ type, protocol }: Kind, name: string): boolean {
  const { types, protocols } = changed(name)?.needs ?? {};
  if (types !== undefined && (type === undefined || !types.includes(type))) return false;
  return protocols === undefined || (protocol !== undefined && protocols.includes(protocol));
}

/** The field of Open vSwitch that a change writes; what a frame needs for it is what it needs for a match. */
function changed(name: string): OvsField | undefined {
  const field = PLAIN.get(name);
  return field?.writable === true ? field : undefined;
}

function notChanged(name: string): never {
  throw new NotExported(`flows do not change ${name}`);
}

function openflowField(name: string): string {
  const [, register] = /^misc2\.metadata_reg_c_(\d)$/.exec(name) ?? [];
  if (register !== undefined) return `reg${register}`;
  return changed(name)?.name ?? notChanged(name);
}

function tagText(change: Exclude<ScenarioHeaderChange, string>, name: string, { tagged }: Kind): string[] {
  const field = fieldNamed(name);
  if (change.set === undefined || field === undefined) throw new NotExported("flows set a tag only");
  const bits = parseBits("to", field, change.to ?? 0);
  if (bits.mask !== fullMask(field)) throw new NotExported("flows set a whole tag only");
  if (tagged !== true) return [];
  return [
    name === "outer.first_vid" ? `set_field:${0x1000n | bits.value}->vlan_vid` : `set_field:${bits.value}->vlan_pcp`,
  ];
}

function pushText({
  tpid = "0x8100",
  vid = 0,
  pcp = 0,
  dei = false,
}: NonNullable<ActionObject["push_vlan"]>): string[] {
  if (dei) throw new NotExported("flows do not set the DEI bit");
  return [
    `push_vlan:${tpid}`,
    `set_field:${0x1000 | vid}->vlan_vid`,
    ...(pcp === 0 ? [] : [`set_field:${pcp}->vlan_pcp`]),
  ];
}

/** Where frames go; none: they are dropped. */
function endsOf(actions: readonly ScenarioRuleAction[], kind: Kind, names: Names): string[] {
  for (const action of actions) {
    if (action === "drop") return [];
    if (action === "default_miss") return missText(kind, names);
    if (typeof action !== "object") continue;
    const { array } = action;
    if (array !== undefined) return arrayText(array, kind, names);
    const end = endText(action, kind, names);
    if (end !== undefined) return [end];
  }
  return missText(kind, names);
}

type Destination = Pick<ActionObject, "table" | "vport" | "port">;

function endText({ table, vport, port }: Destination, kind: Kind, names: Names): string | undefined {
  if (table !== undefined) return `resubmit(,${names.table(table)})`;
  if (port !== undefined) return `output:${port}`;
  if (vport === undefined) return undefined;
  if (vport !== "uplink" && vport !== 0xffff) return toVport(vport, kind, names);
  if (names.ports > 1) throw new NotExported("flows do not know the port that a frame was sent on");
  return "output:1";
}

/** Open vSwitch sends no frame back unless it is told to; the device does. */
function toVport(vport: number, { from }: Kind, { ports }: Names): string {
  const name = portName(vport, ports);
  if (from === name) return "in_port";
  return from === undefined ? `clone(load:0->NXM_OF_IN_PORT[],output:${name})` : `output:${name}`;
}

function arrayText(members: NonNullable<ActionObject["array"]>, kind: Kind, names: Names): string[] {
  const ends = members.flatMap((member) => {
    if (typeof member === "string" || member.default_miss === true) return missText(kind, names);
    const other = Object.keys(member).find((key) => !KNOWN.has(key));
    if (other !== undefined) throw new NotExported(`flows have no equal of ${other} in an array`);
    if (member.count !== undefined) return [];
    return endText(member, kind, names) ?? [];
  });
  // A copy that goes on in a table changes nothing for those after it.
  return ends.map((end, n) => (end.startsWith("resubmit") && n < ends.length - 1 ? `clone(${end})` : end));
}

/** What frames do that no rule matches: to the PF; in the root table those of the PF leave. */
export function missText(kind: Kind, names: Names): string[] {
  if (!names.isRoot) return [toVport(0, kind, names)];
  if (names.ports > 1) throw new NotExported("flows do not know the port that a frame was sent on");
  if (kind.from === undefined)
    throw new NotExported("what the eSwitch does with a frame depends on the port that it came from");
  return [kind.from === "LOCAL" ? "output:1" : "output:LOCAL"];
}
