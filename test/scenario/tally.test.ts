/** Sums over outcomes that are written by hand: ends, copies, registers, and ports where frames arrived next. */
import { expect, test } from "vitest";
import type { Outcome } from "../../src/index.js";
import { Tally } from "../../src/scenario/outcome/tally.js";

const FRAME = new Uint8Array(60);
const LONGER = new Uint8Array(64);

const outcome = (parts: Partial<Outcome>): Outcome => ({
  verdict: "miss",
  reason: null,
  to: [],
  tag: null,
  registers: {},
  rules: [],
  copies: [],
  missed: [],
  ...parts,
});
const port = (frame: Uint8Array, far: Outcome | null): Outcome["to"][number] => ({
  kind: "port",
  name: "port:1",
  object: null,
  frame,
  tag: 0,
  outcome: far,
});

test("sums registers by value, for single frames and for classes", () => {
  const tally = new Tally();
  tally.add({ bytes: FRAME }, outcome({ registers: { C0: 5, A: 1 } }));
  tally.add({ bytes: FRAME }, outcome({ registers: { C0: 5 } }), { frames: 3, bytes: 180 });
  tally.add({ bytes: FRAME }, outcome({ registers: { C0: 7 } }));
  const sums = [...tally.registers].map(([name, { frames, values }]) => [name, frames, [...values]]);
  expect(sums).toEqual([
    [
      "C0",
      5,
      [
        [5, 4],
        [7, 1],
      ],
    ],
    ["A", 1, [[1, 1]]],
  ]);
  expect(tally.all).toEqual({ frames: 5, bytes: 300 });
});

test("tells ends apart by the tables that were missed", () => {
  const tally = new Tally();
  for (const table of ["a", "b", "a"]) {
    tally.add({ bytes: FRAME }, outcome({ reason: "table_miss", missed: [{ domain: "nic_rx", vport: 0, table }] }));
  }
  expect(tally.ends.map(({ missed, frames }) => [missed[0]?.table, frames])).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
});

test("sums frames by end, with the registers and bytes of the next port", () => {
  const tally = new Tally();
  const missed = [{ domain: "nic_rx", vport: 0, table: "root" }] as const;
  const far = outcome({ verdict: "drop", reason: "no_rule", registers: { C1: 2 }, missed });
  const sent = outcome({ verdict: "transmit", to: [port(LONGER, far)], copies: [port(FRAME, null)] });
  tally.add({ bytes: FRAME }, sent, { frames: 2, bytes: 120 });
  const near = { to: "port:1", verdict: "transmit", reason: null, missed: [], frames: 2, bytes: 120 };
  expect(tally.ends).toEqual([near]);
  expect([...tally.copies]).toEqual([["port:1", { frames: 2, bytes: 120 }]]);
  expect([...tally.rewritten]).toEqual([["port:1", { frames: 2, bytes: 128 }]]);
  const beyond = { port: "port:1", to: null, verdict: "drop", reason: "no_rule", missed, frames: 2, bytes: 128 };
  expect(tally.beyond).toEqual([beyond]);
  expect(tally.registers.get("C1")?.frames).toBe(2);
});
