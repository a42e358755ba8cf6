/** The engine's parser beside the reference: every field, the list of headers, the stop and the payload. */
import { expect } from "vitest";
import {
  Header,
  LEVEL_INNER,
  LEVEL_OUTER,
  MAP_COUNT,
  MAP_ENTRIES,
  MAP_ENTRY_SIZE,
  MAP_FIRST,
  MAP_INNER_PAYLOAD,
  MAP_INNER_PAYLOAD_END,
  MAP_PAYLOAD,
  MAP_PAYLOAD_END,
  MAP_STOP_HAD,
  MAP_STOP_HEADER,
  MAP_STOP_OFFSET,
  MAP_STOP_WANTED,
  MAP_STOP_WHY,
  Stop,
} from "../../../../src/abi/headers.js";
import type { ParserOptions } from "../../../oracle/wire/packet.js";
import { parseReference, type ReferenceResult } from "../../../oracle/wire/parse.js";
import { fieldsOf, frameText, type TestFrame } from "../../support/core.js";

/** Holds what the engine parsed against the reference. @returns what the reference says */
export function compareParse(frame: TestFrame, key: Uint8Array, map: DataView, parser: ParserOptions): ReferenceResult {
  const reference = parseReference(frame.bytes, { ...frame, port: frame.port ?? 1, parser });
  const ours = fieldsOf(key);
  const names = new Set([...ours.keys(), ...reference.fields.keys()]);
  const differing = [...names]
    .filter((name) => ours.get(name) !== reference.fields.get(name))
    .map((name) => `${name}: engine ${ours.get(name)}, reference ${reference.fields.get(name)}`);
  const [engineMap, referenceMap] = [mapText(map), referenceText(reference)];
  if (engineMap.join() !== referenceMap.join())
    differing.push(`engine:    ${engineMap.join(", ")}`, `reference: ${referenceMap.join(", ")}`);
  if (differing.length > 0) expect.fail(`${differing.join("\n")}\n${frameText(frame)} ${JSON.stringify(parser)}`);
  return reference;
}

/** What the engine's frame map says, in the words of the reference. */
function mapText(map: DataView): string[] {
  const word = (at: number): number => map.getUint32(at, true);
  const headers = Array.from({ length: map.getUint16(MAP_COUNT, true) }, (_, n) => {
    const entry = MAP_FIRST + n * MAP_ENTRY_SIZE;
    const level = { [LEVEL_OUTER]: "outer", [LEVEL_INNER]: "inner" }[map.getUint8(entry + 1)];
    return `${level} ${Header[map.getUint8(entry)]} at ${word(entry + 4)}`;
  });
  const why = Stop[map.getUint8(MAP_STOP_WHY)] ?? "";
  const bytes = `wanted ${word(MAP_STOP_WANTED)} had ${word(MAP_STOP_HAD)}`;
  const stop = `${Header[map.getUint8(MAP_STOP_HEADER)]} at ${word(MAP_STOP_OFFSET)} ${why} ${bytes}`;
  const inner = word(MAP_INNER_PAYLOAD) !== 0;
  const [begin, end] = inner ? [MAP_INNER_PAYLOAD, MAP_INNER_PAYLOAD_END] : [MAP_PAYLOAD, MAP_PAYLOAD_END];
  return [...headers, `stop: ${why === "none" ? "none" : stop}`, `payload ${word(begin)} to ${word(end)}`];
}

function referenceText({ headers, stopped, payload }: ReferenceResult): string[] {
  const list = headers.slice(0, MAP_ENTRIES).map(({ kind, level, offset }) => `${level} ${kind} at ${offset}`);
  const { header = "", offset = 0, reason = "", wanted = 0, had = 0 } = stopped ?? {};
  const stop = `${header} at ${offset} ${reason} wanted ${wanted} had ${had}`;
  return [...list, `stop: ${stopped ? stop : "none"}`, `payload ${payload.offset} to ${payload.end}`];
}
