/** Address handles: the paths that they can and cannot describe. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import type { AddressAttributes } from "../../../src/model/queue/addressHandle.js";
import type { Context, ProtectionDomain } from "../../../src/model/base/context.js";
import type { GidInput } from "../../../src/model/base/port/gids.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";

let context: Context;
let pd: ProtectionDomain;

beforeEach(async () => {
  context = v.ibv_open_device(await createDevice({ ports: 2, gids: [["192.0.2.1"]] }));
  pd = v.ibv_alloc_pd(context);
});

const to = (dgid: GidInput, more: Partial<AddressAttributes> = {}): AddressAttributes => {
  return { grh: { dgid }, is_global: 1, port_num: 1, ...more };
};

const macOf = (attr: AddressAttributes): string =>
  Array.from(v.ibv_create_ah(pd, attr).route.dmac, (byte) => byte.toString(16).padStart(2, "0")).join(":");

describe("the MAC of the destination", () => {
  test.each([
    ["fe80::ff:fe00:1", "02:00:00:00:00:01"],
    ["fe80::200:5eff:fe00:5301", "00:00:5e:00:53:01"],
    ["ff02::1:ff00:1", "33:33:ff:00:00:01"],
    ["::ffff:224.0.0.251", "01:00:5e:00:00:fb"],
    ["239.129.2.3", "01:00:5e:01:02:03"],
  ])("of %s is %s", (dgid, mac) => {
    const sgid_index = /\./.test(dgid) ? 1 : 0;
    expect(macOf({ ...to(dgid), grh: { dgid, sgid_index } })).toBe(mac);
    // A source of the other family is not valid.
    const error = refused(() => macOf({ ...to(dgid), grh: { dgid, sgid_index: 1 - sgid_index } }));
    expect(error).toMatchObject({ code: "EINVAL", reason: "bad_route", path: "attr.grh.dgid" });
  });

  test("is said where it does not follow", () => {
    const far = { ...to("223.255.255.255"), grh: { dgid: "223.255.255.255", sgid_index: 1 } };
    expect(refused(() => v.ibv_create_ah(pd, far))?.reason).toBe("no_mac");
    expect(macOf({ ...far, dmac: "02:00:00:00:00:78" })).toBe("02:00:00:00:00:78");
    for (const dgid of ["2001:db8::1", "fe80::1", "fe80:0:0:1::ff:fe00:1"]) {
      const error = refused(() => v.ibv_create_ah(pd, to(dgid)));
      expect(error).toMatchObject({ code: "EINVAL", reason: "no_mac", path: "attr.grh.dgid", value: dgid });
      expect(error?.hint).toContain("attr.dmac");
      expect(macOf(to(dgid, { dmac: "02:00:00:00:00:77" }))).toBe("02:00:00:00:00:77");
    }
    expect(macOf(to("ff02::1", { dmac: Uint8Array.of(2, 0, 0, 0, 0, 9) }))).toBe("02:00:00:00:00:09");
  });
});

test("a GID is taken in every form", () => {
  const raw = new Uint8Array(16);
  raw.set([0xff, 2]);
  raw[15] = 5;
  const forms: GidInput[] = [
    raw,
    "ff02::5",
    { raw },
    { global: { subnet_prefix: 0xff02n << 48n, interface_id: 5n } },
    v.ibv_query_gid(context, 1, 0),
  ];
  const macs = forms.map((dgid) => macOf(to(dgid)));
  expect(new Set(macs.slice(0, 4))).toEqual(new Set(["33:33:00:00:00:05"]));
  expect(macs[4]).toMatch(/^02:.*:01$/);
});

describe("refusals", () => {
  const cases: [string, AddressAttributes, string, string][] = [
    ["no GRH", to("ff02::1", { is_global: 0 }), "bad_route", "attr.is_global"],
    ["no such port", to("ff02::1", { port_num: 3 }), "out_of_range", "attr.port_num"],
    ["port 0", to("ff02::1", { port_num: 0 }), "out_of_range", "attr.port_num"],
    ["an empty entry", to("", { grh: { dgid: "ff02::1", sgid_index: 2 } }), "no_entry", "attr.grh.sgid_index"],
    [
      "nine bits of index",
      to("", { grh: { dgid: "ff02::1", sgid_index: 256 } }),
      "out_of_range",
      "attr.grh.sgid_index",
    ],
    ["nobody", to("::"), "bad_address", "attr.grh.dgid"],
    ["no address", to("fe80::g"), "bad_address", "attr.grh.dgid"],
    ["half an address", to(new Uint8Array(8)), "bad_address", "attr.grh.dgid"],
    ["half an address", to({ raw: new Uint8Array(8) }), "bad_address", "attr.grh.dgid.raw"],
    ["another family", to("10.0.0.1", { dmac: "02:00:00:00:00:01" }), "bad_route", "attr.grh.dgid"],
    ["no MAC", to("2001:db8::1", { dmac: "02:00" }), "bad_address", "attr.dmac"],
    ["a wide label", to("", { grh: { dgid: "ff02::1", flow_label: 2 ** 20 } }), "out_of_range", "attr.grh.flow_label"],
    ["a wide limit", to("", { grh: { dgid: "ff02::1", hop_limit: 256 } }), "out_of_range", "attr.grh.hop_limit"],
    [
      "a wide class",
      to("", { grh: { dgid: "ff02::1", traffic_class: 256 } }),
      "out_of_range",
      "attr.grh.traffic_class",
    ],
  ];
  test.each(cases)("%s", (_, attr, reason, path) => {
    expect(refused(() => v.ibv_create_ah(pd, attr))).toMatchObject({
      code: "EINVAL",
      call: "ibv_create_ah",
      reason,
      path,
    });
    expect(pd.users).toBe(0);
  });

  test("what is of another type", () => {
    for (const attr of [
      null,
      { ...to("ff02::1"), grh: null },
      to(7 as never),
      to({ raw: [] } as never),
      to({ global: {} } as never),
    ]) {
      expect(() => v.ibv_create_ah(pd, attr as never)).toThrow(TypeError);
    }
    expect(() => v.ibv_create_ah(pd, to("2001:db8::1", { dmac: 5 as never }))).toThrow(TypeError);
    expect(() => v.ibv_create_ah({} as never, to("ff02::1"))).toThrow(TypeError);
    expect(() => v.ibv_destroy_ah({} as never)).toThrow(TypeError);
    expect(pd.users).toBe(0);
  });
});

test("a handle keeps its protection domain", () => {
  const ah = v.ibv_create_ah(pd, to("ff02::1"));
  expect(refused(() => v.ibv_dealloc_pd(pd))?.code).toBe("EBUSY");
  expect(v.ibv_destroy_ah(ah)).toBe(0);
  expect(refused(() => v.ibv_destroy_ah(ah))?.reason).toBe("object_destroyed");
  expect(v.ibv_dealloc_pd(pd)).toBe(0);
  expect(refused(() => v.ibv_create_ah(pd, to("ff02::1")))?.reason).toBe("object_destroyed");
});
