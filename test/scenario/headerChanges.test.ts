/** Header changes as a document writes them, against the words of the device. */
import { describe, expect, it } from "vitest";
import { inCall, SteeringError } from "../../src/errors.js";
import { CHANGE_FIELD_NAMES } from "../../src/scenario/action/changeFields.js";
import { headerChanges } from "../../src/scenario/action/headerChanges.js";
import type { ScenarioHeaderChange } from "../../src/scenario/index.js";
import { fieldNamed } from "../../src/model/match/fields.js";
import { modifyActions, modifyActionsFromBytes, type ModifyAction } from "../../src/model/action/modifyActions.js";
import { modifyFieldNames } from "../../src/model/action/modifyFields.js";

const read = (...list: ScenarioHeaderChange[]): readonly (bigint | ModifyAction)[] =>
  inCall("test", () => headerChanges("modify", list).actions);

const set = (field: string, data: number, offset: number, length: number): ModifyAction => ({
  type: "set",
  field,
  offset,
  length,
  data,
});
const copy = (field: string, src_offset: number, to: string, dst_offset: number, length: number): ModifyAction => ({
  type: "copy",
  field,
  src_offset,
  length,
  to,
  dst_offset,
});

describe("a change", () => {
  it.each<[string, ScenarioHeaderChange, (bigint | ModifyAction)[]]>([
    [
      "sets an address in the device's words",
      { set: "outer.dmac", to: "02:00:00:00:12:34" },
      [set("OUT_DMAC_47_16", 0x02000000, 0, 32), set("OUT_DMAC_15_0", 0x1234, 0, 16)],
    ],
    [
      "sets the four words of IPv6",
      { set: "inner.ipv6_src", to: "2001:db8::5" },
      [
        set("IN_SIPV6_127_96", 0x20010db8, 0, 32),
        set("IN_SIPV6_95_64", 0, 0, 32),
        set("IN_SIPV6_63_32", 0, 0, 32),
        set("IN_SIPV6_31_0", 5, 0, 32),
      ],
    ],
    ["sets the bits of a prefix", { set: "outer.ipv4_dst", to: "10.1.0.0/16" }, [set("OUT_DIPV4", 0x0a01, 16, 16)]],
    [
      "sets the bits of a prefix that ends inside a word",
      { set: "outer.ipv6_dst", to: "2001:db8:8000::/33" },
      [set("OUT_DIPV6_127_96", 0x20010db8, 0, 32), set("OUT_DIPV6_95_64", 1, 31, 1)],
    ],
    [
      "sets each run of bits of a mask",
      { set: "misc2.metadata_reg_c_2", to: "0x50000a/0xf0000f" },
      [set("METADATA_REG_C_2", 5, 20, 4), set("METADATA_REG_C_2", 0xa, 0, 4)],
    ],
    [
      "sets the TTL of either version",
      { set: "outer.ip_ttl_hoplimit", to: 64 },
      [set("OUT_IP_TTL", 64, 0, 8), set("OUT_IPV6_HOPLIMIT", 64, 0, 8)],
    ],
    ["sets a part of the TCI", { set: "outer.first_prio", to: 5 }, [set("OUT_FIRST_VID", 5, 13, 3)]],
    ["knows names of values", { set: "outer.ethertype", to: "ipv6" }, [set("OUT_ETHERTYPE", 0x86dd, 0, 16)]],
    ["knows the device's names", { set: "OUT_SIPV4", to: "192.0.2.1" }, [set("OUT_SIPV4", 0xc0000201, 0, 32)]],
    ["knows register B, which no match has", { set: "METADATA_REG_B", to: 7 }, [set("METADATA_REG_B", 7, 0, 32)]],
    [
      "adds less than nothing",
      { add: "outer.ip_ttl_hoplimit", by: -1 },
      [
        { type: "add", field: "OUT_IP_TTL", data: 0xffffffff },
        { type: "add", field: "OUT_IPV6_HOPLIMIT", data: 0xffffffff },
      ],
    ],
    ["adds", { add: "misc3.outer_tcp_seq_num", by: 5 }, [{ type: "add", field: "OUT_TCP_SEQ_NUM", data: 5 }]],
    [
      "copies what fits",
      { copy: "outer.tcp_sport", into: "misc2.metadata_reg_c_0" },
      [copy("OUT_TCP_SPORT", 0, "METADATA_REG_C_0", 0, 16)],
    ],
    [
      "copies addresses word by word, the highest first",
      { copy: "outer.smac", into: "outer.dmac" },
      [copy("OUT_SMAC_47_16", 0, "OUT_DMAC_47_16", 0, 32), copy("OUT_SMAC_15_0", 0, "OUT_DMAC_15_0", 0, 16)],
    ],
    [
      "copies across the words of both",
      { copy: "outer.smac", into: "outer.dmac", fromBit: 8, intoBit: 0, bits: 40 },
      [
        copy("OUT_SMAC_47_16", 8, "OUT_DMAC_47_16", 0, 24),
        copy("OUT_SMAC_47_16", 0, "OUT_DMAC_15_0", 8, 8),
        copy("OUT_SMAC_15_0", 8, "OUT_DMAC_15_0", 0, 8),
      ],
    ],
    [
      "copies what either version has",
      { copy: "outer.ip_ttl_hoplimit", into: "misc2.metadata_reg_c_1", intoBit: 8 },
      [copy("OUT_IP_TTL", 0, "METADATA_REG_C_1", 8, 8), copy("OUT_IPV6_HOPLIMIT", 0, "METADATA_REG_C_1", 8, 8)],
    ],
    [
      "copies into a part of the TCI",
      { copy: "misc2.metadata_reg_c_0", into: "outer.first_vid" },
      [copy("METADATA_REG_C_0", 0, "OUT_FIRST_VID", 0, 12)],
    ],
    ["is a word of the device", "10:16:00:00 0a000001", [0x101600000a000001n]],
  ])("%s", (_, change, expected) => {
    const got = read(change);
    expect(got).toEqual(expected);
    const objects = got.filter((one): one is ModifyAction => typeof one === "object");
    expect(modifyActionsFromBytes(modifyActions(objects)).length).toBe(objects.length);
  });

  it.each<[ScenarioHeaderChange, string]>([
    [
      { set: "outer.dmc", to: 1 },
      'modify[0].set = "outer.dmc": no field has this name (EINVAL); did you mean "outer.dmac"? fields: ',
    ],
    [
      { set: "dmac", to: 1 },
      'modify[0].set = "dmac": no field has this name (EINVAL); did you mean "outer.dmac" or "inner.dmac"?',
    ],
    [
      { copy: "outer.dmac", into: "misc.vxlan_vni" },
      'modify[0].into = "misc.vxlan_vni": no field has this name (EINVAL); fields: ',
    ],
    [
      { set: "outer.dmac", to: "02:00:00:00:00" },
      'modify[0].to = "02:00:00:00:00": not an address of this kind (EINVAL); write it as "66:11:22:33:44:55"',
    ],
    [
      { set: "OUT_DMAC_15_0", to: 65536 },
      "modify[0].to = 65536: not a number that fits the field (EINVAL); OUT_DMAC_15_0 has 16 bits: 0 to 65535",
    ],
    [
      { set: "outer.ipv4_dst", to: "10.0.0.1/8" },
      'modify[0].to = "10.0.0.1/8": the value has a bit outside its mask (EINVAL); the mask keeps 10.0.0.0/8',
    ],
    [
      { add: "outer.dmac", by: 1 },
      'modify[0].add = "outer.dmac": the device cannot make these header changes (EINVAL); the device adds to whole words: OUT_DMAC_47_16, OUT_DMAC_15_0',
    ],
    [
      { add: "outer.first_vid", by: 1 },
      'modify[0].add = "outer.first_vid": the device cannot make these header changes (EINVAL); the device adds to whole words: OUT_FIRST_VID',
    ],
    [
      { copy: "outer.tcp_sport", into: "outer.dmac", fromBit: 16 },
      "modify[0].fromBit = 16: outside the range that the field can hold (EINVAL); outer.tcp_sport has 16 bits",
    ],
    [
      { copy: "outer.dmac", into: "outer.tcp_sport", intoBit: 17 },
      "modify[0].intoBit = 17: outside the range that the field can hold (EINVAL); outer.tcp_sport has 16 bits",
    ],
    [
      { copy: "outer.dmac", into: "outer.tcp_sport", bits: 17 },
      "modify[0].bits = 17: outside the range that the field can hold (EINVAL); outer.tcp_sport has 16 bits",
    ],
    ["10160000", 'modify[0] = "10160000": the document does not follow the scenario schema (EINVAL); 16 hex'],
  ])("is refused: %j", (change, message) => {
    expect(() => read(change)).toThrow(SteeringError);
    expect(() => read(change)).toThrow(`test: ${message}`);
  });
});

describe("names of fields", () => {
  it("are those of matches, with their widths, and all of the device", () => {
    const matched = CHANGE_FIELD_NAMES.filter((name) => name.includes("."));
    expect(matched.filter((name) => fieldNamed(name) === undefined)).toEqual([]);
    expect(CHANGE_FIELD_NAMES.slice(matched.length)).toEqual(modifyFieldNames());
  });

  it("reach every field that the device changes, but register B", () => {
    const matched = CHANGE_FIELD_NAMES.filter((name) => name.includes("."));
    const reached = new Set(
      matched
        .flatMap((name) => read({ copy: name, into: name }))
        .flatMap((one) => (typeof one === "object" ? one["field"] : [])),
    );
    expect(modifyFieldNames().filter((name) => !reached.has(name))).toEqual(["METADATA_REG_B"]);
  });

  it("cover the field whole: set to all ones, every bit of the device's words is", () => {
    for (const name of CHANGE_FIELD_NAMES.filter((one) => one.includes("."))) {
      const width = fieldNamed(name)?.width ?? 0;
      const ones = `0x${((1n << BigInt(width)) - 1n).toString(16)}`;
      if (/mac|ipv/.test(name)) continue;
      for (const one of read({ set: name, to: ones })) {
        expect(one, name).toMatchObject({ data: 2 ** (one as { length: number }).length - 1 });
      }
    }
  });
});

describe("places of the model in a list", () => {
  const list: ScenarioHeaderChange[] = [
    { set: "outer.dmac", to: 1 },
    { add: "outer.ip_ttl_hoplimit", by: 1 },
    "1016000000000000",
    { copy: "outer.smac", into: "outer.dmac" },
  ];
  const { placeOf } = headerChanges("modify", list);

  it.each([
    ["actions[0].field", "[0].set"],
    ["actions[1].data", "[0].to"],
    ["actions[2].field", "[1].add"],
    ["actions[3].data", "[1].by"],
    ["actions[4].type", "[2]"],
    ["actions[5].src_offset", "[3].fromBit"],
    ["actions[6].to", "[3].into"],
    ["actions[7].to", ""],
    ["actions_sz", ""],
  ])("%s is %s", (model, document) => {
    expect(placeOf(model)).toBe(document);
  });
});
