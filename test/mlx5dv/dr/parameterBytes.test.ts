/** struct mlx5dv_flow_match_parameters as bytes: the C struct, device bytes alone, and bytes that can be both. */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});

/** As C has it: `match_sz` in 8 bytes, then the buffer. */
function structOf(match_buf: Uint8Array, match_sz = match_buf.length): Uint8Array {
  const bytes = new Uint8Array(8 + match_buf.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(match_sz), true);
  bytes.set(match_buf, 8);
  return bytes;
}

/** Device bytes of the outer group. */
function outer(bytes: Record<number, number[]>, length = 64): Uint8Array {
  const group = new Uint8Array(length);
  for (const [at, values] of Object.entries(bytes)) group.set(values, Number(at));
  return group;
}

const PORT = outer({ 22: [0xff, 0xff] });
const HTTP = outer({ 22: [0, 80] });
const MAC = outer({ 0: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff] });

const matcherOf = (mask: dv.FlowMatchParameters) => dv.mlx5dv_dr_matcher_create(bench.root, 0, 1, mask);
const matches = (
  matcher: ReturnType<typeof matcherOf>,
  value: dv.FlowMatchParameters,
  frame = ipv4Frame(),
): boolean => {
  const rule = dv.mlx5dv_dr_rule_create(matcher, value, 0, []);
  const { rules } = bench.device.receive(1, frame);
  dv.mlx5dv_dr_rule_destroy(rule);
  return rules.includes(rule);
};

describe("the C struct", () => {
  test.each([24, 64, 100, 448, 512])("of %i bytes, as mask and as value", (size) => {
    const grown = (bytes: Uint8Array): Uint8Array =>
      structOf(outer({ 0: [...bytes] }, Math.max(size, 64)).slice(0, size));
    const matcher = matcherOf(grown(PORT));
    expect(matches(matcher, grown(HTTP))).toBe(true);
    expect(matches(matcher, grown(HTTP), ipv4Frame({ dport: 81 }))).toBe(false);
    // The forms mix.
    expect([HTTP, { match_buf: HTTP }, structOf(HTTP)].map((value) => matches(matcher, value))).toEqual([
      true,
      true,
      true,
    ]);
    expect(matches(matcherOf(PORT), grown(HTTP))).toBe(true);
  });

  test("masks what its data mask", () => {
    expect(matcherOf(structOf(PORT)).mask).toEqual(matcherOf(PORT).mask);
  });

  test("of mlx5dv_create_flow", () => {
    const flowMatcher = dv.mlx5dv_create_flow_matcher(bench.context, {
      match_mask: structOf(PORT),
      match_criteria_enable: 1,
    });
    const actions = [{ type: dv.MLX5DV_FLOW_ACTION_DROP }];
    dv.mlx5dv_create_flow(flowMatcher, structOf(HTTP), 1, actions);
    expect(bench.device.receive(1, ipv4Frame()).reason).toBe("drop_action");
    expect(bench.device.receive(1, ipv4Frame({ dport: 81 })).reason).not.toBe("drop_action");
  });

  test("an empty one is eight zeros, as device bytes too", () => {
    expect(matches(matcherOf(structOf(new Uint8Array(0))), new Uint8Array(8))).toBe(true);
  });
});

describe("device bytes", () => {
  test("that begin like a size, but not of themselves", () => {
    const matcher = matcherOf(MAC);
    for (const source of [
      [57, 0, 0, 0, 0, 0],
      [56, 0, 0, 0, 0, 1],
      [0, 56, 0, 0, 0, 0],
      [2, 0, 0, 0, 0, 0],
    ]) {
      const frame = ipv4Frame();
      frame.set(source, 6);
      expect([source, matches(matcher, outer({ 0: source }), frame)]).toEqual([source, true]);
    }
  });

  test("of six bytes", () => {
    const frame = ipv4Frame();
    frame.set([6, 0, 0, 0, 0, 0], 6);
    expect(matches(matcherOf(MAC.slice(0, 6)), frame.slice(6, 12), frame)).toBe(true);
  });
});

describe("bytes that can be both are refused", () => {
  const ambiguous = { code: "EINVAL", reason: "ambiguous_bytes" };

  test("a value, where the source MAC is masked", () => {
    const matcher = matcherOf(MAC);
    const source = outer({ 0: [56, 0, 0, 0, 0, 0] });
    expect(refused(() => dv.mlx5dv_dr_rule_create(matcher, source, 0, []))).toMatchObject({
      ...ambiguous,
      path: "value",
      message:
        "mlx5dv_dr_rule_create: value = 8 bytes: the bytes can be the C struct and match data (EINVAL); " +
        "a match_sz of 56, or a source MAC: pass { match_sz, match_buf }, or matchParametersFromBytes [docs/from-c.md]",
    });
    expect(refused(() => dv.mlx5dv_dr_rule_create(matcher, structOf(source), 0, []))).toMatchObject(ambiguous);
    const frame = ipv4Frame();
    frame.set(source.subarray(0, 6), 6);
    expect(matches(matcher, { match_buf: source }, frame)).toBe(true);
    // A mask of other bits says that it is the struct.
    const other = matcherOf(outer({ 2: [0xff], 22: [0xff, 0xff] }));
    expect(matches(other, structOf(outer({ 22: [0, 80] }, 56)))).toBe(true);
  });

  test("but not the struct of matchParametersFromBytes", () => {
    const source = outer({ 0: [56, 0, 0, 0, 0, 0] });
    const frame = ipv4Frame();
    frame.set(source.subarray(0, 6), 6);
    for (const match_sz of [64, 24, 6]) {
      const [mask, value] = [MAC, source].map((data) => {
        const bytes = Uint8Array.of(9, ...structOf(data, match_sz)).subarray(1);
        return dv.matchParametersFromBytes(bytes);
      }) as [dv.FlowMatchParameters, dv.FlowMatchParameters];
      const found = [frame, ipv4Frame()].map((one) => matches(matcherOf(mask), value, one));
      expect([match_sz, found]).toEqual([match_sz, [true, false]]);
    }
    for (const bytes of [new Uint8Array(7), structOf(MAC, 65), structOf(MAC, 2 ** 40)])
      expect(refused(() => dv.matchParametersFromBytes(bytes))).toMatchObject({ reason: "too_short", path: "bytes" });
  });

  test.each([64, 128, 448])("a struct of %i bytes with room after its data", (size) => {
    const data = outer({ 22: [0xff, 0xff] }, size + 64);
    const error = refused(() => matcherOf(structOf(data, size)));
    expect(error).toMatchObject({ ...ambiguous, path: "mask" });
    expect(error?.hint).toContain(`or the first ${size + 8} bytes`);
    expect(matches(matcherOf(structOf(data, size).subarray(0, 8 + size)), HTTP)).toBe(true);
  });

  test("nothing has changed", () => {
    const matcher = matcherOf(MAC);
    const before = bench.device.memoryUsed;
    refused(() => dv.mlx5dv_dr_rule_create(matcher, outer({ 0: [56] }), 0, []));
    expect([matcher.users, bench.device.memoryUsed]).toEqual([0, before]);
  });
});

describe("a value asks for what its own bytes have, whatever the rule before it had", () => {
  const CRITERIA = [0b1, 0b11, 0b101, 0b10011, 0b111, 0b1111111];
  const LENGTHS = [0, 23, 24, 60, 64, 100, 128, 192, 448];

  test.each(CRITERIA)("criteria %i", (criteria) => {
    const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, criteria, outer({ 22: [0xff, 0xff] }, 448));
    for (const length of LENGTHS) {
      expect(matches(matcher, outer({ 22: [0, 80] }, 448))).toBe(true);
      // Of a shorter value, what is missing is 0.
      const dport = length >= 24 ? 81 : 0;
      const value = { match_sz: length, match_buf: outer({ 22: [0, dport] }, 448).slice(0, length) };
      const found = [80, 81, 0].map((port) => matches(matcher, value, ipv4Frame({ dport: port })));
      expect({ length, found }).toEqual({ length, found: [false, dport === 81, dport === 0] });
    }
  });
});
