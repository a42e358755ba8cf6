/** Changes of verbs flows as edits of their specs, held to what the profile of the device takes. */
import { SteeringError } from "../../errors.js";
import { IBV_FLOW_ATTR_NORMAL } from "../../abi/verbs.js";
import { checkFlow } from "../../model/flow/checks.js";
import { filterPlaceOf, flowMatch, type FilterPlace } from "../../model/flow/specMatch.js";
import type { VerbsFlow } from "../../model/flow/verbsFlow.js";
import { fieldNamed, readField, type Field } from "../../model/match/fields.js";
import { ATTR_SIZE, specLayouts, type MatchSpec, type Spec } from "../../model/match/flowSpec.js";
import { termsOf, type KeyMatch } from "../match/terms.js";

/** Whether a flow can have a match: some specs mean it, and the profile takes them. */
export function canMatch(flow: VerbsFlow, match: KeyMatch): boolean {
  if (flow.type !== IBV_FLOW_ATTR_NORMAL) return true;
  const specs = editedSpecs(flow.specs, match);
  const shown = specs.filter((spec) => spec.kind !== "match" || spec.mask.some((byte) => byte !== 0));
  return [specs, shown].some((list) => means(list, flow.port, match) && isTaken(flow, list));
}

/** The specs with the values and masks of a match; fields that no spec has are in specs of their own. */
function editedSpecs(specs: readonly Spec[], match: KeyMatch): Spec[] {
  const edited = specs.map((spec) => (spec.kind === "match" ? emptied(spec) : spec));
  for (const { field } of termsOf(match)) {
    if (IMPLIED.test(field.name) || filterPlaceOf(edited, field.name) !== null) continue;
    const added = newSpec(field.name);
    if (added !== null) edited.push(added);
  }
  const places = new Map<string, FilterPlace>();
  for (const { field } of termsOf(match)) {
    const place = filterPlaceOf(edited, field.name);
    if (place !== null) places.set(place.covers.join(), place);
  }
  for (const place of places.values()) write(place, match);
  return edited;
}

/** Fields that follow from the types of specs. */
const IMPLIED = /\.ip_(version|protocol)$/;

function emptied(spec: MatchSpec): MatchSpec {
  const { known } = spec.layout;
  return { ...spec, val: new Uint8Array(known), mask: new Uint8Array(known) };
}

/** An empty spec of the type that has a field; null where none has it. */
function newSpec(field: string): MatchSpec | null {
  for (const layout of specLayouts()) {
    for (const inner of layout.inner ? [false, true] : [false]) {
      const { size } = layout;
      const spec = emptied({ kind: "match", layout, inner, size, val: EMPTY, mask: EMPTY, more: false });
      if (filterPlaceOf([spec], field) !== null) return spec;
    }
  }
  return null;
}

const EMPTY = new Uint8Array();

/** The field of a spec that a flow has not yet. */
export function newPlaceOf(field: string): FilterPlace | null {
  const spec = newSpec(field);
  return spec === null ? null : filterPlaceOf([spec], field);
}

function write({ spec, name, covers }: FilterPlace, { mask, value }: KeyMatch): void {
  const place = spec.layout.named.get(name);
  if (place === undefined) return;
  for (const [filter, key] of [
    [spec.mask, mask],
    [spec.val, value],
  ] as const) {
    let number = 0n;
    for (const cover of covers) {
      const field = fieldNamed(cover) as Field;
      number = (number << BigInt(field.width)) | readField(key, field);
    }
    for (let at = place.at + place.size - 1; at >= place.at; at--, number >>= 8n) filter[at] = Number(number & 0xffn);
  }
}

function means(specs: readonly Spec[], port: number, { mask, value, ranges }: KeyMatch): boolean {
  try {
    const match = flowMatch(specs, port);
    return ranges.length === 0 && isEqual(match.mask, mask) && isEqual(match.value, value);
  } catch (error) {
    if (error instanceof SteeringError) return false;
    throw error;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((byte, i) => byte === b[i]);
}

function isTaken({ qp, type, priority, port, flags }: VerbsFlow, specs: readonly Spec[]): boolean {
  const { device, qp_type } = qp;
  const size = specs.reduce((sum, spec) => sum + spec.size, ATTR_SIZE);
  const request = { comp_mask: 0, type, size, priority, num_of_specs: specs.length, port, flags, specs };
  const setting = { ports: device.ports, steering: true, rawAllowed: true, qpType: qp_type };
  try {
    checkFlow(device.profile, request, { ...setting, hasPoints: () => true, points: () => 1 });
    return true;
  } catch (error) {
    if (error instanceof SteeringError) return false;
    throw error;
  }
}
