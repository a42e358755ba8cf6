/** Flows as objects: every notation of a field, and the errors of wrong ones. */
import { describe, expect, test } from "vitest";
import { ACTION_LAYOUTS, specLayouts, type MatchSpec, type SpecLayout } from "../../../src/model/match/flowSpec.js";
import { readFlowAttr } from "../../../src/verbs/flow/attr.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { inCall } from "../../../src/errors.js";

const CALL = "ibv_create_flow";
const read = (attr: object): ReturnType<typeof readFlowAttr> =>
  inCall("ibv_create_flow", () => readFlowAttr({ type: v.IBV_FLOW_ATTR_NORMAL, port: 1, ...attr }));
const readSpec = (spec: object): MatchSpec => read({ specs: [spec] }).specs[0] as MatchSpec;

/** Values of a kind, and their notations; the bytes follow from the number. */
const WAYS: Readonly<Record<string, readonly (readonly [bytes: number[], ...ways: unknown[]])[]>> = {
  mac: [
    [[0x66, 0x11, 0x22, 0x33, 0x44, 0x55], 0x661122334455, 0x661122334455n, "66:11:22:33:44:55", "66-11-22-33-44-55"],
    [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 2 ** 48 - 1, "FF:ff:ff:ff:ff:ff"],
    [[0, 0, 0, 0, 0, 1], 1, 1n, " 0:0:0:0:0:1 "],
  ],
  ipv4: [
    [[0x0b, 0x86, 0xc8, 0x06], 0x0b86c806, 0x0b86c806n, "11.134.200.6"],
    [[0xff, 0xff, 0xff, 0xff], 0xffffffff, "255.255.255.255"],
  ],
  ipv6: [
    [[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], (0xfe80n << 112n) | 1n, "fe80::1", "FE80:0:0::1"],
    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34], 0x1234, 0x1234n, "::1234"],
    [Array<number>(16).fill(0xff), (1n << 128n) - 1n, "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"],
  ],
};

/** A number as wide as the field, with different bytes. */
function numbersOf(size: number): readonly (readonly [bytes: number[], ...ways: unknown[]])[] {
  const bytes = Array.from({ length: size }, (_, i) => 0xa1 + i);
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const top = 2 ** (8 * size) - 1;
  return [
    [bytes, number, BigInt(number), String(number), `0x${number.toString(16)}`],
    [Array<number>(size).fill(0xff), top, BigInt(top)],
    [Array<number>(size).fill(0), 0, 0n, "0", undefined],
  ];
}

const fields = specLayouts().flatMap((layout) =>
  layout.fields.map((field) => [layout.name, field.name, layout, field] as const),
);

test.each(fields)("%s %s is written as number, text and bytes", (_spec, name, layout, { at, size, kind }) => {
  for (const [bytes, ...ways] of WAYS[kind] ?? numbersOf(size)) {
    const expected = new Uint8Array(layout.known);
    expected.set(bytes, at);
    for (const way of [...ways, Uint8Array.from(bytes)]) {
      for (const filter of ["val", "mask"] as const) {
        const other = filter === "val" ? "mask" : "val";
        const spec = readSpec({ type: layout.type, [filter]: { [name]: way } });
        expect(spec[filter], `${filter} ${String(way)}`).toEqual(expected);
        expect(spec[other]).toEqual(new Uint8Array(layout.known));
      }
    }
  }
});

test.each(fields)("%s %s does not take what does not fit", (_spec, name, layout, { size, kind }) => {
  const wrong = [
    -1,
    -1n,
    1.5,
    NaN,
    Infinity,
    2n ** BigInt(8 * size),
    2 ** 200,
    "",
    "x",
    "1.2.3.4.5",
    "0x",
    "-1",
    "1e3",
  ];
  const bytes = [new Uint8Array(0), new Uint8Array(size - 1), new Uint8Array(size + 1)];
  for (const value of [...wrong, ...bytes]) {
    const error = refused(() => readSpec({ type: layout.type, mask: { [name]: value } }));
    const reason = kind === "number" ? "bad_number" : "bad_address";
    expect([error?.code, error?.reason, error?.path], String(value)).toEqual([
      "EINVAL",
      reason,
      `specs[0].mask.${name}`,
    ]);
    expect(error?.hint).toBeTypeOf("string");
  }
  for (const value of [null, true, {}, [1, 2, 3, 4], new Uint16Array(size), () => 1]) {
    expect(() => readSpec({ type: layout.type, val: { [name]: value } })).toThrow(TypeError);
  }
});

test("a number of a JavaScript float is as exact as it can be: others are refused", () => {
  const error = refused(() => readSpec({ type: v.IBV_FLOW_SPEC_IPV6, val: { src_ip: 2 ** 53 } }));
  expect(error?.message).toContain("specs[0].val.src_ip");
});

describe("sizes", () => {
  test.each(specLayouts().map((layout): [string, SpecLayout] => [layout.name, layout]))("%s", (_name, layout) => {
    expect(readSpec({ type: layout.type }).size).toBe(layout.size);
    expect(readSpec({ type: layout.type, size: layout.size }).size).toBe(layout.size);
    expect(readSpec({ type: layout.type, size: 1000 }).size).toBe(1000);
    for (const size of [0, 8, layout.val + 2 * layout.known - 1]) {
      const error = refused(() => readSpec({ type: layout.type, size }));
      expect([error?.code, error?.reason, error?.path]).toEqual(["EINVAL", "bad_spec_size", "specs[0].size"]);
    }
    expect(refused(() => readSpec({ type: layout.type, size: 65536 }))?.reason).toBe("out_of_range");
  });

  test.each(ACTION_LAYOUTS.map((layout) => [layout.name, layout] as const))("%s", (_name, { type, size, field }) => {
    const own = field === null ? {} : { [field]: field === "tag_id" ? 1 : {} };
    expect(readSpec({ type, ...own }).size).toBe(size);
    expect(readSpec({ type, size: size + 1, ...own }).size).toBe(size + 1);
    expect(refused(() => readSpec({ type, size: size - 1, ...own }))?.reason).toBe("bad_spec_size");
  });
});

describe("the attr", () => {
  test("what is left out", () => {
    expect(read({})).toEqual({
      comp_mask: 0,
      type: 0,
      size: 20,
      priority: 0,
      num_of_specs: 0,
      port: 1,
      flags: 0,
      specs: [],
    });
    const drops = { specs: [{ type: v.IBV_FLOW_SPEC_ACTION_DROP }, { type: v.IBV_FLOW_SPEC_ACTION_DROP, size: 10 }] };
    expect(read(drops)).toMatchObject({ num_of_specs: 2, size: 38 });
    expect(read({ flags: undefined, specs: undefined })).toMatchObject({ flags: 0, specs: [] });
  });

  test("specs longer than `size` can say", () => {
    const specs = Array.from({ length: 66 }, () => ({ type: v.IBV_FLOW_SPEC_ACTION_DROP, size: 1000 }));
    expect(refused(() => read({ specs }))?.path).toBe("attr.size");
    expect(read({ specs, size: 0 }).specs.length).toBe(66);
  });

  test("what is given is kept, right or not", () => {
    const given = { comp_mask: 9, type: 7, size: 3, priority: 65535, num_of_specs: 255, port: 255, flags: 0xffffffff };
    expect(read(given)).toEqual({ ...given, specs: [] });
    expect(read({ priority: 5n }).priority).toBe(5);
  });

  test.each([
    ["comp_mask", 32],
    ["type", 32],
    ["size", 16],
    ["priority", 16],
    ["num_of_specs", 8],
    ["port", 8],
    ["flags", 32],
  ])("%s has %i bits", (name, bits) => {
    for (const value of [2 ** bits, -1, 0.5, NaN, 2n ** 70n]) {
      const error = refused(() => read({ [name]: value }));
      expect([error?.code, error?.reason, error?.path]).toEqual(["EINVAL", "out_of_range", `attr.${name}`]);
    }
    for (const value of ["1", {}, true]) expect(() => read({ [name]: value })).toThrow(TypeError);
  });

  test("numbers that are absent are 0", () => {
    expect(readFlowAttr({} as v.FlowAttr)).toMatchObject({ type: v.IBV_FLOW_ATTR_NORMAL, port: 0, specs: [] });
    expect(readSpec({ val: {} })).toEqual({ kind: "unknown", size: 0, type: 0 });
    expect(readSpec({ type: v.IBV_FLOW_SPEC_ACTION_TAG })).toMatchObject({ kind: "tag", tag_id: 0 });
  });

  test("what must be there", () => {
    for (const attr of [null, undefined, 5, "x"]) {
      expect(() => readFlowAttr(attr as never)).toThrow(": attr must be an object");
    }
    for (const specs of [{}, "x", 5]) expect(() => read({ specs })).toThrow("attr.specs must be an array");
    for (const spec of [null, undefined, 5, "x"])
      expect(() => read({ specs: [spec] })).toThrow("specs[0] must be an object");
    expect(() => read({ specs: Array<object>(1) })).toThrow("specs[0] must be an object, not undefined");
    for (const val of [null, 5, "x"]) {
      expect(() => readSpec({ type: v.IBV_FLOW_SPEC_TCP, val })).toThrow("specs[0].val must be an object");
    }
    expect(() => readSpec({ type: v.IBV_FLOW_SPEC_ACTION_COUNT })).toThrow("specs[0].counters must be an object");
    expect(() => readSpec({ type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action: 5 })).toThrow(
      "specs[0].action must be an object",
    );
  });
});

describe("misspelt names", () => {
  test.each<[object, string]>([
    [{ priorty: 1 }, 'attr.priorty: no field has this name (EINVAL); did you mean "priority"?'],
    [{ num_specs: 1 }, 'did you mean "num_of_specs"?'],
    [{ specs: [{ type: v.IBV_FLOW_SPEC_TCP, value: {} }] }, "specs[0].value: no field has this name (EINVAL)"],
    [
      { specs: [{ type: v.IBV_FLOW_SPEC_TCP, val: { dstport: 1 } }] },
      'specs[0].val.dstport: no field has this name (EINVAL); did you mean "dst_port"? fields of IBV_FLOW_SPEC_TCP: dst_port, src_port',
    ],
    [{ specs: [{ type: v.IBV_FLOW_SPEC_IPV4, mask: { proto: 1 } }] }, "fields of IBV_FLOW_SPEC_IPV4: src_ip, dst_ip"],
    [{ specs: [{ type: v.IBV_FLOW_SPEC_ETH, mask: { vlan_tags: 1 } }] }, 'did you mean "vlan_tag"?'],
    [{ specs: [{ type: v.IBV_FLOW_SPEC_ACTION_TAG, tagid: 1 }] }, 'did you mean "tag_id"?'],
    [{ specs: [{ type: v.IBV_FLOW_SPEC_ACTION_DROP, tag_id: 1 }] }, "fields of IBV_FLOW_SPEC_ACTION_DROP: type, size"],
    [{ specs: [{ type: v.IBV_FLOW_SPEC_ACTION_COUNT, counter: {} }] }, 'did you mean "counters"?'],
  ])("%j", (attr, text) => {
    const error = refused(() => read(attr));
    expect(error).toMatchObject({ code: "EINVAL", reason: "bad_field", call: CALL });
    expect(error?.message).toContain(text);
  });
});

test("a refusal names call, place, value and what to write", () => {
  const error = refused(() => read({ specs: [{ type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: "10.0.0.256" } }] }));
  expect(error?.message).toBe(
    'ibv_create_flow: specs[0].val.src_ip = "10.0.0.256": not an address of this kind (EINVAL); write it as "11.134.200.6"',
  );
});

test("constants are those of the header", () => {
  const { IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK: loop, IBV_FLOW_ATTR_FLAGS_DONT_TRAP: trap } = v;
  expect([loop, trap, v.IBV_FLOW_ATTR_FLAGS_EGRESS]).toEqual([1, 2, 4]);
  expect([
    v.IBV_FLOW_ATTR_NORMAL,
    v.IBV_FLOW_ATTR_ALL_DEFAULT,
    v.IBV_FLOW_ATTR_MC_DEFAULT,
    v.IBV_FLOW_ATTR_SNIFFER,
  ]).toEqual([0, 1, 2, 3]);
  expect(specLayouts().map(({ type }) => type)).toEqual([0x20, 0x30, 0x32, 0x31, 0x34, 0x40, 0x41, 0x51, 0x60, 0x50]);
  expect(ACTION_LAYOUTS.map(({ type }) => type)).toEqual([0x1000, 0x1001, 0x1002, 0x1003]);
  expect(v.IBV_FLOW_SPEC_INNER).toBe(0x100);
  expect([v.IBV_COUNTER_PACKETS, v.IBV_COUNTER_BYTES, v.IBV_READ_COUNTERS_ATTR_PREFER_CACHED]).toEqual([0, 1, 1]);
  expect([v.IBV_QPT_RC, v.IBV_QPT_UC, v.IBV_QPT_UD, v.IBV_QPT_RAW_PACKET]).toEqual([2, 3, 4, 8]);
});
