/**
 * Replay windows of any size, from any number on: the numbers alone determine the accepted frames
 * (RFC 6479, RFC 4303 A.2).
 */
import { expect, test } from "vitest";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { BMP, create, ENCRYPT, ESN, handle, sealed, sealing, tunnel } from "../support/esp.js";
import { FlowBench } from "../support/flows.js";

const FRAME = ipv4Frame();
/**
 * The decrypting device starts with the first of these encrypted frames, then receives the second.
 */
const FIRST = 10;
const LATER = 150;

const from = (number: bigint): [v.FlowActionEsp, v.FlowActionEspAttr] => [
  { comp_mask: ESN, esn: Number(number >> 32n) },
  { seq: Number(number & 0xffffffffn) },
];

test.each(
  [1, 64, 65, 129, 65_536].flatMap((size) =>
    [0n, 63n, 2n ** 32n - 3n, (5n << 32n) + 70n].map((n) => [size, n] as const),
  ),
)("size %i, from %i", async (size, start) => {
  const bench = await FlowBench.open();
  const flow = sealing(bench, create(bench, tunnel(ENCRYPT, ...from(start))));
  const frames = Array.from({ length: 200 }, () => sealed(bench, FRAME));
  v.ibv_destroy_flow(flow);
  const [esp, attr] = from(start + BigInt(FIRST));
  const action = create(bench, tunnel(0, { ...esp, replay_proto: BMP, replay_ptr: { size } }, attr));
  bench.flow("in", [handle(action)]);
  // A number far below a window may count as one of the next ESN that is too far ahead.
  const taken = (n: number): boolean => {
    const text = bench.received(frames[n]!);
    if (text !== "in deliver") expect(text).toMatch(/^drop esp_(replay|jump)$/);
    return text === "in deliver";
  };
  for (let n = 0; n < FIRST; n++) expect([n, taken(n)]).toEqual([n, false]);
  expect([taken(FIRST), taken(FIRST), taken(LATER)]).toEqual([true, false, true]);
  expect(action.state.number).toBe(start + BigInt(LATER));
  for (let n = 0; n < LATER; n++) expect([n, taken(n)]).toEqual([n, n > FIRST && n > LATER - size]);
  for (let n = FIRST; n <= LATER; n++) expect([n, taken(n)]).toEqual([n, false]);
});
