/**
 * Refusals of each profile and their order: every fault alone, and combined with every later one.
 */
import { describe, expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import { checkFlow, checkSpecs, type FlowSetting } from "../../../src/model/flow/checks.js";
import { isMulticastOnly } from "../../../src/model/flow/driverChecks.js";
import type { FlowRequest, Spec } from "../../../src/model/match/flowSpec.js";
import { profileNamed } from "../../../src/model/profile/profiles.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { INNER, specsOf } from "../support/flows.js";
import { inCall } from "../../../src/errors.js";

const CONNECTX = ["connectx5", "connectx6dx", "connectx7", "connectx8"];
const ETH = v.IBV_FLOW_SPEC_ETH;
const [IPV4, IPV4_EXT, IPV6] = [v.IBV_FLOW_SPEC_IPV4, v.IBV_FLOW_SPEC_IPV4_EXT, v.IBV_FLOW_SPEC_IPV6];
const [TCP, UDP, GRE] = [v.IBV_FLOW_SPEC_TCP, v.IBV_FLOW_SPEC_UDP, v.IBV_FLOW_SPEC_GRE];
const { IBV_FLOW_SPEC_ACTION_TAG: TAG, IBV_FLOW_SPEC_ACTION_COUNT: COUNT, IBV_FLOW_SPEC_ACTION_DROP: DROP } = v;

/** A flow that every profile accepts, as the base of the faults. */
interface Draft {
  attr: { type: number; priority: number; port: number; flags: number; uncounted: number };
  specs: object[];
  more: boolean;
  setting: { -readonly [K in keyof FlowSetting]: FlowSetting[K] };
}

const draft = (): Draft => ({
  attr: { type: v.IBV_FLOW_ATTR_NORMAL, priority: 15, port: 2, flags: 0, uncounted: 0 },
  specs: [],
  more: false,
  setting: {
    ports: 2,
    steering: true,
    rawAllowed: true,
    qpType: v.IBV_QPT_RAW_PACKET,
    hasPoints: (counters) => (counters as { points: number }).points > 0,
    points: (counters) => (counters as { points: number }).points,
  },
});

function requestOf({ attr, specs, more }: Draft): FlowRequest {
  const { uncounted, ...rest } = attr;
  const read = specsOf(specs).map((spec): Spec => (spec.kind === "match" ? { ...spec, more } : spec));
  return { comp_mask: 0, size: 0, ...rest, num_of_specs: read.length + uncounted, specs: read };
}

/** Code, reason and path, without list indexes. */
function foundIn(profile: string, one: Draft): string {
  const error = refused(() => checkFlow(profileNamed(profile), requestOf(one), one.setting));
  return error === undefined ? "accepted" : `${error.code} ${error.reason} ${error.path?.replace(/\[\d+\]/, "[]")}`;
}

/**
 * A fault: its change, the expected error, and the part that it shares with other faults, which
 * then cannot be combined.
 */
type Fault = readonly [does: (one: Draft) => unknown, told: string, shares?: string];

const counted = { type: COUNT, counters: { points: 1 } };
const put =
  (...specs: object[]) =>
  (one: Draft) =>
    one.specs.push(...specs);
const flag = (bits: number) => (one: Draft) => (one.attr.flags |= bits);
const ofType =
  (type: number, bits = 0) =>
  (one: Draft) => {
    one.attr.type = type;
    one.attr.flags |= bits;
  };
const ether = (ether_type: number, mask = 0xffff): object => ({
  type: ETH,
  val: { ether_type },
  mask: { ether_type: mask },
});

const sharing = ([does, told]: Fault, shares: string): Fault => [does, told, shares];

const noRight: Fault = [(one) => (one.setting.rawAllowed = false), "EPERM not_permitted qp"];
const wrongPort: Fault = [(one) => (one.attr.port = 3), "EINVAL out_of_range attr.port"];
const portZero: Fault = [(one) => (one.attr.port = 0), "EINVAL out_of_range attr.port"];
const wrongQueue: Fault = [(one) => (one.setting.qpType = v.IBV_QPT_RC), "EINVAL bad_object qp.qp_type"];
const miscounted: Fault = [(one) => (one.attr.uncounted = 1), "EINVAL spec_count attr.num_of_specs"];
const twoCounts: Fault = [put(counted, counted), "EINVAL bad_action_list specs[].type"];
const unknownFlag: Fault = [flag(8), "EINVAL bad_flow_flag attr.flags"];
const unknownSpec: Fault = [put({ type: 0x77 }), "EINVAL bad_spec specs[].type"];
const innerGre: Fault = [put({ type: GRE | INNER }), "EINVAL bad_spec specs[].type"];
const laterFilter: Fault = [
  (one) => {
    one.specs.unshift({ type: IPV6 });
    one.more = true;
  },
  "EOPNOTSUPP reserved_bits specs[].mask",
];
const label: Fault = [
  put({ type: IPV6, mask: { flow_label: 0x100000 } }),
  "EINVAL out_of_range specs[].mask.flow_label",
];

const MANUAL: Readonly<Record<string, Fault>> = {
  "no CAP_NET_RAW": noRight,
  "no steering": [(one) => (one.setting.steering = false), "ENOSYS unsupported qp"],
  "an RC queue": sharing(wrongQueue, "egress"),
  "type 4": [ofType(4), "EINVAL out_of_range attr.type", "type"],
  "flag 8": unknownFlag,
  "port 3": wrongPort,
  "port 0": portZero,
  num_of_specs: miscounted,
  "a spec type": unknownSpec,
  "two counters": twoCounts,
  "DONT_TRAP, SNIFFER": [
    ofType(v.IBV_FLOW_ATTR_SNIFFER, v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP),
    "EINVAL bad_flow_flag attr.flags",
    "type",
  ],
  "EGRESS, ALL_DEFAULT": [
    ofType(v.IBV_FLOW_ATTR_ALL_DEFAULT, v.IBV_FLOW_ATTR_FLAGS_EGRESS),
    "EINVAL bad_flow_flag attr.flags",
    "type egress",
  ],
};

const MLX5: Readonly<Record<string, Fault>> = {
  // provider
  "no steering": [(one) => (one.setting.steering = false), "EOPNOTSUPP unsupported qp"],
  "two counters": twoCounts,
  "counters without points": [
    put({ type: COUNT, counters: { points: 0 } }),
    "EINVAL bad_object specs[].counters",
    "points",
  ],
  "8192 points": [put({ type: COUNT, counters: { points: 8192 } }), "EINVAL out_of_range specs[].counters", "points"],
  // library
  num_of_specs: miscounted,
  "a later library": sharing(laterFilter, "spec"),
  "a spec type": sharing(unknownSpec, "spec"),
  "an inner GRE": sharing(innerGre, "spec"),
  // uverbs
  "no CAP_NET_RAW": noRight,
  "flag 8": unknownFlag,
  "DONT_TRAP, ALL_DEFAULT": [
    ofType(v.IBV_FLOW_ATTR_ALL_DEFAULT, v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP),
    "EINVAL bad_flow_flag attr.flags",
    "type",
  ],
  "11 specs": [put(...Array<object>(11).fill({ type: DROP })), "EINVAL out_of_range attr.num_of_specs"],
  "port 3": wrongPort,
  "an RC queue": wrongQueue,
  "a flow label": label,
  // driver
  "priority 16": [(one) => (one.attr.priority = 16), "ENOMEM out_of_range attr.priority"],
  ALLOW_LOOP_BACK: [flag(1), "EINVAL bad_flow_flag attr.flags"],
  "EGRESS, MC_DEFAULT": [
    ofType(v.IBV_FLOW_ATTR_MC_DEFAULT, v.IBV_FLOW_ATTR_FLAGS_EGRESS),
    "EINVAL bad_flow_flag attr.flags",
    "type",
  ],
  "type 4": [ofType(4), "EOPNOTSUPP out_of_range attr.type", "type"],
  "an EtherType": [put(ether(0x0806), { type: IPV4 }), "EINVAL contradiction specs[].val.ether_type"],
  "a TTL": [put({ type: IPV4_EXT, mask: { ttl: 1 } }), "EOPNOTSUPP unsupported specs[].mask.ttl", "parsed"],
  "a protocol": [put({ type: TCP }, { type: UDP }), "EINVAL contradiction specs[]", "parsed"],
  "a tag": [put({ type: TAG, tag_id: 0x1000000 }), "EINVAL out_of_range specs[].tag_id", "parsed"],
  // steering core
  "a value outside the mask": [
    put({ type: IPV4 | INNER, val: { src_ip: 1 } }),
    "EINVAL value_outside_mask specs[].val.src_ip",
  ],
};

const PROFILES: [string, Readonly<Record<string, Fault>>][] = [
  ["manual", MANUAL],
  ...CONNECTX.map((name): [string, typeof MLX5] => [name, MLX5]),
];

describe.each(PROFILES)("%s", (profile, faults) => {
  const list = Object.entries(faults);

  test("takes the flow without fault", () => {
    expect(foundIn(profile, draft())).toBe("accepted");
  });

  test.each(list)("%s", (_name, [does, told]) => {
    const one = draft();
    does(one);
    expect(foundIn(profile, one)).toBe(told);
  });

  test("the earlier of two faults is told", () => {
    let pairs = 0;
    for (const [i, [first, [does, told, shared = ""]]] of list.entries()) {
      for (const [second, [also, , alsoShared = ""]] of list.slice(i + 1)) {
        if (shared.split(" ").some((word) => word !== "" && alsoShared.includes(word))) continue;
        for (const order of [
          [does, also],
          [also, does],
        ]) {
          const one = draft();
          for (const step of order) step(one);
          expect(foundIn(profile, one), `${first}, ${second}`).toBe(told);
          pairs++;
        }
      }
    }
    expect(pairs).toBeGreaterThan(100);
  });
});

/** Whether a profile accepts a flow of these specs, or else its error. */
function specsIn(profile: string, specs: object[], attr: Partial<Draft["attr"]> = {}): string {
  const one = draft();
  one.specs = specs;
  Object.assign(one.attr, attr);
  return foundIn(profile, one);
}

describe("manual takes what drivers refuse", () => {
  const type = { type: v.IBV_FLOW_ATTR_NORMAL };
  test.each<[string, object[], Partial<Draft["attr"]>]>([
    ["priority 65535", [], { priority: 65535 }],
    ["ALLOW_LOOP_BACK", [], { flags: v.IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK }],
    ["255 specs", Array<object>(255).fill({ type: DROP }), type],
    ["a TTL", [{ type: IPV4_EXT, mask: { ttl: 255 } }], type],
    ["IPv4 flags", [{ type: IPV4_EXT, mask: { flags: 6 } }], type],
    ["a hop limit", [{ type: IPV6, mask: { hop_limit: 255 } }], type],
    ["a sequence number", [{ type: v.IBV_FLOW_SPEC_ESP, mask: { seq: 1 } }], type],
    ["GRE flags", [{ type: GRE, mask: { c_ks_res0_ver: 1 } }], type],
    ["a value outside the mask", [{ type: TCP, val: { dst_port: 1 } }], type],
    ["part of an EtherType beside IP", [ether(0x0800, 0xff00), { type: IPV4 }], type],
    ["counters without points", [{ type: COUNT, counters: { points: 0 } }], type],
    ["8192 points", [{ type: COUNT, counters: { points: 8192 } }], type],
  ])("%s", (_name, specs, attr) => {
    expect(specsIn("manual", specs, attr)).toBe("accepted");
    expect(specsIn("connectx5", specs, attr)).not.toBe("accepted");
  });

  test("EGRESS takes a queue pair of any type, and only under manual", () => {
    for (const qpType of [v.IBV_QPT_RC, v.IBV_QPT_UC, 99]) {
      const one = draft();
      one.attr.flags = v.IBV_FLOW_ATTR_FLAGS_EGRESS;
      one.setting.qpType = qpType;
      expect(foundIn("manual", one)).toBe("accepted");
      expect(foundIn("connectx7", one)).toBe("EINVAL bad_object qp.qp_type");
    }
    const one = draft();
    one.setting.qpType = v.IBV_QPT_UD;
    expect([foundIn("manual", one), foundIn("connectx7", one)]).toEqual(["accepted", "accepted"]);
  });

  test("DONT_TRAP and SNIFFER: the driver ignores it", () => {
    const attr = { type: v.IBV_FLOW_ATTR_SNIFFER, flags: v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP };
    expect(specsIn("connectx5", [], attr)).toBe("accepted");
    expect(specsIn("manual", [], attr)).toBe("EINVAL bad_flow_flag attr.flags");
  });
});

describe("the driver", () => {
  const found = (...specs: object[]): string => specsIn("connectx6dx", specs);
  const inner = (spec: object): object => ({ ...spec, type: (spec as { type: number }).type | INNER });

  test.each<[string, string, object]>([
    ["ttl", "specs[].mask.ttl", { type: IPV4_EXT, mask: { ttl: 0x80 } }],
    ["flags", "specs[].mask.flags", { type: IPV4_EXT | INNER, mask: { flags: 2 } }],
    ["hop_limit", "specs[].mask.hop_limit", { type: IPV6, mask: { hop_limit: 1 } }],
    ["seq", "specs[].mask.seq", { type: v.IBV_FLOW_SPEC_ESP, mask: { seq: 1 } }],
    ["c_ks_res0_ver", "specs[].mask.c_ks_res0_ver", { type: GRE, mask: { c_ks_res0_ver: 0x2000 } }],
  ])("cannot ask %s", (_name, path, spec) => {
    expect(found(spec)).toBe(`EOPNOTSUPP unsupported ${path}`);
  });

  test("asks everything else", () => {
    const full = (type: number, fields: Record<string, number | bigint>): object => ({
      type,
      val: fields,
      mask: fields,
    });
    const specs = [
      full(ETH, { dst_mac: 2 ** 48 - 1, src_mac: 2 ** 48 - 1, vlan_tag: 0xffff }),
      full(IPV4_EXT, { src_ip: 0xffffffff, dst_ip: 0xffffffff, proto: 0xff, tos: 0xff }),
      full(IPV6 | INNER, { flow_label: 0xfffff, next_hdr: 6, traffic_class: 0xff, src_ip: (1n << 128n) - 1n }),
      full(v.IBV_FLOW_SPEC_ESP, { spi: 0xffffffff }),
      full(v.IBV_FLOW_SPEC_MPLS, { label: 0xffffffff }),
      full(v.IBV_FLOW_SPEC_VXLAN_TUNNEL, { tunnel_id: 0xffffff }),
      { type: TAG, tag_id: 0xffffff },
      counted,
    ];
    expect(found(...specs)).toBe("accepted");
    expect(found(full(GRE, { protocol: 0xffff, key: 0xffffffff }))).toBe("accepted");
  });

  test("the EtherType beside an IP spec has a full mask and the right value, or is omitted", () => {
    const mask = "EINVAL contradiction specs[].mask.ether_type";
    const val = "EINVAL contradiction specs[].val.ether_type";
    expect(found(ether(0x0800, 0xff00), { type: IPV4 })).toBe(mask);
    expect(found({ type: IPV6 }, ether(0x8600, 0xff00))).toBe(mask);
    expect(found(ether(0x86dd), { type: IPV4_EXT })).toBe(val);
    expect(found(ether(0x0800), { type: IPV6 })).toBe(val);
    expect(found(ether(0x88f7), { type: IPV6 })).toBe(val);
    expect(found(inner(ether(0x0800)), inner({ type: IPV6 }))).toBe(val);
    expect(found(ether(0x0800), { type: IPV4 })).toBe("accepted");
    expect(found(ether(0x86dd), { type: IPV6 })).toBe("accepted");
    expect(found(ether(0x8847), { type: IPV4 })).toBe("accepted");
    expect(found(ether(0x8848), { type: IPV6 })).toBe("accepted");
    expect(found({ type: ETH }, { type: IPV6 })).toBe("accepted");
    expect(found(ether(0x0800, 0xff00))).toBe("accepted");
    expect(found(inner(ether(0x86dd)), { type: IPV4 })).toBe("accepted");
    // The last spec with an EtherType, and the last IP spec.
    expect(found(ether(0x86dd), ether(0x0800), { type: ETH }, { type: IPV4 })).toBe("accepted");
    expect(found(ether(0x0800), ether(0x86dd), { type: IPV4 })).toBe(val);
    expect(found(ether(0x86dd), { type: IPV4 }, { type: IPV6 })).toBe("accepted");
  });

  test("all that ask the IP protocol ask it alike, mask and value", () => {
    const clash = "EINVAL contradiction specs[]";
    const proto = (proto: number, mask: number): object => ({ type: IPV4_EXT, val: { proto }, mask: { proto: mask } });
    expect(found(proto(17, 0xff), { type: UDP })).toBe("accepted");
    expect(found({ type: UDP }, proto(17, 0xff))).toBe("accepted");
    expect(found({ type: UDP }, proto(0, 0))).toBe("accepted");
    expect(found(proto(17, 0xff), { type: TCP })).toBe(clash);
    expect(found(proto(1, 1), { type: UDP })).toBe(clash);
    expect(found(proto(17, 0x7f), { type: UDP })).toBe(clash);
    expect(found({ type: UDP }, { type: GRE })).toBe(clash);
    expect(found({ type: IPV6, val: { next_hdr: 6 }, mask: { next_hdr: 255 } }, { type: UDP })).toBe(clash);
    expect(found(inner({ type: TCP }), { type: UDP })).toBe("accepted");
    expect(found(inner({ type: TCP }), inner({ type: UDP }))).toBe(clash);
  });

  test("takes no value bit outside the mask, of any field", () => {
    expect(found({ type: ETH, val: { vlan_tag: 0x1000 }, mask: { vlan_tag: 0x0fff } })).toContain("val.vlan_tag");
    expect(found({ type: IPV6 | INNER, val: { dst_ip: "::1" }, mask: { dst_ip: "ffff::" } })).toContain("val.dst_ip");
    expect(found({ type: TCP, val: { src_port: 3 }, mask: { src_port: 1 } })).toContain("value_outside_mask");
    expect(found({ type: TCP, val: { src_port: 1 }, mask: { src_port: 3 } })).toBe("accepted");
  });

  test("does not read the specs of other types", () => {
    const bad = [{ type: IPV4_EXT, val: { tos: 1 }, mask: { ttl: 1 } }, { type: TCP }, { type: UDP }];
    for (const type of [v.IBV_FLOW_ATTR_ALL_DEFAULT, v.IBV_FLOW_ATTR_MC_DEFAULT, v.IBV_FLOW_ATTR_SNIFFER]) {
      expect(specsIn("connectx8", bad, { type })).toBe("accepted");
      expect(specsIn("connectx8", [{ type: 0x77 }], { type })).toContain("bad_spec");
    }
  });

  test("ten specs, priorities 0 to 15", () => {
    expect(found(...Array<object>(10).fill({ type: DROP }))).toBe("accepted");
    expect(specsIn("connectx5", [], { priority: 15 })).toBe("accepted");
    expect(specsIn("connectx5", [], { type: v.IBV_FLOW_ATTR_SNIFFER, priority: 16 })).toContain("ENOMEM");
  });
});

test("flows for multicast alone, by their first spec", () => {
  const only = (...specs: object[]): boolean => isMulticastOnly(specsOf(specs));
  const mac = (val: string, mask: string, type = ETH): object => ({
    type,
    val: { dst_mac: val },
    mask: { dst_mac: mask },
  });
  const ip = (dst_ip: string, type = IPV4, mask = "0.0.0.0"): object => ({
    type,
    val: { dst_ip },
    mask: { dst_ip: mask },
  });
  expect(only()).toBe(false);
  expect(only(mac("01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff"))).toBe(true);
  expect(only(mac("01:00:00:00:00:00", "01:00:00:00:00:00"))).toBe(true);
  expect(only(mac("01:00:00:00:00:00", "fe:00:00:00:00:00"))).toBe(false);
  expect(only(mac("02:00:00:00:00:01", "ff:ff:ff:ff:ff:ff"))).toBe(false);
  expect(only(mac("01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff", ETH | INNER))).toBe(false);
  expect(only(ip("224.0.0.1"), ip("10.0.0.1"))).toBe(true);
  expect(only(ip("239.255.255.255", IPV4_EXT, "255.255.255.255"))).toBe(true);
  expect(only(ip("223.255.255.255"))).toBe(false);
  expect(only(ip("240.0.0.0"))).toBe(false);
  expect(only(ip("224.0.0.1", IPV4 | INNER))).toBe(false);
  expect(only({ type: IPV6, val: { dst_ip: "ff02::1" } })).toBe(false);
  expect(only({ type: UDP }, ip("224.0.0.1"))).toBe(false);
  expect(only({ type: DROP }, ip("224.0.0.1"))).toBe(false);
});

test("checkSpecs refuses in the name of its call", () => {
  const error = refused(() => inCall("a call", () => checkSpecs(specsOf([{ type: DROP }, { type: 0x1234 }]))));
  expect(error).toMatchObject({ call: "a call", code: "EINVAL", reason: "bad_spec", path: "specs[1].type" });
});

test("profiles are data of a device", async () => {
  for (const name of CONNECTX) {
    const device = await createDevice({ profile: name });
    expect(device.profile).toMatchObject({
      name,
      flows: { lastPriority: 15, maxSpecs: 10, maxPoints: 8191, multicastLast: true },
      counters: { liveAttach: false, readUnbound: false },
    });
    device.close();
  }
  expect((await createDevice()).profile).toMatchObject({ name: "manual", flows: { lastPriority: 65535 } });
  expect(refused(() => profileNamed("connectx"))?.message).toContain(
    "manual, connectx5, connectx6dx, connectx7, connectx8",
  );
});
