/** What a rule does, as actions of tc in the order in which the device executes its own. */
import { fieldNamed } from "../../../model/match/fields.js";
import { format, fullMask, parseBits } from "../../../model/match/term.js";
import type { ScenarioHeaderChange, ScenarioRuleAction } from "../../../scenario/index.js";
import { NotExported } from "../../writing/terms.js";
import { mungesOf } from "../fields.js";
import type { Variant } from "./match.js";

/** How devices and tables are called in tc. */
export interface Names {
  readonly port: (port: number) => string;
  readonly vport: (vport: number | "uplink") => string;
  readonly chain: (table: string) => number;
}

type ActionObject = Exclude<ScenarioRuleAction, string>;

/** The text after the keys of a filter. @throws NotExported */
export function actionsText(actions: readonly ScenarioRuleAction[], variant: Variant, names: Names): string {
  const parts: string[] = [];
  const objects = actions.filter((action): action is ActionObject => typeof action === "object");
  for (const action of objects) checkKind(action);
  for (const action of actions) if (action === "pop_vlan") parts.push("vlan pop");
  const changes = objects.flatMap(({ modify = [] }) => modify);
  if (changes.length > 0) parts.push(...changesText(changes, variant));
  for (const { push_vlan: tag } of objects) {
    if (tag === undefined) continue;
    if (tag.dei === true) throw new NotExported("vlan push of tc does not set the DEI bit");
    const protocol = tag.tpid === "0x88a8" ? "802.1ad" : "802.1Q";
    parts.push(`vlan push protocol ${protocol} id ${tag.vid ?? 0} priority ${tag.pcp ?? 0}`);
  }
  parts.push(...endsText(actions, names));
  return parts.map((part) => `action ${part}`).join(" ");
}

const KNOWN = [
  "count",
  "modify",
  "push_vlan",
  "table",
  "vport",
  "port",
  "array",
  "offset",
  "drop",
  "default_miss",
  "pop_vlan",
];

function checkKind(action: ActionObject): void {
  const other = Object.keys(action).find((key) => !KNOWN.includes(key));
  if (other !== undefined) throw new NotExported(`tc filters have no equal of ${other}`);
}

function endsText(actions: readonly ScenarioRuleAction[], names: Names): string[] {
  for (const action of actions) {
    if (action === "drop") return ["drop"];
    if (action === "default_miss") return ["pass"];
    if (typeof action !== "object") continue;
    if (action.array !== undefined) return arrayText(action.array, names);
    const end = endText(action, names);
    if (end !== undefined) return [end];
  }
  return ["pass"];
}

type Destination = Pick<ActionObject, "table" | "vport" | "port">;

function endText({ table, vport, port }: Destination, names: Names): string | undefined {
  if (table !== undefined) return `goto chain ${names.chain(table)}`;
  const device = vport === undefined ? (port === undefined ? undefined : names.port(port)) : names.vport(vport);
  return device === undefined ? undefined : `mirred egress redirect dev ${device}`;
}

/** Copies are mirrors; one member, at the end, can lead on. */
function arrayText(members: NonNullable<ActionObject["array"]>, names: Names): string[] {
  const mirrors: string[] = [];
  let last: string | undefined;
  for (const member of members) {
    const isMiss = member === "default_miss" || (typeof member === "object" && member.default_miss === true);
    if (
      typeof member === "object" &&
      (member.reformat !== undefined ||
        member.action !== undefined ||
        member.queue !== undefined ||
        member.tir !== undefined)
    ) {
      throw new NotExported("members of the array have no equal in tc");
    }
    if (typeof member === "object" && member.count !== undefined) continue;
    const end = isMiss ? "pass" : endText(member, names);
    if (end === undefined) throw new NotExported("a member of the array has no equal in tc");
    if (end.startsWith("mirred")) mirrors.push(end);
    else if (last !== undefined) throw new NotExported("a frame goes on in one chain of tc");
    else last = end;
  }
  const final = last ?? mirrors.pop() ?? "pass";
  return [...mirrors.map((text) => text.replace("redirect", "mirror")), final];
}

function changesText(changes: ScenarioHeaderChange[], variant: Variant): string[] {
  const texts: string[] = [];
  let munges: string[] = [];
  let changesIp = false;
  let changesL4 = false;
  const flush = (): void => {
    if (munges.length === 0) return;
    const l4 = variant.l4;
    const targets = [changesIp && variant.version === 4 ? "ip" : "", changesL4 && l4 !== undefined ? l4 : ""].filter(
      (one) => one !== "",
    );
    texts.push(`pedit ex ${munges.join(" ")} pipe`);
    if (targets.length > 0) texts.push(`csum ${targets.join(" and ")} pipe`);
    munges = [];
  };
  for (const change of changes) {
    const vlan = vlanText(change);
    if (vlan !== undefined) {
      flush();
      texts.push(vlan);
      continue;
    }
    const text = mungeText(change, variant);
    munges.push(`munge ${text}`);
    changesIp ||= /^ip/.test(text);
    changesL4 ||= /^(?:tcp|udp|ip6? (?:src|dst))/.test(text);
  }
  flush();
  return texts;
}

function vlanText(change: ScenarioHeaderChange): string | undefined {
  if (typeof change !== "object" || change.set !== "outer.first_vid" || change.to === undefined) return undefined;
  const { mask, value } = parseBits("to", fieldNamed("outer.first_vid") as never, change.to);
  if (mask !== 0xfffn) throw new NotExported("vlan modify of tc sets the whole VLAN");
  return `vlan modify id ${value}`;
}

function mungeText(change: ScenarioHeaderChange, { version, l4 }: Variant): string {
  if (typeof change !== "object") throw new NotExported("a change in device bytes has no equal in tc");
  const name = change.set ?? change.add ?? "";
  const field = fieldNamed(name);
  const found = mungesOf(name);
  const munged = found.find(({ header }) => header === (version === 6 ? "ip6" : "ip")) ?? found[0];
  if (munged === undefined || field === undefined || name === "outer.ethertype")
    throw new NotExported(`pedit does not change ${name || "by copies"}`);
  if (found.length > 1 && version === undefined) throw new NotExported(`which IP version ${name} is of is not asked`);
  const { header, shift, isPart } = munged;
  const munge = `${header} ${munged.name}`;
  if ((header === "ip" && version !== 4) || (header === "ip6" && version !== 6)) {
    throw new NotExported(`pedit changes ${name} of all frames: the rule does not ask for its IP version`);
  }
  if ((header === "tcp" || header === "udp") && l4 !== header) {
    throw new NotExported(`pedit changes ${name} of all frames: the rule does not ask for ${header}`);
  }
  if (change.add !== undefined) {
    if (field.kind !== "number" || isPart) throw new NotExported(`pedit does not add to ${name}`);
    return `${munge} add ${BigInt.asUintN(field.width, BigInt(change.by ?? 0))}`;
  }
  const { mask, value } = parseBits(name, field, change.to ?? 0);
  if (mask === fullMask(field) && !isPart) return `${munge} set ${format(field, value)}`;
  if (field.width > 32) throw new NotExported(`pedit retains bits of at most 32, not of ${name}`);
  const hex = (bits: bigint): string => `0x${(bits << BigInt(shift)).toString(16)}`;
  return `${munge} set ${hex(value)} retain ${hex(mask)}`;
}
