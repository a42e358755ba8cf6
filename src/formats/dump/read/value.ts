/** The value of a rule, put together from the tags of its steering entries. */
import { VPORT_UPLINK } from "../../../abi/engine.js";
import { DEVICE_KEY_SIZE } from "../../../abi/key.js";
import type { Field } from "../../../model/match/fields.js";
import { anyBit, copyBits, hasBits, putNumber, setBit } from "../../rules/bits.js";
import { SAMPLE_IDS, SOURCE_PORT, type MatcherPlan } from "./plan.js";
import type { Run } from "./steps.js";
import type { DumpDomain, DumpEntry, DumpRule, Side } from "./tree.js";

/** A rule's value, in device bytes, and fields whose values the dump does not contain. */
export interface RuleValue {
  readonly value: Uint8Array;
  readonly unknown: readonly Field[];
}

/** The value of a rule of the matcher. */
export function valueOf({ matcher, asked, steps }: MatcherPlan, rule: DumpRule): RuleValue {
  if (rule.value !== null) return { value: rule.value, unknown: [] };
  const value = new Uint8Array(DEVICE_KEY_SIZE);
  const unknown = new Set<Field>();
  const { domain } = matcher.table;
  for (const side of ["rx", "tx"] as const) {
    const tags = rule.entries.filter((entry) => entry.side === side).map(tagOf);
    if (tags.length === 0) continue;
    for (const step of steps[side]) {
      const tag = tags[step.entry];
      if (tag === undefined || !put(value, tag, step.run, side, domain)) unknown.add(step.run.field);
    }
  }
  // On the receive side of an eSwitch there are only frames of the wire; on the other side the wire has no entries.
  if (domain.type === "fdb" && hasBits(asked, SOURCE_PORT) && rule.entries.every(({ side }) => side === "rx")) {
    putNumber(value, SOURCE_PORT.bit, 16, VPORT_UPLINK);
    unknown.delete(SOURCE_PORT);
  }
  // Ids of samples are part of the mask.
  for (const id of SAMPLE_IDS) copyBits(value, asked, id);
  for (let byte = 0; byte < value.length; byte++) value[byte] = (value[byte] as number) & (asked[byte] as number);
  return { value, unknown: [...unknown] };
}

/** Control (32 bytes), then the tag: 16 bytes, of definers 32. */
const TAG = 64;

function tagOf({ hex }: DumpEntry): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2 - TAG / 2);
  for (let n = 0; n < bytes.length; n++) bytes[n] = Number.parseInt(hex.slice(TAG + 2 * n, TAG + 2 * n + 2), 16);
  return bytes;
}

/** Puts a run into a value. @returns false if the tag does not determine it */
function put(
  value: Uint8Array,
  tag: Uint8Array,
  { keyBit, width, tag: from }: Run,
  side: Side,
  domain: DumpDomain,
): boolean {
  switch (from.kind) {
    case "same":
      for (let n = 0; n < width; n++) if (anyBit(tag, from.bit + n, 1)) setBit(value, keyBit + n);
      return true;
    case "anyWord":
      for (let n = 0; n < width; n++) {
        if ([0, 32, 64, 96].some((word) => anyBit(tag, word + from.bit + n, 1))) setBit(value, keyBit + n);
      }
      return true;
    case "unknown":
      return false;
    case "values": {
      const bits = [...new Set([...from.values.values()].flat())];
      const set = bits.filter((bit) => anyBit(tag, bit, 1));
      for (const [number, of] of from.values) {
        if (of.length !== set.length || !of.every((bit) => set.includes(bit))) continue;
        putNumber(value, keyBit, width, number);
        return true;
      }
      return false;
    }
    case "gvmi": {
      const gvmi = ((tag[from.bit >> 3] as number) << 8) | (tag[(from.bit >> 3) + 1] as number);
      const fromWire = side === "rx" && gvmi === 0 && from.notWire !== null && !anyBit(tag, from.notWire, 1);
      const [vport] = [...domain.vports].find(([number, of]) => of === gvmi && number !== VPORT_UPLINK) ?? [];
      const found = fromWire ? VPORT_UPLINK : vport;
      if (found === undefined) return false;
      putNumber(value, keyBit, width, found);
      return true;
    }
  }
}
