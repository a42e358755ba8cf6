/**
 * Header changes as words and as objects, the refusals of each profile, and the programs for the
 * core.
 */
import { describe, expect, test } from "vitest";
import { REGISTER_A } from "../../../src/abi/engine.js";
import { Place, PLACE_INNER } from "../../../src/abi/program.js";
import {
  modifyActions,
  modifyActionsFromBytes,
  type ModifyAction,
  type ModifyOther,
} from "../../../src/model/action/modifyActions.js";
import { modifyFields } from "../../../src/model/action/modifyFields.js";
import {
  MAX_MODIFY,
  modifyProgram,
  type ActionSetting,
  type ModifyActions,
} from "../../../src/model/action/modifyHeader.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { settingUnder } from "../support/settings.js";

const RX = settingUnder("manual", "nic_rx");
const TX = settingUnder("manual", "nic_tx");
const FDB = settingUnder("manual", "fdb");
const device = ({ domainType }: ActionSetting, rootLevel = false): ActionSetting =>
  settingUnder("connectx7", domainType, rootLevel);

const program = (actions: ModifyActions, setting = RX, size?: number): Uint8Array =>
  modifyProgram(setting, actions, size);
/** "errno reason path" of a refusal. */
const refusal = (actions: ModifyActions, setting = RX, size?: number): string | undefined => {
  const error = refused(() => program(actions, setting, size));
  return error && `${error.code} ${error.reason} ${error.path}`;
};
const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const set = (field: string | number, data = 0, more: object = {}): ModifyAction => ({
  type: "set",
  field,
  data,
  ...more,
});
const add = (field: string, data = 1): ModifyAction => ({ type: "add", field, data });
const copy = (field: string, to: string, more: object = {}): ModifyAction => ({ type: "copy", field, to, ...more });

/** Instructions, in the layout of src/abi/engine.ts. */
function instructions(record: Uint8Array): number[][] {
  const view = new DataView(record.buffer);
  const count = view.getUint32(0, true);
  expect(record.length).toBe(8 + 16 * count);
  return Array.from({ length: count }, (_, i) => {
    const at = 8 + 16 * i;
    const bytes = [0, 1, 2, 3].map((byte) => view.getUint8(at + byte));
    const bits = [4, 6, 8, 10].map((half) => view.getUint16(at + half, true));
    return [...bytes, ...bits, view.getUint32(at + 12, true)];
  });
}

describe("words", () => {
  test.each<[string, ModifyAction]>([
    ["10040000 01020304", { type: "set", field: "OUT_DMAC_47_16", offset: 0, length: 32, data: 0x01020304 }],
    ["1017000c 00000fff", { type: "set", field: "OUT_FIRST_VID", offset: 0, length: 12, data: 0xfff }],
    ["10170d03 00000005", { type: "set", field: "OUT_FIRST_VID", offset: 13, length: 3, data: 5 }],
    ["200a0000 000000ff", { type: "add", field: "OUT_IP_TTL", data: 0xff }],
    ["30511008 00061100", copy("METADATA_REG_C_0", "OUT_IP_DSCP", { src_offset: 16, length: 8, dst_offset: 17 })],
    [
      "4c1b0403 deadbeef",
      {
        type: "insert",
        encap: 1,
        inline_data: 1,
        push_esp: 0,
        insert_anchor: "L4_PAYLOAD",
        insert_offset: 4,
        insert_size: 3,
        insert_argument: 0xdeadbeef,
      },
    ],
    [
      "58001900 00000000",
      { type: "remove", decap: 1, remove_start_anchor: "PACKET_START", remove_end_anchor: "INNER_IPV6_IPV4" },
    ],
    ["60000000 00000000", { type: "nop" }],
    ["70010701 00000000", { type: "remove_words", remove_start_anchor: "MAC", remove_offset: 7, remove_size: 1 }],
    [
      "80520005 004c0300",
      {
        type: "add_field",
        field: "METADATA_REG_C_1",
        src_offset: 0,
        length: 5,
        to: 0x4c,
        dst_offset: 3,
      } as unknown as ModifyOther,
    ],
  ])("%s", (text, action) => {
    const bytes = modifyActions([action]);
    expect(hex(bytes)).toBe(text.replace(" ", ""));
    expect(modifyActionsFromBytes(bytes)).toEqual([action]);
  });

  test("what is left out: the whole of what both fields have", () => {
    const words = modifyActions([
      set("OUT_IP_DSCP", 9),
      set("OUT_IP_DSCP", 1, { offset: 4 }),
      set("METADATA_REG_C_0", 1),
      copy("OUT_IP_TTL", "METADATA_REG_C_0"),
      copy("METADATA_REG_C_0", "OUT_FIRST_VID", { src_offset: 30, dst_offset: 3 }),
      copy("METADATA_REG_C_0", "METADATA_REG_C_1"),
    ]);
    const found = modifyActionsFromBytes(words) as { offset?: number; length?: number; dst_offset?: number }[];
    expect(found.map(({ length }) => length)).toEqual([6, 2, 32, 8, 2, 32]);
    expect(found.map(({ offset, dst_offset }) => offset ?? dst_offset)).toEqual([0, 4, 0, 0, 3, 0]);
  });

  test("types and anchors without a name", () => {
    expect(modifyActionsFromBytes(Uint8Array.of(0xf1, 2, 3, 4, 5, 6, 7, 8))).toEqual([
      { type: 15, high: 0xf1020304, low: 0x05060708 },
    ]);
    const odd = modifyActions([{ type: "remove", decap: 0, remove_start_anchor: 3, remove_end_anchor: 63 }]);
    expect(modifyActionsFromBytes(odd)).toEqual([
      { type: "remove", decap: 0, remove_start_anchor: 3, remove_end_anchor: 63 },
    ]);
    expect(refused(() => modifyActionsFromBytes(new Uint8Array(12)))?.reason).toBe("bad_modify");
  });

  test.each<[string, object, string]>([
    ["a type", { type: "sett", field: "OUT_IP_TTL", data: 1 }, 'EINVAL actions[0].type did you mean "set"?'],
    ["a field", set("OUT_IP_TLL"), 'EINVAL actions[0].field did you mean "OUT_IP_TTL"?'],
    ["a field to copy to", copy("OUT_IP_TTL", "REG_C_0"), "EINVAL actions[0].to"],
    ["a part", { ...set("OUT_IP_TTL"), dta: 1 }, 'EINVAL actions[0].dta did you mean "data"?'],
    ["a part of another type", { ...add("OUT_IP_TTL"), offset: 1 }, "EINVAL actions[0].offset"],
    ["data", set("OUT_IP_TTL", 2 ** 32), "EINVAL actions[0].data"],
    ["negative data", add("OUT_IP_TTL", -1), "EINVAL actions[0].data"],
    ["a length", set("OUT_IP_TTL", 1, { length: 33 }), "EINVAL actions[0].length"],
    ["an offset", set("METADATA_REG_C_0", 1, { offset: 32 }), "EINVAL actions[0].offset"],
    ["a field id", set(0x1000), "EINVAL actions[0].field"],
    [
      "an anchor",
      { type: "remove", decap: 0, remove_start_anchor: "MACK", remove_end_anchor: 1 },
      'EINVAL actions[0].remove_start_anchor did you mean "MAC"?',
    ],
  ])("%s that does not fit", (_, action, wanted) => {
    const error = refused(() => modifyActions([action as ModifyAction]));
    expect(`${error?.code} ${error?.path} ${error?.hint}`).toContain(wanted);
    expect(error?.call).toBe("modifyActions");
  });

  test("what is no action at all", () => {
    const bad = [null, 5, "set", { type: 1 }, { type: "set", field: "OUT_IP_TTL" }, { type: "add", data: 1 }];
    for (const one of bad) expect(() => modifyActions([one as ModifyAction])).toThrow(TypeError);
    expect(() => modifyActions({} as ModifyAction[])).toThrow(TypeError);
    expect(() => modifyActionsFromBytes([] as unknown as Uint8Array)).toThrow(TypeError);
  });
});

describe("lists", () => {
  const TTL = 0x200a0000_000000ffn;

  test("bytes, numbers and objects are the same", () => {
    const bytes = modifyActions([add("OUT_IP_TTL", 0xff), set("OUT_IP_ECN", 3)]);
    const wanted = program(bytes);
    expect(program([TTL, set("OUT_IP_ECN", 3)])).toEqual(wanted);
    expect(program([TTL, 0x10730002_00000003n])).toEqual(wanted);
    expect(program([TTL, TTL], RX, 8)).toEqual(program([TTL]));
    expect(program(bytes, RX, 8)).toEqual(program([TTL]));
    // A view into a larger buffer, which may change afterwards.
    const large = new Uint8Array(32);
    large.set(bytes, 5);
    expect(program(large.subarray(5, 21))).toEqual(wanted);
  });

  test.each<[string, ModifyActions, number | undefined]>([
    ["no actions", [], undefined],
    ["no bytes", new Uint8Array(8), 0],
    ["half a word", new Uint8Array(12), undefined],
    ["more than there is", [TTL], 16],
    ["more bytes than there are", modifyActions([add("OUT_IP_TTL")]), 16],
    ["too many", Array<bigint>(256).fill(TTL), undefined],
  ])("%s", (_, actions, size) => {
    for (const setting of [RX, device(RX)])
      expect(refusal(actions, setting, size)).toBe("EINVAL bad_modify actions_sz");
  });

  test("as many as a record holds", () => {
    expect(MAX_MODIFY).toBe(255);
    expect(instructions(program(Array<bigint>(255).fill(TTL)))).toHaveLength(255);
  });

  test("what is no list", () => {
    for (const bad of [null, undefined, 8, "ff", new ArrayBuffer(8), new BigUint64Array(1)]) {
      expect(() => program(bad as unknown as ModifyActions)).toThrow(TypeError);
    }
    expect(() => program([5] as unknown as ModifyActions)).toThrow(TypeError);
    expect(() => program([TTL], RX, "8" as unknown as number)).toThrow(TypeError);
    expect(refusal([2n ** 64n])).toBe("EINVAL out_of_range actions[0]");
    expect(refusal([-1n])).toBe("EINVAL out_of_range actions[0]");
  });

  test("a domain with its root table alone", () => {
    const only = { ...FDB, rootOnly: true };
    expect(refusal([TTL], only)).toBe("EOPNOTSUPP root_only flags");
    expect(refusal([TTL], { ...only, rootLevel: true })).toBeUndefined();
    // Sizes are checked first.
    expect(refusal(new Uint8Array(9), only)).toBe("EINVAL bad_modify actions_sz");
  });
});

describe("what both kinds of profile refuse", () => {
  const both = (actions: ModifyActions, setting = RX): string | undefined => {
    const manual = refusal(actions, setting);
    expect(refusal(actions, device(setting))).toBe(manual);
    return manual;
  };

  test("types", () => {
    for (const type of [0n, 4n, 5n, 6n, 7n, 8n, 9n, 15n]) {
      expect(both([add("OUT_IP_TTL"), (type << 60n) | 1n])).toBe("EOPNOTSUPP unsupported actions[1].type");
    }
    expect(both([{ type: "nop" }])).toBe("EOPNOTSUPP unsupported actions[0].type");
    // Actions of a root table go to the firmware, which has a single errno.
    expect(refusal([{ type: "nop" }], device(RX, true))).toBe("EINVAL unsupported actions[0].type");
  });

  test("fields without a row", () => {
    for (const id of [0, 0x18, 0x30, 0x4a, 0x5e, 0x74, 0x8f, 0xfff]) {
      expect(both([set(id, 1, { length: 1 })])).toBe("EINVAL bad_field actions[0].field");
    }
    expect(both([(3n << 60n) | (0x51n << 48n) | (1n << 32n) | (0x4an << 16n)])).toBe("EINVAL bad_field actions[0].to");
  });

  test("bits behind the end of every field", () => {
    for (const { name, width, domain, swSteering } of modifyFields()) {
      const setting = domain === "nic_tx" ? TX : RX;
      const ask = swSteering ? both : refusal;
      const ends = (offset: number, length: number): boolean => {
        const asked = [
          ask([set(name, 0, { offset, length })], setting),
          ask([copy(name, name, { src_offset: offset, length, dst_offset: 0 })], setting),
          ask([copy(name, name, { src_offset: 0, length, dst_offset: offset })], setting),
        ];
        const bad = "EINVAL bad_modify actions[0].";
        const first = length > width ? "src_offset" : "dst_offset";
        const want = [`${bad}offset`, `${bad}src_offset`, `${bad}${first}`];
        expect(asked, name).toEqual(asked[0] === undefined ? [undefined, undefined, undefined] : want);
        return asked[0] === undefined;
      };
      expect(ends(0, width)).toBe(true);
      expect(ends(width - 1, 1)).toBe(true);
      expect(ends(1, width)).toBe(false);
      if (width < 32) expect(ends(0, 32)).toBe(false);
      if (width < 32) expect(ends(width, 1)).toBe(false);
    }
  });

  test("registers of another domain", () => {
    const wanted = (name: string, setting: ActionSetting, ok: boolean): void => {
      const refusals = [
        both([set(name)], setting),
        both([copy(name, "METADATA_REG_C_0")], setting),
        both([copy("METADATA_REG_C_0", name)], setting),
        refusal([add(name)], setting),
      ];
      const bad = "EINVAL bad_modify actions[0].";
      expect(refusals).toEqual(
        ok ? refusals.map(() => undefined) : ["field", "field", "to", "field"].map((at) => bad + at),
      );
    };
    for (const setting of [RX, TX, FDB]) {
      wanted("METADATA_REG_A", setting, setting === TX);
      wanted("METADATA_REG_B", setting, setting === RX);
    }
  });
});

describe("what devices refuse besides", () => {
  const nic = device(RX);

  test("fields that their direct rules do not know", () => {
    for (const { name, swSteering, domain } of modifyFields()) {
      const setting = domain === "nic_tx" ? TX : RX;
      for (const rootLevel of [false, true]) {
        const own = device(setting, rootLevel);
        const wanted = (path: string): string | undefined =>
          swSteering ? undefined : `EINVAL bad_modify actions[0].${path}`;
        expect(refusal([set(name)], own)).toBe(wanted("field"));
        expect(refusal([copy("METADATA_REG_C_0", name)], own)).toBe(wanted("to"));
      }
      expect(refusal([set(name), add(name), copy(name, "METADATA_REG_C_0")], setting)).toBeUndefined();
    }
  });

  test("additions but to four fields, and in root tables registers", () => {
    const takes = (setting: ActionSetting): string[] =>
      modifyFields()
        .map(({ name }) => name)
        .filter((name) => refusal([add(name)], setting) === undefined);
    const four = ["OUT_IP_TTL", "OUT_IPV6_HOPLIMIT", "OUT_TCP_SEQ_NUM", "OUT_TCP_ACK_NUM"];
    expect(takes(nic)).toEqual(four);
    const registers = ["B", "C_0", "C_1", "C_2", "C_3", "C_4", "C_5"].map((name) => `METADATA_REG_${name}`);
    expect(takes(device(RX, true))).toEqual([...four, ...registers]);
    expect(refused(() => program([add("OUT_TCP_SPORT")], nic))?.hint).toContain(four.join(", "));
  });

  test("destinations of two IP versions, or of two protocols", () => {
    const l3 = [set("OUT_SIPV4"), set("OUT_DIPV6_31_0")];
    const l4 = [set("OUT_TCP_SPORT"), set("OUT_UDP_SPORT")];
    expect(refusal(l3, nic)).toBe("ENOTSUP bad_modify actions[1].field");
    expect(refusal(l4, nic)).toBe("EINVAL bad_modify actions[1].field");
    expect(refusal([...l4, ...l3], nic)).toBe("EINVAL bad_modify actions[1].field");
    expect(refusal([copy("METADATA_REG_C_0", "OUT_SIPV4"), add("OUT_IPV6_HOPLIMIT")], nic)).toBe(
      "ENOTSUP bad_modify actions[1].field",
    );
    expect(refusal([set("OUT_SIPV4"), copy("METADATA_REG_C_0", "OUT_SIPV6_31_0")], nic)).toBe(
      "ENOTSUP bad_modify actions[1].to",
    );
    // Each action is checked completely before the next one.
    expect(refusal([...l3, set(0xfff)], nic)).toBe("ENOTSUP bad_modify actions[1].field");
    expect(refusal([set("OUT_SIPV4"), set("OUT_DIPV6_31_0", 0, { offset: 1, length: 32 })], nic)).toBe(
      "EINVAL bad_modify actions[1].offset",
    );
    // Sources, fields of both versions, and numbers of TCP can be combined with everything.
    const free = [set("OUT_UDP_SPORT"), add("OUT_TCP_SEQ_NUM"), set("OUT_IP_DSCP"), set("OUT_DIPV4")];
    expect(refusal([...free, copy("OUT_SIPV6_31_0", "METADATA_REG_C_0")], nic)).toBeUndefined();
    for (const setting of [RX, device(RX, true)]) expect(refusal([...l3, ...l4], setting)).toBeUndefined();
  });

  test("the first action that is wrong, its type and domain before its field and length", () => {
    const late = [set("OUT_IP_TTL", 0, { offset: 7, length: 2 }), (6n << 60n) | 1n];
    expect(refusal(late, nic)).toBe("EINVAL bad_modify actions[0].offset");
    expect(refusal([copy("IN_SIPV4", "METADATA_REG_A", { length: 32 })], nic)).toBe("EINVAL bad_modify actions[0].to");
  });
});

describe("programs", () => {
  test("bits are counted from the head of the header", () => {
    expect(
      instructions(
        program([
          set("OUT_SMAC_47_16", 0x01020304),
          set("OUT_IP_DSCP", 0xff),
          set("OUT_IP_DSCP", 0xff, { offset: 1, length: 2 }),
          set("OUT_TCP_FLAGS", 1, { offset: 8, length: 1 }),
          set("OUT_FIRST_VID", 0x123, { length: 12 }),
        ]),
      ),
    ).toEqual([
      [1, 32, Place.ethernet, 0, 48, 48, 0, 0, 0x01020304],
      [1, 6, Place.ip, 0, 8, 4, 0, 0, 0x3f],
      [1, 2, Place.ip, 0, 11, 7, 0, 0, 3],
      [1, 1, Place.tcp, 0, 103, 103, 0, 0, 1],
      [1, 12, Place.vlan, 0, 4, 4, 0, 0, 0x123],
    ]);
  });

  test("additions are of whole fields, modulo their width", () => {
    expect(instructions(program([add("OUT_IP_TTL", 0x1ff), add("IN_TCP_SEQ_NUM", 0xffffffff)]))).toEqual([
      [2, 8, Place.ipv4, 0, 64, 64, 0, 0, 0xff],
      [2, 32, Place.tcp + PLACE_INNER, 0, 32, 32, 0, 0, 0xffffffff],
    ]);
  });

  test("copies have two sides, and no data", () => {
    const mixed = copy("METADATA_REG_A", "OUT_IP_ECN", { src_offset: 31, length: 1, dst_offset: 1 });
    expect(instructions(program([mixed, copy("OUT_IP_ECN", "GTPU_TEID")], TX))).toEqual([
      [3, 1, Place.ip, Place.register + REGISTER_A, 14, 10, 0, 0, 0],
      [3, 2, Place.gtpu, Place.ip, 62, 62, 14, 10, 0],
    ]);
  });
});
