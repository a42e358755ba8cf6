/** Changes of verbs flows in the fields of their specs: `tcp.dst_port`, `eth.vlan_tag`. */
import { FlowEntry } from "../../model/flow/entry.js";
import { isVerbsFlow } from "../../model/flow/kinds.js";
import { filterPlaceOf, type FilterPlace } from "../../model/flow/specMatch.js";
import { fieldNamed, type Field } from "../../model/match/fields.js";
import { fullMask, parseTerm } from "../../model/match/term.js";
import type { FieldChange } from "../trace/trace.js";
import { termsOf } from "../match/terms.js";
import type { RuleInTable } from "./context.js";
import { newPlaceOf } from "./flowSpecs.js";

/** A match field that an attribute of the flow stands for. */
const ATTRIBUTES: Readonly<Record<string, string>> = { "ext.port": "port" };

/** The changes as edits of a flow's specs; those of other rules, and of what a spec implies, stay as they are. */
export function inFlowFields(rule: RuleInTable, changes: readonly FieldChange[]): readonly FieldChange[] {
  const flow = rule.object instanceof FlowEntry ? rule.object.flows.find(isVerbsFlow) : undefined;
  if (flow === undefined) return changes;
  const before = new Map(termsOf(rule).map(({ field, wanted }) => [field.name, wanted]));
  const after = new Map(before);
  for (const { field, after: text } of changes) {
    if (text === null) after.delete(field);
    else after.set(field, text);
  }
  const edits = new Map<string, FieldChange>();
  for (const change of changes) {
    const place = filterPlaceOf(flow.specs, change.field) ?? (change.after === null ? null : newPlaceOf(change.field));
    const name = place === null ? (ATTRIBUTES[change.field] ?? change.field) : nameOf(place);
    const edit = place === null || place.covers.length === 1 ? change : composed(place, before, after);
    edits.set(name, { ...edit, field: name });
  }
  return [...edits.values()];
}

function nameOf({ spec: { layout, inner }, name }: FilterPlace): string {
  return `${inner ? "inner " : ""}${layout.name.replace("IBV_FLOW_SPEC_", "").toLowerCase()}.${name}`;
}

type Terms = ReadonlyMap<string, string>;

/** The change of a field that covers several match fields: the TOS byte is DSCP and ECN. */
function composed({ covers }: FilterPlace, before: Terms, after: Terms): Omit<FieldChange, "field"> {
  return { before: wholeText(covers, before), after: wholeText(covers, after) };
}

/** Value and mask of all covered fields; null if none is matched. */
function wholeText(covers: readonly string[], terms: Terms): string | null {
  let [value, mask, full] = [0n, 0n, 0n];
  for (const name of covers) {
    const field = fieldNamed(name) as Field;
    const width = BigInt(field.width);
    const text = terms.get(name);
    const term = text === undefined ? undefined : parseTerm(name, field, text);
    const bits = term?.kind === "bits" ? term : { value: 0n, mask: 0n };
    [value, mask, full] = [
      (value << width) | bits.value,
      (mask << width) | bits.mask,
      (full << width) | fullMask(field),
    ];
  }
  const hex = (number: bigint): string => `0x${number.toString(16)}`;
  if (mask === 0n) return null;
  return mask === full ? hex(value) : `${hex(value)}/${hex(mask)}`;
}
