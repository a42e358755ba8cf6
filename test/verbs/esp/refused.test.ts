/**
 * Refusals of ESP actions (docs/esp.md, "Create, modify, destroy"): every fault with its errno and
 * path; refused calls leave nothing behind.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as v from "../../../src/verbs/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import {
  BMP,
  create,
  ENCRYPT,
  ESN,
  FULL,
  inline,
  IPV4_ENCAP,
  keymat,
  NEW_WINDOW,
  NONE,
  told,
  TRANSPORT,
  tunnel,
  UDP_ENCAP,
} from "../support/esp.js";
import { FlowBench } from "../support/flows.js";

const CONNECTX = ["connectx5", "connectx6dx", "connectx7", "connectx8"];
let bench: FlowBench;

beforeEach(async () => {
  bench = await FlowBench.open();
});
afterEach(() => {
  // After all refusals, only the created objects exist.
  for (let n = 1n; n < 100n; n++) {
    const one = bench.device.named.at(n);
    if (one !== undefined) v.ibv_destroy_flow_action(one as never);
  }
  expect([bench.context.users, bench.device.memoryUsed]).toEqual([0, 0]);
});

const refusal = (esp: v.FlowActionEsp): string | undefined => told(() => create(bench, esp));
const SALT_ONLY = { salt: new Uint8Array(4), icv_len: 16 };
const chain = (...links: v.FlowActionEspEncap[]): v.FlowActionEsp => tunnel(0, { esp_encap: links });
const [ETH, EXT, IPV6] = [v.IBV_FLOW_SPEC_ETH, v.IBV_FLOW_SPEC_IPV4_EXT, v.IBV_FLOW_SPEC_IPV6];

const FAULTS: readonly (readonly [v.FlowActionEsp, string])[] = [
  [inline(0, { comp_mask: 2 }), "EOPNOTSUPP unsupported esp.comp_mask"],
  [{ keymat_ptr: keymat() }, "EINVAL bad_object esp.esp_attr"],
  [{ esp_attr: {} }, "EINVAL bad_object esp.keymat_ptr"],
  [{ esp_attr: {}, keymat_ptr: null }, "EINVAL bad_object esp.keymat_ptr"],
  [inline(16), "EOPNOTSUPP unsupported esp.esp_attr.flags"],
  [inline(0, { keymat_proto: 1 }), "EINVAL out_of_range esp.keymat_proto"],
  [inline(0, { keymat_len: 55 }), "EINVAL bad_spec_size esp.keymat_len"],
  [inline(0, { keymat_ptr: new Uint8Array(57).fill(1) }), "EOPNOTSUPP reserved_bits esp.keymat_len"],
  [inline(0, { keymat_ptr: keymat({ iv_algo: 1 }) }), "EOPNOTSUPP unsupported esp.keymat_ptr.iv_algo"],
  ...[0, 15, 17, 33].map(
    (key_len) =>
      [
        inline(0, { keymat_ptr: { ...SALT_ONLY, key_len, aes_key: new Uint8Array(32) } }),
        "EINVAL out_of_range esp.keymat_ptr.key_len",
      ] as const,
  ),
  ...[0, 4, 10, 17].map(
    (icv_len) =>
      [inline(0, { keymat_ptr: keymat({ icv_len }) }), "EINVAL out_of_range esp.keymat_ptr.icv_len"] as const,
  ),
  [tunnel(0, { replay_proto: 2, replay_ptr: { size: 8 } }), "EINVAL out_of_range esp.replay_proto"],
  [tunnel(0, { replay_proto: BMP, replay_ptr: new Uint8Array(3) }), "EINVAL bad_spec_size esp.replay_len"],
  [tunnel(0, { replay_proto: BMP }), "EINVAL bad_spec_size esp.replay_len"],
  [
    tunnel(0, { replay_proto: BMP, replay_ptr: Uint8Array.of(1, 0, 0, 0, 1) }),
    "EOPNOTSUPP reserved_bits esp.replay_len",
  ],
  [tunnel(0, { replay_proto: NONE, replay_ptr: new Uint8Array(4) }), "EINVAL bad_spec_size esp.replay_len"],
  ...[0, 65_537].map(
    (size) =>
      [tunnel(0, { replay_proto: BMP, replay_ptr: { size } }), "EINVAL out_of_range esp.replay_ptr.size"] as const,
  ),
  [tunnel(ENCRYPT, { replay_proto: BMP, replay_ptr: { size: 64 } }), "EINVAL bad_attribute esp.replay_ptr"],
  [inline(0, { replay_proto: BMP, replay_ptr: { size: 64 } }), "EINVAL bad_attribute esp.replay_ptr"],
  [inline(0, { esp_encap: [IPV4_ENCAP] }), "EINVAL bad_attribute esp.esp_encap"],
  [inline(NEW_WINDOW), "EINVAL bad_attribute esp.esp_attr.flags"],
  [tunnel(NEW_WINDOW, { comp_mask: ESN }), "EINVAL bad_attribute esp.esp_attr.flags"],
  [tunnel(0, {}, { tfc_pad: 65_536 }), "EINVAL out_of_range esp.esp_attr.tfc_pad"],
  // The chain.
  [tunnel(0, { esp_encap: null }), "EINVAL bad_spec esp.esp_encap"],
  [chain(), "EINVAL bad_spec esp.esp_encap"],
  [chain(UDP_ENCAP), "EINVAL bad_spec esp.esp_encap"],
  [chain({ type: ETH }), "EINVAL bad_spec esp.esp_encap"],
  [chain(UDP_ENCAP, IPV4_ENCAP), "EINVAL bad_spec esp.esp_encap[1].type"],
  [chain(IPV4_ENCAP, IPV4_ENCAP), "EINVAL bad_spec esp.esp_encap[1].type"],
  [chain(IPV4_ENCAP, { type: ETH }), "EINVAL bad_spec esp.esp_encap[1].type"],
  [chain(IPV4_ENCAP, { type: v.IBV_FLOW_SPEC_TCP }), "EINVAL bad_spec esp.esp_encap[1].type"],
  [chain({ type: v.IBV_FLOW_SPEC_IPV4 | v.IBV_FLOW_SPEC_INNER }), "EINVAL bad_spec esp.esp_encap[0].type"],
  [chain({ type: 0x77 }), "EINVAL bad_spec esp.esp_encap[0].type"],
  [chain({ ...IPV4_ENCAP, len: 7 }), "EINVAL bad_spec_size esp.esp_encap[0].len"],
  [chain({ type: IPV6, val: new Uint8Array(40).fill(1, 39) }), "EOPNOTSUPP reserved_bits esp.esp_encap[0].len"],
  [
    chain({ type: ETH, val: { ether_type: 0x86dd } }, IPV4_ENCAP),
    "EINVAL contradiction esp.esp_encap[0].val.ether_type",
  ],
  [chain({ type: EXT, val: { proto: 17 } }), "EINVAL contradiction esp.esp_encap[0].val.proto"],
  [chain({ type: EXT, val: { proto: 50 } }, UDP_ENCAP), "EINVAL contradiction esp.esp_encap[0].val.proto"],
  [chain({ type: IPV6, val: { next_hdr: 17 } }), "EINVAL contradiction esp.esp_encap[0].val.next_hdr"],
  [chain({ type: IPV6, val: { flow_label: 2 ** 20 } }), "EINVAL out_of_range esp.esp_encap[0].val.flow_label"],
  ...[1, 4, 6].map(
    (flags) => [chain({ type: EXT, val: { flags } }), "EINVAL reserved_bits esp.esp_encap[0].val.flags"] as const,
  ),
  [tunnel(TRANSPORT), "EINVAL bad_spec esp.esp_encap[0].type"],
  [tunnel(TRANSPORT, { esp_encap: [UDP_ENCAP, UDP_ENCAP] }), "EINVAL bad_spec esp.esp_encap[1].type"],
  // Unreadable parameters.
  [{ ...inline(0), key: 1 } as v.FlowActionEsp, "EINVAL bad_field esp.key"],
  [inline(0, { esp_attr: { spi: 2 ** 32 } }), "EINVAL out_of_range esp.esp_attr.spi"],
  [inline(0, { esp_attr: { hard_limit_pkts: -1n } }), "EINVAL out_of_range esp.esp_attr.hard_limit_pkts"],
  [inline(0, { esp_attr: { hard_limit_pkts: 2n ** 64n } }), "EINVAL out_of_range esp.esp_attr.hard_limit_pkts"],
  [inline(0, { esp_attr: new Uint8Array(23) }), "EINVAL too_short esp.esp_attr"],
  [inline(0, { keymat_ptr: keymat({ salt: new Uint8Array(3) }) }), "EINVAL bad_number esp.keymat_ptr.salt"],
  [inline(0, { keymat_ptr: keymat({ iv: new Uint8Array(9) }) }), "EINVAL bad_number esp.keymat_ptr.iv"],
  [inline(0, { keymat_ptr: keymat({ aes_key: new Uint8Array(33) }) }), "EINVAL bad_number esp.keymat_ptr.aes_key"],
  [inline(0, { keymat_ptr: keymat({ key_len: 24 }) }), "EINVAL bad_number esp.keymat_ptr.aes_key"],
  [inline(0, { keymat_len: 57, keymat_ptr: new Uint8Array(56) }), "EINVAL too_short esp.keymat_ptr"],
  [chain({ type: ETH, val: { proto: 1 } }), "EINVAL bad_field esp.esp_encap[0].val.proto"],
];

describe("manual", () => {
  test.each(FAULTS.map(([esp, expected], i) => [i, expected, esp] as const))("%i: %s", (_i, expected, esp) => {
    expect(refusal(esp)).toBe(expected);
  });

  test("what is good", () => {
    const good: v.FlowActionEsp[] = [
      inline(0),
      inline(ENCRYPT, { keymat_ptr: keymat({ icv_len: 8 }), replay_proto: NONE }),
      inline(NEW_WINDOW, { comp_mask: ESN, esn: 3 }),
      inline(0, { esp_attr: { spi: 1, seq: 2, tfc_pad: 2 ** 32 - 1, hard_limit_pkts: 4 } }),
      tunnel(ENCRYPT, {}, { tfc_pad: 65_535, hard_limit_pkts: 2n ** 64n - 1n }),
      tunnel(0, { replay_proto: BMP, replay_ptr: { size: 65_536 }, comp_mask: ESN, esn: 2 ** 32 - 1 }),
      tunnel(0, { replay_proto: BMP, replay_ptr: Uint8Array.of(1, 0, 0, 0, 0) }),
      tunnel(TRANSPORT, { esp_encap: null }),
      tunnel(TRANSPORT, { esp_encap: [] }),
      tunnel(TRANSPORT, { esp_encap: UDP_ENCAP }),
      chain({ type: ETH, val: { ether_type: 0x0800, vlan_tag: 5 } }, IPV4_ENCAP, UDP_ENCAP),
      chain({ type: EXT, val: { proto: 50, flags: 2, tos: 0xff } }),
      tunnel(0, { esp_encap: { type: IPV6, val: { next_hdr: 17, flow_label: 0xfffff }, next_ptr: UDP_ENCAP } }),
    ];
    expect(good.map(refusal)).toEqual(good.map(() => undefined));
  });

  test("values of the wrong type", () => {
    const bad: unknown[] = [
      null,
      5,
      { esp_attr: 5, keymat_ptr: keymat() },
      inline(0, { keymat_ptr: keymat({ salt: 5 as never }) }),
      inline(0, { esp_attr: { hard_limit_pkts: "1" as never } }),
      inline(0, { comp_mask: "1" as never }),
      tunnel(0, { esp_encap: [5 as never] }),
    ];
    for (const esp of bad) expect(() => create(bench, esp as never)).toThrow(TypeError);
    // Absent numbers are 0.
    const absent = [
      inline(0, { keymat_ptr: {} as never }),
      inline(0, { keymat_ptr: keymat({ icv_len: undefined as never }) }),
    ];
    expect(absent.map(refusal)).toEqual([
      "EINVAL out_of_range esp.keymat_ptr.key_len",
      "EINVAL out_of_range esp.keymat_ptr.icv_len",
    ]);
    expect(() => v.ibv_create_flow_action_esp({} as never, inline(0))).toThrow(TypeError);
    expect(() => v.ibv_modify_flow_action_esp({} as never, {})).toThrow(TypeError);
  });

  test("the order of the stack", () => {
    // Each fault is reported before all later ones.
    const faults: ((esp: v.FlowActionEsp) => void)[] = [
      (esp) => (esp.comp_mask = 4),
      (esp) => ((esp.esp_attr as v.FlowActionEspAttr).flags = 0x10 | FULL),
      (esp) => (esp.keymat_proto = 7),
      (esp) => (esp.replay_proto = 9),
      (esp) => (esp.esp_encap = [UDP_ENCAP]),
    ];
    const places = ["comp_mask", "esp_attr.flags", "keymat_proto", "replay_proto", "esp_encap"];
    for (let first = 0; first < faults.length; first++) {
      const esp = tunnel(0, { replay_proto: BMP, replay_ptr: { size: 64 } });
      for (const fault of faults.slice(first)) fault(esp);
      expect(refusal(esp)).toContain(` esp.${places[first]}`);
    }
  });

  test("modify: actions of other kinds, and none", () => {
    const { context } = bench;
    const other = dv.mlx5dv_create_flow_action_modify_header(
      context,
      undefined,
      [{ type: "set", field: "OUT_IP_TTL", data: 1 }],
      0,
    );
    expect(told(() => v.ibv_modify_flow_action_esp(other, {}))).toBe("EINVAL bad_object action");
    const gone = create(bench, inline(0));
    v.ibv_destroy_flow_action(gone);
    expect(told(() => v.ibv_modify_flow_action_esp(gone, {}))).toBe("EINVAL object_destroyed action");
  });

  test("modify: flags stay", () => {
    const action = create(bench, tunnel(0));
    for (const flags of [0, FULL | ENCRYPT, FULL | TRANSPORT]) {
      expect(told(() => v.ibv_modify_flow_action_esp(action, { esp_attr: { flags } }))).toBe(
        "EINVAL bad_attribute esp.esp_attr.flags",
      );
    }
    const window = { esp_attr: { flags: FULL | NEW_WINDOW } };
    expect(told(() => v.ibv_modify_flow_action_esp(action, window))).toBe("EINVAL bad_attribute esp.esp_attr.flags");
    expect(told(() => v.ibv_modify_flow_action_esp(action, { esp_encap: [] }))).toBe("EINVAL bad_spec esp.esp_encap");
    expect(v.ibv_modify_flow_action_esp(action, { esp_attr: { flags: FULL } })).toBe(0);
  });
});

describe.each(CONNECTX)("%s", (profile) => {
  beforeEach(async () => {
    bench = await FlowBench.open({ profile });
  });

  test("what drivers take", () => {
    const good = [inline(0), inline(ENCRYPT), inline(0, { comp_mask: ESN, esn: 7 })];
    expect(good.map(refusal)).toEqual([undefined, undefined, undefined]);
  });

  const at = (place: string, code = "EOPNOTSUPP"): string => `${code} unsupported esp.${place}`;
  const faults: readonly (readonly [v.FlowActionEsp, string])[] = [
    ...(["spi", "seq", "tfc_pad", "hard_limit_pkts"] as const).map(
      (name) => [inline(0, { esp_attr: { [name]: 1 } }), at(`esp_attr.${name}`)] as const,
    ),
    [inline(FULL), at("esp_attr.flags")],
    [inline(FULL, { replay_proto: BMP, replay_ptr: { size: 64 } }), at("replay_ptr")],
    [inline(TRANSPORT), at("esp_attr.flags")],
    [inline(NEW_WINDOW, { comp_mask: ESN }), at("esp_attr.flags")],
    [inline(0, { keymat_ptr: keymat({ icv_len: 12 }) }), at("keymat_ptr.icv_len")],
    [inline(0, { keymat_ptr: keymat({ icv_len: 9 }) }), "EINVAL out_of_range esp.keymat_ptr.icv_len"],
    [inline(0, { replay_proto: BMP, replay_ptr: { size: 0 } }), at("replay_ptr")],
    [inline(0, { replay_proto: NONE }), "EINVAL out_of_range esp.replay_proto"],
    [inline(0, { replay_proto: 2 }), "EINVAL out_of_range esp.replay_proto"],
    [inline(0, { esp_encap: [{ type: 0x77 }] }), at("esp_encap")],
    [inline(0, { esp_encap: [IPV4_ENCAP, UDP_ENCAP] }), at("esp_encap")],
  ];
  test.each(faults.map(([esp, expected]) => [expected, esp] as const))("%s", (expected, esp) => {
    expect(refusal(esp)).toBe(expected);
  });

  test("modify", () => {
    const [plain, extended] = [create(bench, inline(ENCRYPT)), create(bench, inline(0, { comp_mask: ESN }))];
    const modify = (action: typeof plain, esp: v.FlowActionEsp): string | undefined =>
      told(() => v.ibv_modify_flow_action_esp(action, esp));
    for (const action of [plain, extended]) {
      expect(modify(action, { keymat_ptr: keymat() })).toBe(at("keymat_ptr"));
      expect(modify(action, { replay_proto: NONE })).toBe(at("replay_ptr"));
      expect(modify(action, { esp_encap: [] })).toBe(at("esp_encap"));
      expect(modify(action, { esp_attr: { seq: 1 } })).toBe(at("esp_attr.seq"));
      expect(modify(action, { esp_attr: { flags: ENCRYPT } })).toBe(at("esp_attr.flags"));
      expect(modify(action, { esp_attr: {} })).toBeUndefined();
    }
    expect(modify(plain, { comp_mask: ESN, esn: 1 })).toBe("EINVAL bad_attribute esp.esn");
    expect(modify(plain, { esp_attr: { flags: NEW_WINDOW } })).toBe("EINVAL bad_attribute esp.esp_attr.flags");
    expect(modify(extended, { comp_mask: ESN, esn: 1, esp_attr: { flags: NEW_WINDOW } })).toBeUndefined();
    expect(extended.state.number).toBe(1n << 32n);
  });
});
