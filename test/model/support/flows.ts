/** Common parts of the tests of flows as matches: specs from objects, and matches by field name. */
import { EXT_PRESENT_INNER, EXT_PRESENT_OUTER, EXT_PRESENT_TUNNEL } from "../../../src/abi/key.js";
import { FIELDS, fieldNamed, readField, writeField, type Field } from "../../../src/model/match/fields.js";
import { flowMatch, portMatch, type FlowMatch, type KeyBits } from "../../../src/model/flow/specMatch.js";
import { checkFlow } from "../../../src/model/flow/checks.js";
import type { Spec } from "../../../src/model/match/flowSpec.js";
import { profileNamed } from "../../../src/model/profile/profiles.js";
import { readFlowAttr } from "../../../src/verbs/flow/attr.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { merged, termsOf, type FlowSpec } from "../../oracle/flow/spec.js";
import { inCall } from "../../../src/errors.js";

export const INNER = v.IBV_FLOW_SPEC_INNER;

/** The match of a NORMAL flow under `manual`, with the checks of ibv_create_flow. */
export function checkedMatch(specs: readonly Spec[], port: number): FlowMatch {
  const flow = { comp_mask: 0, type: v.IBV_FLOW_ATTR_NORMAL, size: 0, priority: 0, port: 1, flags: 0 };
  const setting = { ports: 1, steering: true, rawAllowed: true, qpType: v.IBV_QPT_RAW_PACKET };
  const request = { ...flow, num_of_specs: specs.length, specs };
  checkFlow(profileNamed("manual"), request, { ...setting, hasPoints: () => true, points: () => 1 });
  return flowMatch(specs, port);
}

export const specsOf = (specs: readonly object[]): readonly Spec[] =>
  readFlowAttr({ type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs: specs as v.FlowSpec[] }).specs;
export const matchOf = (...specs: object[]): FlowMatch =>
  inCall("ibv_create_flow", () => checkedMatch(specsOf(specs), 1));
export const refusalOf = (...specs: object[]): string => refused(() => matchOf(...specs))?.message ?? "accepted";

/**
 * The fields of a match besides the port, as "value/mask" by name; addresses of the matched
 * version.
 */
export function asked({ mask, value }: FlowMatch): Record<string, string> {
  const found = FIELDS.filter((field) => {
    const other = field.version !== 0 && readField(value, versionOf(field.name)) !== BigInt(field.version);
    return field.name !== "ext.port" && !other && readField(mask, field) !== 0n;
  });
  const text = (field: Field): string =>
    `${readField(value, field).toString(16)}/${readField(mask, field).toString(16)}`;
  return Object.fromEntries(found.map((field) => [field.name, text(field)]));
}

const versionOf = (name: string): Field =>
  fieldNamed(`${name.startsWith("inner.") ? "inner" : "outer"}.ip_version`) as Field;

export const word = (key: Uint8Array, at: number): number => new DataView(key.buffer).getUint32(at);
export const here = ({ mask }: FlowMatch): number[] =>
  [EXT_PRESENT_OUTER, EXT_PRESENT_INNER, EXT_PRESENT_TUNNEL].map((at) => word(mask, at));

// Presence bits of docs/parsing.md; written out, so that the field table is checked too.
export const [ETH, ETHERTYPE, VLAN, L3, IPV4, IPV6, PROTOCOL] = [1, 2, 4, 16, 32, 64, 128];
export const [TCP, UDP, ESP, MPLS, VXLAN, GRE, GRE_KEY] = [256, 512, 8192, 16384, 1, 32, 64];

export const takesInner = (type: number): boolean =>
  type !== v.IBV_FLOW_SPEC_GRE && type !== v.IBV_FLOW_SPEC_VXLAN_TUNNEL;

/** Mask and value of the reference's terms, with presence and port. */
export function referenceMatch(specs: readonly FlowSpec[], port: number): KeyBits {
  const terms = merged(termsOf(specs)) ?? [];
  const match = portMatch(port);
  const add = (key: Uint8Array, field: Field, bits: bigint): void =>
    writeField(key, field, readField(key, field) | bits);
  for (const { field: name, mask, value } of terms) {
    const field = fieldNamed(name) as Field;
    add(match.mask, field, mask);
    add(match.value, field, value);
    const presence = field.here;
    if (presence === null) continue;
    for (const key of [match.mask, match.value]) {
      new DataView(key.buffer).setUint32(presence.word, word(key, presence.word) | presence.bit);
    }
  }
  return match;
}

/**
 * The differences between two matches, as "byte: mask/value, mask/value"; empty if there are none.
 */
export function differences(a: KeyBits, b: KeyBits): string[] {
  const at = (one: KeyBits, byte: number): string => `${one.mask[byte]}/${one.value[byte]}`;
  const bytes = Array.from(a.mask.keys()).filter(
    (byte) => a.mask[byte] !== b.mask[byte] || a.value[byte] !== b.value[byte],
  );
  return bytes.map((byte) => `${byte}: ${at(a, byte)}, ${at(b, byte)}`);
}
