/** The engine's parser and the reference agree on every field and on where parsing stops. */
import { beforeAll, expect, test } from "vitest";
import { Header, MAP_STOP_HEADER, MAP_STOP_OFFSET, MAP_STOP_WHY, Stop } from "../../src/abi/headers.js";
import type { Core } from "../../src/engine/core.js";
import { loadCore } from "../../src/engine/load.js";
import { Random, randomFrame } from "../oracle/generate.js";
import { parseReference, type ReferenceResult } from "../oracle/parse.js";
import { fieldsOf, frameText, parseAll, seedFor, type TestFrame } from "./support.js";

let core: Core;
beforeAll(async () => {
  core = await loadCore();
});

/** The reference's names of headers that the engine calls otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  ip: "ip",
  sll: "linux_cooked",
  sll2: "linux_cooked_v2",
  null: "loopback",
  loop: "loopback",
  hop_by_hop: "ipv6_hop_by_hop",
  routing: "ipv6_routing",
  destination: "ipv6_destination",
  fragment: "ipv6_fragment",
};

function compare(frame: TestFrame, key: Uint8Array, map: DataView): void {
  const reference: ReferenceResult = parseReference(frame.bytes, { ...frame, port: frame.port ?? 1 });
  const ours = fieldsOf(key);
  const names = new Set([...ours.keys(), ...reference.fields.keys()]);
  const differing = [...names]
    .filter((name) => ours.get(name) !== reference.fields.get(name))
    .map((name) => `${name}: engine ${ours.get(name)}, reference ${reference.fields.get(name)}`);
  const why = map.getUint8(MAP_STOP_WHY);
  const stopped = reference.stopped;
  const header = Header[map.getUint8(MAP_STOP_HEADER)];
  if ((why === Stop.none) !== (stopped === null))
    differing.push(`stopped: engine ${Stop[why]}, reference ${stopped?.reason}`);
  else if (stopped !== null) {
    const name = NAMES[stopped.header] ?? stopped.header;
    if (header !== name) differing.push(`stopped at: engine ${header}, reference ${name}`);
    const offset = map.getUint32(MAP_STOP_OFFSET, true);
    if (offset !== stopped.offset && stopped.header !== "vlan")
      differing.push(`stop offset ${offset}, ${stopped.offset}`);
  }
  if (differing.length > 0)
    expect.fail(`${frameText(frame)}\n${differing.join("\n")}\nstopped ${JSON.stringify(stopped)}`);
}

test("random frames", () => {
  const random = new Random(seedFor("parse"));
  const frames = Array.from({ length: 20_000 }, () => randomFrame(random));
  parseAll(core, frames, (i, key, map) => compare(frames[i] as TestFrame, key, map));
});

test("frames cut at every byte, with every byte inverted", () => {
  const random = new Random(seedFor("parse, cut"));
  const frames: TestFrame[] = [];
  for (let n = 0; n < 60; n++) {
    const frame = randomFrame(random);
    const bytes = frame.bytes.subarray(0, 200);
    for (let at = 0; at < bytes.length; at++) {
      frames.push({ ...frame, bytes: bytes.subarray(0, at) });
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ 0xff;
      frames.push({ ...frame, bytes: flipped });
    }
  }
  parseAll(core, frames, (i, key, map) => compare(frames[i] as TestFrame, key, map));
});
