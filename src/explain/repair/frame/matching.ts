/** Changes a frame, header by header and then value by value, until it agrees with a rule. */
import { EXT_PRESENT_TUNNEL } from "../../../abi/key.js";
import type { UdpPorts } from "../../../model/base/parser.js";
import { presenceWord } from "../../match/terms.js";
import type { RepairContext, RuleInTable } from "../context.js";
import { optionsOf, parseBytes, termFacts, type ParsedBytes, type TermFact } from "../facts.js";
import { FrameDraft } from "./draft.js";
import { addHeader } from "./structure.js";
import { setField } from "./values.js";

/** Every change adds a header or settles values, and a rule asks for few headers. */
const MAX_CHANGES = 16;

/** Headers come before what they carry: a term of a lower number is settled first. */
function order({ name, found }: TermFact): number {
  const inner = /(^|[._])inner[._]/.test(name) ? 10 : 0;
  if (name.startsWith("misc") && !name.includes("vid") && inner === 0 && found === null) return 8;
  const layer = ["ethertype", "vid", "ip_version", "ipv", "ip_protocol"].findIndex((part) => name.includes(part));
  return inner + (layer < 0 ? 6 : layer);
}

/** The terms of a rule that speak about bytes of the frame and that its key fails. */
export function failingInFrame(rule: RuleInTable, key: Uint8Array): TermFact[] {
  return termFacts(rule, key).filter(({ agrees, field }) => !agrees && !isOfWay(field));
}

/** Fields that no bytes of a frame change. */
export function isOfWay({ name, ofWay }: { readonly name: string; readonly ofWay: boolean }): boolean {
  return ofWay || name === "ext.port";
}

/**
 * The smallest change of `from` that agrees with all terms of the rule; null if none was found. Only
 * failing terms change, and what they need.
 */
export function matchingFrame(context: RepairContext, rule: RuleInTable, from: ParsedBytes): ParsedBytes | null {
  const tunnels = presenceWord(rule.mask, EXT_PRESENT_TUNNEL);
  let frame = from;
  for (let changes = 0; changes < MAX_CHANGES; changes++) {
    const failing = failingInFrame(rule, frame.key).sort((a, b) => order(a) - order(b));
    if (failing.length === 0) return frame;
    const draft = FrameDraft.of(frame);
    if (!changeOnce(draft, failing, tunnels, context.device.parser.udpPorts)) return null;
    const bytes = draft.build();
    if (bytes === null || isEqual(bytes, frame.bytes)) return null;
    frame = parseBytes(context.device, bytes, optionsOf(context, bytes));
  }
  return null;
}

/** Adds the first header that is absent, or sets all values. */
function changeOnce(draft: FrameDraft, failing: readonly TermFact[], tunnels: number, udpPorts: UdpPorts): boolean {
  const structural = failing.find((term) => term.found === null || isStructural(term));
  if (structural !== undefined) {
    return structural.found === null || structural.name.endsWith(".ip_version")
      ? addHeader(draft, structural, tunnels, udpPorts)
      : setField(draft, structural);
  }
  return failing.every((term) => setField(draft, term));
}

/** Terms whose value says which headers follow. */
function isStructural({ name }: TermFact): boolean {
  return /\.(ethertype|ip_version|ip_protocol|frag)$|[cs]vlan_tag$/.test(name);
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
