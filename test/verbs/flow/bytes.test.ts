/** The C bytes of flows: output of a compiler, bytes that no compiler produces, and noise. */
import { describe, expect, test } from "vitest";
import { flowMatch } from "../../../src/model/flow/specMatch.js";
import { fieldNamed, readField, type Field } from "../../../src/model/match/fields.js";
import { readFlowAttr } from "../../../src/verbs/flow/attr.js";
import { readFlowBytes } from "../../../src/verbs/flow/bytes.js";
import * as v from "../../../src/verbs/index.js";
import { seedFor } from "../../assembly/support/core.js";
import golden from "../../golden/verbs/flowAttr.json" with { type: "json" };
import { refused } from "../../mlx5dv/support/directRules.js";
import { checkedMatch } from "../../model/support/flows.js";
import { Random } from "../../oracle/generate/random.js";
import { ACTION, COUNTERS, FLOWS, handleOf, objectOf } from "../support/flowGolden.js";
import { checkReached, rounds } from "../../support/tier.js";
import { hexOf } from "../../../src/base/hex.js";

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));

const made = Object.entries(golden.flows);
const field = (key: Uint8Array, name: string): bigint => readField(key, fieldNamed(name) as Field);

describe("as the compiler lays them out", () => {
  test("every flow of the C program has its objects", () => {
    expect(Object.keys(FLOWS)).toEqual(made.map(([name]) => name));
  });

  test.each(made)("%s: objects to bytes", (name, hex) => {
    expect(hexOf(v.flowAttrBytes(FLOWS[name]!, handleOf))).toBe(hex);
  });

  test.each(made)("%s: bytes to objects", (name, hex) => {
    const attr = v.flowAttrFromBytes(bytesOf(hex), objectOf);
    const { specs = [], ...rest } = FLOWS[name]!;
    expect(attr).toMatchObject(rest);
    // Omitted fields of the objects are 0 in the bytes, whatever their kind.
    const zero = /^(0|0\.0\.0\.0|::|00:00:00:00:00:00)$/;
    for (const [i, spec] of specs.entries()) {
      expect(attr.specs?.[i]).toMatchObject(spec);
      for (const filter of ["val", "mask"] as const) {
        const given = (spec as v.FlowMatchSpec)[filter] ?? {};
        for (const [name, value] of Object.entries((attr.specs?.[i] as v.FlowMatchSpec)[filter] ?? {})) {
          if (!(name in given)) expect(String(value), name).toMatch(zero);
        }
      }
    }
    expect(attr.specs?.length).toBe(specs.length);
    expect(hexOf(v.flowAttrBytes(attr, handleOf))).toBe(hex);
  });

  test("bytes may lie anywhere in their buffer", () => {
    const bytes = bytesOf(golden.flows["a tunnel, tagged and counted"]);
    const buffer = new Uint8Array(bytes.length + 7).fill(0xee);
    buffer.set(bytes, 3);
    const view = buffer.subarray(3, 3 + bytes.length);
    expect(v.flowAttrFromBytes(view, objectOf)).toEqual(v.flowAttrFromBytes(bytes, objectOf));
  });
});

describe("specs of equal masks share them", () => {
  const bytesWith = (bits: number): Uint8Array =>
    v.flowAttrBytes(
      {
        type: v.IBV_FLOW_ATTR_NORMAL,
        port: 1,
        specs: [{ type: v.IBV_FLOW_SPEC_TCP, val: { dst_port: bits }, mask: { dst_port: bits } }],
      },
      handleOf,
    );
  const maskOf = (bytes: Uint8Array): Uint8Array => {
    const [spec] = readFlowBytes(bytes, objectOf).specs;
    return spec?.kind === "match" ? spec.mask : new Uint8Array(0);
  };

  test("and each has its own bits, whatever came before", () => {
    for (let round = 0; round < 3; round++) {
      for (let bits = 1; bits < 20; bits++)
        expect(hexOf(maskOf(bytesWith(bits)))).toBe(hexOf(Uint8Array.of(0, bits, 0, 0)));
    }
    expect(maskOf(bytesWith(19))).toBe(maskOf(bytesWith(19)));
  });

  test("and nothing that the caller writes later", () => {
    const bytes = bytesWith(0x51);
    const mask = maskOf(bytes);
    bytes.fill(0xff);
    expect(hexOf(mask)).toBe("00510000");
    expect(hexOf(maskOf(bytesWith(0x51)))).toBe("00510000");
  });
});

describe("the manual page's example", () => {
  const flow = readFlowBytes(bytesOf(golden.flows["the manual page's example"]), objectOf);

  test("its bytes ask for 6.200.134.11 and source MAC 0", () => {
    const { mask, value } = flowMatch(flow.specs, flow.port);
    expect(field(value, "outer.ipv4_src")).toBe(0x06c8860bn);
    expect(field(mask, "outer.ipv4_src")).toBe(0xffffffffn);
    expect(field(value, "outer.dmac")).toBe(0x661122334455n);
    expect(field(value, "outer.smac")).toBe(0n);
    expect(field(mask, "outer.smac")).toBe(0xffffffffffffn);
  });

  test("the same number in an object asks for 11.134.200.6", () => {
    const spec = { type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: 0x0b86c806 }, mask: { src_ip: 0xffffffff } };
    const { specs } = readFlowAttr({ type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs: [spec] });
    expect(field(flowMatch(specs, 1).value, "outer.ipv4_src")).toBe(0x0b86c806n);
    const bytes = v.flowAttrBytes({ type: 0, port: 1, specs: [spec] }, handleOf);
    expect(hexOf(bytes.subarray(28, 32))).toBe("0b86c806");
  });
});

describe("what C does not make", () => {
  /**
   * An attr and specs of (type, size, payload); the length of each is `length`, by default its
   * size.
   */
  function flowOf(specs: { type: number; size: number; payload?: number[]; length?: number }[], count = specs.length) {
    const parts = specs.map(({ type, size, payload = [], length = size }) => {
      const spec = new Uint8Array(length);
      const head = [type & 0xff, (type >> 8) & 0xff, type >>> 16, type >>> 24, size & 0xff, size >> 8];
      spec.set([...head, ...payload].slice(0, length));
      return [...spec];
    });
    return Uint8Array.from([...Array<number>(12).fill(0), count, 1, 0, 0, 0, 0, 0, 0, ...parts.flat()]);
  }
  const read = (bytes: Uint8Array): ReturnType<typeof readFlowBytes> => readFlowBytes(bytes, objectOf);
  const why = (bytes: Uint8Array): unknown[] => {
    const error = refused(() => v.flowAttrFromBytes(bytes, objectOf));
    return [error?.code, error?.reason, error?.path];
  };

  test("bytes that end too early", () => {
    const whole = bytesOf(golden.flows["a tunnel, tagged and counted"]);
    for (let length = 0; length < whole.length; length++) {
      const error = refused(() => v.flowAttrFromBytes(whole.subarray(0, length), objectOf));
      expect([error?.code, error?.reason], `${length} bytes`).toEqual(["EINVAL", "too_short"]);
    }
    expect(why(new Uint8Array(19))).toEqual(["EINVAL", "too_short", "attr"]);
    expect(why(flowOf([], 1))).toEqual(["EINVAL", "too_short", "specs[0]"]);
    expect(why(flowOf([{ type: v.IBV_FLOW_SPEC_ACTION_DROP, size: 8 }], 2))).toEqual([
      "EINVAL",
      "too_short",
      "specs[1]",
    ]);
  });

  test("bytes behind the last spec are left alone", () => {
    const bytes = flowOf([
      { type: v.IBV_FLOW_SPEC_ACTION_DROP, size: 8 },
      { type: 0xffff, size: 3, length: 9 },
    ]);
    bytes[12] = 1;
    expect(read(bytes).specs).toEqual([{ kind: "drop", size: 8 }]);
  });

  // [type, minimum size, sizeof]
  test.each([
    [v.IBV_FLOW_SPEC_ETH, 38, 40],
    [v.IBV_FLOW_SPEC_IPV4, 24, 24],
    [v.IBV_FLOW_SPEC_IPV4_EXT, 32, 32],
    [v.IBV_FLOW_SPEC_IPV6, 86, 88],
    [v.IBV_FLOW_SPEC_ESP, 24, 24],
    [v.IBV_FLOW_SPEC_TCP, 14, 16],
    [v.IBV_FLOW_SPEC_UDP, 14, 16],
    [v.IBV_FLOW_SPEC_GRE, 24, 24],
    [v.IBV_FLOW_SPEC_MPLS, 16, 16],
    [v.IBV_FLOW_SPEC_VXLAN_TUNNEL, 16, 16],
    [v.IBV_FLOW_SPEC_ACTION_TAG, 12, 12],
    [v.IBV_FLOW_SPEC_ACTION_DROP, 8, 8],
  ])("type %i: the least size is %i", (type, least, sizeof) => {
    for (let size = 0; size < least; size++) {
      expect(why(flowOf([{ type, size, length: 100 }]))).toEqual(["EINVAL", "bad_spec_size", "specs[0].size"]);
    }
    const behind = { type: v.IBV_FLOW_SPEC_ACTION_TAG, size: 12, payload: [0, 0, 7] };
    for (const size of [least, sizeof, sizeof + 4, 300]) {
      expect(read(flowOf([{ type, size }, behind])).specs[1]).toEqual({ kind: "tag", size: 12, tag_id: 7 });
    }
  });

  test("a size that leads nowhere does not loop", () => {
    expect(why(flowOf([{ type: 0x77, size: 0, length: 100 }], 255))).toEqual([
      "EINVAL",
      "bad_spec_size",
      "specs[0].size",
    ]);
  });

  test("types that do not exist are stepped over by the reader and refused by the checks", () => {
    const tag = { type: v.IBV_FLOW_SPEC_ACTION_TAG, size: 12, payload: [0, 0, 7] };
    for (const type of [0x77, 0x1004, v.IBV_FLOW_SPEC_ACTION_TAG | v.IBV_FLOW_SPEC_INNER, 0xfffffff0]) {
      const bytes = flowOf([{ type, size: 16 }, tag]);
      expect(read(bytes).specs).toMatchObject([{ kind: "unknown", type }, { kind: "tag" }]);
      expect(why(bytes)).toEqual(["EINVAL", "bad_spec", "specs[0].type"]);
    }
    for (const type of [v.IBV_FLOW_SPEC_GRE, v.IBV_FLOW_SPEC_VXLAN_TUNNEL]) {
      const bytes = flowOf([{ type: type | v.IBV_FLOW_SPEC_INNER, size: 24 }]);
      expect(why(bytes)).toEqual(["EINVAL", "bad_spec", "specs[0].type"]);
    }
  });

  // Larger filters: [type, number of known bytes]
  test.each([
    [v.IBV_FLOW_SPEC_IPV4_EXT, 12],
    [v.IBV_FLOW_SPEC_IPV6, 39],
    [v.IBV_FLOW_SPEC_VXLAN_TUNNEL, 4],
  ])("the mask of type %i moves with the size", (type, known) => {
    const grown = known + 5;
    const size = 8 + 2 * grown;
    const val = Array.from({ length: known }, (_, i) => i + 1);
    const mask = Array.from({ length: known }, (_, i) => 0x80 + i);
    const spec = (valTail: number, maskTail: number): Uint8Array => {
      const tail = (byte: number): number[] => [0, 0, 0, 0, byte];
      return flowOf([{ type, size, payload: [0, 0, ...val, ...tail(valTail), ...mask, ...tail(maskTail)] }]);
    };
    // A value of a later library is ignored while its mask is 0.
    expect(read(spec(9, 0)).specs).toMatchObject([{ val: Uint8Array.from(val), mask: Uint8Array.from(mask) }]);
    expect(why(spec(9, 0))).toEqual([undefined, undefined, undefined]);
    expect(why(spec(0, 9))).toEqual(["EOPNOTSUPP", "reserved_bits", "specs[0].mask"]);
    expect(refused(() => checkedMatch(read(spec(0, 9)).specs, 1))?.code).toBe("EOPNOTSUPP");
    // An odd byte at the end belongs to neither filter.
    const odd = flowOf([{ type, size: size + 1, payload: [0, 0, ...val, 0, 0, 0, 0, 0, ...mask, 0, 0, 0, 0, 0, 9] }]);
    expect(why(odd)).toEqual([undefined, undefined, undefined]);
  });

  test("the byte behind an IPv6 mask is one of a later library", () => {
    const bytes = bytesOf(golden.flows.IPV6);
    bytes[20 + 8 + 39] = 1;
    expect(why(bytes)).toEqual([undefined, undefined, undefined]);
    bytes[20 + 48 + 39] = 1;
    expect(why(bytes)).toEqual(["EOPNOTSUPP", "reserved_bits", "specs[0].mask"]);
  });

  test("the mask of the other types stays where it is", () => {
    const payload = Array.from({ length: 60 }, (_, i) => i);
    const [eth] = read(flowOf([{ type: v.IBV_FLOW_SPEC_ETH, size: 64, payload }])).specs;
    expect(eth).toMatchObject({
      val: Uint8Array.from(payload.slice(0, 16)),
      mask: Uint8Array.from(payload.slice(16, 32)),
    });
  });

  test("a handle that no object has", () => {
    for (const [name, path] of [
      ["ACTION_HANDLE", "specs[0].action"],
      ["ACTION_COUNT", "specs[0].counters"],
    ] as const) {
      const bytes = bytesOf(golden.flows[name]);
      bytes[28]!++;
      expect(why(bytes)).toEqual(["EINVAL", "bad_object", path]);
      expect(refused(() => v.flowAttrFromBytes(bytes, () => null))?.code).toBe("EINVAL");
    }
  });

  test("what is neither objects nor bytes", () => {
    expect(() => v.flowAttrFromBytes([] as never, objectOf)).toThrow(TypeError);
    expect(() => v.flowAttrFromBytes(new ArrayBuffer(20) as never, objectOf)).toThrow(TypeError);
  });

  test("a slice of bytes need be no copy, as that of a Buffer of Node", () => {
    class Views extends Uint8Array {
      override slice(from?: number, to?: number): Uint8Array<ArrayBuffer> {
        return this.subarray(from, to);
      }
    }
    const bytes = Views.from(bytesOf(golden.flows["TCP"]));
    const { specs } = readFlowBytes(bytes, objectOf);
    bytes.fill(0);
    const [kept] = readFlowBytes(bytesOf(golden.flows["TCP"]), objectOf).specs;
    expect(specs[0]).toEqual(kept);
  });
});

describe("objects that C cannot hold", () => {
  const bytesFor = (attr: object, handle = handleOf): string | undefined => {
    const error = refused(() => v.flowAttrBytes({ type: 0, port: 1, ...attr }, handle));
    return error === undefined ? undefined : `${error.code} ${error.reason} ${error.path}`;
  };

  test("are refused", () => {
    const drop = { type: v.IBV_FLOW_SPEC_ACTION_DROP };
    expect(bytesFor({ num_of_specs: 2, specs: [drop] })).toBe("EINVAL spec_count attr.num_of_specs");
    expect(bytesFor({ specs: [{ type: 0x77 }] })).toBe("EINVAL bad_spec specs[0].type");
    expect(bytesFor({ specs: Array<object>(256).fill(drop) })).toBe("EINVAL out_of_range attr.num_of_specs");
    const counted = { specs: [{ type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters: COUNTERS }] };
    expect(bytesFor(counted, () => 1n << 64n)).toBe("EINVAL out_of_range specs[0].counters");
    expect(bytesFor(counted, () => -1n)).toBe("EINVAL out_of_range specs[0].counters");
  });

  test("sizes are kept, and the mask moves with them", () => {
    const spec = { type: v.IBV_FLOW_SPEC_VXLAN_TUNNEL, size: 24, val: { tunnel_id: 1 }, mask: { tunnel_id: 0xffffff } };
    const bytes = v.flowAttrBytes({ type: 0, port: 1, specs: [spec, { type: v.IBV_FLOW_SPEC_ACTION_DROP }] }, handleOf);
    expect(bytes.length).toBe(20 + 24 + 8);
    expect(hexOf(bytes.subarray(36, 40))).toBe("00ffffff");
    expect(v.flowAttrFromBytes(bytes, objectOf).specs).toMatchObject([spec, { size: 8 }]);
  });

  test("a handle may be a number", () => {
    const attr = { type: 0, port: 1, specs: [{ type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action: ACTION }] };
    expect(hexOf(v.flowAttrBytes(attr, () => 258).subarray(28))).toBe("0201000000000000");
  });
});

test("noise is read or refused, never anything else", () => {
  const seed = seedFor("flow bytes");
  const random = new Random(seed);
  const types = [0x20, 0x30, 0x31, 0x32, 0x34, 0x40, 0x41, 0x50, 0x51, 0x60, 0x1000, 0x1001, 0x1002, 0x1003];
  const seeds = made.map(([, hex]) => bytesOf(hex));
  const results = { read: 0, refused: 0 };
  for (let round = 0; round < rounds(8000); round++) {
    let bytes: Uint8Array;
    if (random.chance(0.3)) bytes = Uint8Array.from(random.bytes(random.below(200)));
    else {
      bytes = random.pick(seeds).slice();
      for (let n = random.below(4); n > 0; n--) bytes[random.below(bytes.length)] = random.below(256);
      if (random.chance(0.2)) bytes = bytes.subarray(0, random.below(bytes.length + 1));
    }
    if (bytes.length > 26 && random.chance(0.5)) {
      bytes[20] = random.pick(types) & 0xff;
      bytes[21] = random.pick([0x00, 0x01, 0x10]);
    }
    try {
      const flow = readFlowBytes(bytes, () => ACTION);
      expect(flow.specs.length).toBe(bytes[12]);
      for (const spec of flow.specs) if (spec.kind === "match") expect(spec.mask.length).toBe(spec.layout.known);
      checkedMatch(flow.specs, flow.port);
      // Every valid flow in bytes has objects with the same meaning, byte for byte in fields.
      const attr = v.flowAttrFromBytes(bytes, () => ACTION);
      const again = readFlowBytes(v.flowAttrBytes(attr, handleOf), objectOf);
      expect(again.specs).toEqual(flow.specs);
      results.read++;
    } catch (error) {
      const text = `FLOWSTEER_SEED=${seed}, round ${round}: ${hexOf(bytes)}`;
      expect((error as Error).name, `${text}: ${String(error)}`).toBe("SteeringError");
      expect(["EINVAL", "EOPNOTSUPP"], text).toContain((error as v.FlowAttr & { code: string }).code);
      results.refused++;
    }
  }
  checkReached(() => expect(results.read).toBeGreaterThan(300));
  checkReached(() => expect(results.refused).toBeGreaterThan(300));
});
