/** What the engine's tests share: the engine's view of frames in the terms of the reference. */
import { onTestFailed, TestRunner } from "vitest";
import { Batch } from "../../../src/engine/batch.js";
import type { Core } from "../../../src/engine/core.js";
import { NEEDS_ALL } from "../../../src/abi/key.js";
import { FIELDS, fieldNamed, isPresent, readField, type Field } from "../../../src/model/match/fields.js";
import { linkOf } from "../../../src/model/traffic/links.js";
import { format, fullMask } from "../../../src/model/match/term.js";
import type { TermText } from "../../../src/model/match/term.js";
import type { Range, Term } from "../../oracle/walk/match.js";
import { setting } from "../../support/tier.js";

/** A frame as tests make it. */
export interface TestFrame {
  bytes: Uint8Array;
  linkType: number;
  wireLength: number;
  port?: number;
}

/** The seed of a random test: FLOWSTEER_SEED, else the time; printed, and said by the failure of the test, so that it can be had again. */
export function seedFor(name: string): number {
  const given = setting("FLOWSTEER_SEED");
  const seed = given === undefined ? Date.now() % 1_000_000_007 : Number(given);
  const text = `${name}: FLOWSTEER_SEED=${seed}`;
  console.log(text);
  if (TestRunner.getCurrentTest() !== undefined) {
    onTestFailed(({ task }) => {
      for (const error of task.result?.errors ?? []) error.message += `\n${text}`;
    });
  }
  return seed;
}

/** Fields of a frame's bytes, as the engine has them: present ones with their values. */
export function fieldsOf(key: Uint8Array): Map<string, bigint> {
  const fields = new Map<string, bigint>();
  for (const field of FIELDS) {
    if (field.filled && !field.ofWay && isPresent(key, field)) fields.set(field.name, readField(key, field));
  }
  return fields;
}

/** Parses frames with every group; calls back with each key and frame map. */
export function parseAll(
  core: Core,
  frames: readonly TestFrame[],
  each: (i: number, key: Uint8Array, map: DataView) => void,
): void {
  const batch = new Batch(core);
  for (let next = 0; next < frames.length;) {
    batch.clear();
    const first = next;
    for (; next < frames.length; next++) {
      const { bytes, wireLength, linkType, port } = frames[next] as TestFrame;
      if (batch.put(bytes, wireLength, port ?? 1, linkOf("linkType", linkType)) < 0) break;
    }
    batch.parse(NEEDS_ALL);
    for (let i = first; i < next; i++) each(i, batch.key(i - first), batch.map(i - first));
  }
}

/** A term of the reference as people write it. */
export function termText({ field, mask, value }: Term): TermText {
  const known = fieldNamed(field) as Field;
  if (known.kind === "number") return `${hex(value)}/${hex(mask)}`;
  return mask === fullMask(known) ? format(known, value) : `${format(known, value)}/${format(known, mask)}`;
}

/** A range of the reference as people write it. */
export function rangeText({ field, low, high }: Range): TermText {
  const known = fieldNamed(field) as Field;
  return `${format(known, low)}-${format(known, high)}`;
}

export function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** A frame for a message: everything that is needed to have it again. */
export function frameText({ bytes, linkType, wireLength, port }: TestFrame): string {
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `linkType ${linkType} wireLength ${wireLength} port ${port ?? 1} ${text}`;
}
