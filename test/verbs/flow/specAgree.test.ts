/**
 * Specs of flows as key bits: objects, C bytes, the model's translation and the reference agree on
 * the frames that a flow matches, on invalid flows, and on identical flows.
 */
import { beforeAll, expect, test } from "vitest";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { SteeringError } from "../../../src/errors.js";
import { readFlowAttr } from "../../../src/verbs/flow/attr.js";
import { flowAttrBytes, flowAttrFromBytes, type FlowAttr } from "../../../src/verbs/index.js";
import { frameText, parseAll, seedFor, type TestFrame } from "../../assembly/support/core.js";
import { merged, specsAreValid, termsOf } from "../../oracle/flow/spec.js";
import { checkedMatch } from "../../model/support/flows.js";
import { Random, randomFrame } from "../../oracle/generate/frame.js";
import { randomFlowFor, type RandomFlow } from "../../oracle/generate/flow.js";
import { type Fields, termMatches } from "../../oracle/walk/match.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { checkReached, rounds } from "../../support/tier.js";

const PAIRS = rounds(40_000);
const FRAMES = 250;
const FLOWS_PER_FRAME = 8;

let core: Core;
beforeAll(async () => {
  core = await loadOpenCore();
});

interface Translated {
  mask: Uint8Array;
  value: Uint8Array;
}

/** Mask and value, null for EINVAL. Half of the flows are given as the bytes of the C structs. */
function translated({ type, priority, port, flags, specs }: RandomFlow, inBytes: boolean): Translated | null {
  const attr: FlowAttr = { type, priority, port, flags, specs: specs };
  try {
    const given = inBytes
      ? flowAttrFromBytes(
          flowAttrBytes(attr, () => 1n),
          () => ({}),
        )
      : attr;
    return checkedMatch(readFlowAttr(given).specs, port);
  } catch (error) {
    if (error instanceof SteeringError && error.code === "EINVAL") return null;
    throw error;
  }
}

function asks(key: Uint8Array, { mask, value }: Translated): boolean {
  for (let at = 0; at < mask.length; at++) if (((key[at]! ^ value[at]!) & mask[at]!) !== 0) return false;
  return true;
}

/** The masked bytes. */
function bitsText({ mask, value }: Translated): string {
  let list = "";
  for (let at = 0; at < mask.length; at++) if (mask[at] !== 0) list += ` ${at} ${mask[at]} ${value[at]}`;
  return list;
}

function text(flow: RandomFlow, frame: TestFrame): string {
  const shown = (_key: string, value: unknown) => (typeof value === "bigint" ? `0x${value.toString(16)}` : value);
  return `${JSON.stringify(flow, shown)}\n${frameText(frame)}`;
}

test(`${PAIRS} pairs`, () => {
  const random = new Random(seedFor("specs"));
  const counts = { pairs: 0, hits: 0, bits: 0, invalid: 0, twins: 0 };
  while (counts.pairs < PAIRS) round(random, counts);
  const percent = (count: number): number => Math.round((1000 * count) / counts.pairs) / 10;
  console.log(
    `${counts.pairs} pairs: ${percent(counts.hits)} % hit, ${percent(counts.bits)} % miss by one bit, ` +
      `${percent(counts.invalid)} % are none, ${counts.twins} identical`,
  );
  expect(percent(counts.hits)).toBeGreaterThan(20);
  expect(percent(counts.bits)).toBeGreaterThan(20);
  expect(percent(counts.invalid)).toBeGreaterThan(3);
  checkReached(() => expect(counts.twins).toBeGreaterThan(100));
});

function round(random: Random, counts: { pairs: number; hits: number; bits: number; invalid: number; twins: number }) {
  const frames: TestFrame[] = Array.from({ length: FRAMES }, () => randomFrame(random));
  const identities = new Map<string, string>();
  parseAll(core, frames, (i, key) => {
    const frame = frames[i] as TestFrame;
    const { fields } = parseReference(frame.bytes, { ...frame, port: frame.port ?? 1 });
    for (let n = 0; n < FLOWS_PER_FRAME; n++) {
      const flow = randomFlowFor(fields, random, { ports: 2 });
      counts.pairs++;
      const ours = translated(flow, random.chance(0.5));
      if ((ours !== null) !== specsAreValid(flow.specs)) expect.fail(`valid for one only: ${text(flow, frame)}`);
      if (ours === null) counts.invalid++;
      else if (compare(flow, ours, key, fields, frame)) counts.hits++;
      else if (flow.near === "bit") counts.bits++;
      if (ours !== null && sameTwice(flow, ours, identities, frame)) counts.twins++;
    }
  });
}

function compare(flow: RandomFlow, ours: Translated, key: Uint8Array, fields: Fields, frame: TestFrame): boolean {
  const hits =
    fields.get("ext.port") === BigInt(flow.port) && termsOf(flow.specs).every((one) => termMatches(fields, one));
  if (asks(key, ours) !== hits) expect.fail(`reference ${hits}: ${text(flow, frame)}`);
  return hits;
}

/**
 * Flows have the same bits exactly if the reference calls them identical; returns true if one was
 * seen before.
 */
function sameTwice(flow: RandomFlow, ours: Translated, identities: Map<string, string>, frame: TestFrame): boolean {
  const terms = merged(termsOf(flow.specs)) ?? [];
  const theirs = `${flow.port} ${terms.map(({ field, mask, value }) => `${field} ${mask} ${value}`).join()}`;
  const bits = bitsText(ours);
  const known = identities.get(theirs) ?? identities.get(bits);
  if (known !== undefined && (identities.get(theirs) !== bits || identities.get(bits) !== theirs)) {
    expect.fail(`identical for one only: ${text(flow, frame)}`);
  }
  identities.set(theirs, bits);
  identities.set(bits, theirs);
  return known !== undefined;
}
