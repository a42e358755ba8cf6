/**
 * Checks the table of fields against test/vectors/match-params.json, with complete addresses; every
 * presence bit and position is unique.
 */
import { expect, test } from "vitest";
import { DEVICE_KEY_SIZE, GROUP_SIZE, KEY_SIZE } from "../../../src/abi/key.js";
import { createDevice } from "../../../src/index.js";
import {
  FIELDS,
  fieldAtBit,
  fieldNamed,
  fieldsOf,
  nearestFields,
  readField,
  writeField,
} from "../../../src/model/match/fields.js";
import table from "../../vectors/match-params.json" with { type: "json" };

type Row = [group: string, name: string, bit: number, width: number, reserved: boolean];
const ROWS = table.fields as Row[];

/** Parts of the table with one name here: the rows that form it, in order. */
const WHOLE: Record<string, string[]> = {
  smac: ["smac_47_16", "smac_15_0"],
  dmac: ["dmac_47_16", "dmac_15_0"],
  ipv6_src: ["src_ip_127_96", "src_ip_95_64", "src_ip_63_32", "src_ip_31_0"],
  ipv6_dst: ["dst_ip_127_96", "dst_ip_95_64", "dst_ip_63_32", "dst_ip_31_0"],
  ipv4_src: ["src_ip_31_0"],
  ipv4_dst: ["dst_ip_31_0"],
  gre_key: ["gre_key_h", "gre_key_l"],
};

test("every row of the table has its field, at its bits", () => {
  const covered = new Set<string>();
  for (const field of FIELDS) {
    const [group, name] = field.name.split(".") as [string, string];
    if (group === "ext") continue;
    const rows = (WHOLE[name] ?? [name]).map((part) => ROWS.find((row) => row[0] === group && row[1] === part));
    expect(rows, field.name).not.toContain(undefined);
    const known = rows as Row[];
    expect([field.name, field.bit, field.width]).toEqual([
      field.name,
      known[0]?.[2],
      known.reduce((sum, row) => sum + row[3], 0),
    ]);
    for (const row of known) covered.add(`${row[0]}.${row[1]}`);
  }
  const missing = ROWS.filter((row) => !row[4] && !covered.has(`${row[0]}.${row[1]}`)).map(
    (row) => `${row[0]}.${row[1]}`,
  );
  expect(missing).toEqual([]);
});

test("ext lies behind the device format and fields do not overlap there", () => {
  const ext = FIELDS.filter((field) => field.name.startsWith("ext."));
  expect(ext.length).toBeGreaterThan(2);
  for (const field of ext) {
    expect(field.bit).toBeGreaterThanOrEqual(DEVICE_KEY_SIZE * 8);
    expect(field.bit + field.width).toBeLessThanOrEqual(KEY_SIZE * 8);
  }
});

test("a field written is the field read, and its neighbours stay", () => {
  for (const field of FIELDS) {
    for (const background of [0x00, 0xff]) {
      const key = new Uint8Array(KEY_SIZE).fill(background);
      const value = 0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5an & ((1n << BigInt(field.width)) - 1n);
      writeField(key, field, value);
      expect(readField(key, field)).toBe(value);
      writeField(key, field, background === 0 ? 0n : (1n << BigInt(field.width)) - 1n);
      expect(key.every((byte) => byte === background)).toBe(true);
    }
  }
});

test("names and places are found", () => {
  expect(fieldNamed("outer.ipv4_dst")?.bit).toBe(480);
  expect(fieldNamed("ipv4_dst")).toBeUndefined();
  expect(nearestFields("ipv4_dst")).toEqual(["outer.ipv4_dst", "inner.ipv4_dst"]);
  expect(nearestFields("vni")).toEqual(["misc.vxlan_vni", "misc.geneve_vni", "misc3.outer_vxlan_gpe_vni"]);
  expect(nearestFields("outer.tcp_dprt")).toEqual(["outer.tcp_dport"]);
  expect(nearestFields("nothing like it at all")).toEqual([]);
  expect(fieldAtBit(480)).toBe("outer.ipv4_dst");
  expect(fieldAtBit(400)).toBe("outer.ipv6_dst");
  expect(fieldAtBit(200)).toBe("bit 200 (reserved)");
});

test("fields of the way are always present, and only ids of samples are in no key", () => {
  const way = FIELDS.filter((field) => field.ofWay);
  const registers = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `misc2.metadata_reg_c_${n}`);
  const source = ["vhca_port", "sqn", "eswitch_owner_vhca_id", "port"].map((name) => `misc.source_${name}`);
  const names = [...registers, "misc2.metadata_reg_a", ...source, "misc.outer_emd_tag", "ext.direction"];
  expect(way.map(({ name }) => name).sort()).toEqual(names.sort());
  expect(way.filter(({ here, filled }) => here !== null || !filled)).toEqual([]);
  const ids = FIELDS.filter(({ filled }) => !filled).map(({ name }) => name);
  expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((n) => `misc4.prog_sample_field_id_${n}`));
});

test("a parsed frame tells nothing of a way that it has not gone", async () => {
  const device = await createDevice();
  const fields = device.parseBatch([new Uint8Array(64)])[0]?.fields ?? {};
  expect(fields).toMatchObject({ "outer.ethertype": 0, "ext.port": 1 });
  expect(Object.keys(fields).filter((name) => fieldNamed(name)?.ofWay)).toEqual([]);
});

test("each field lies in one group of the key", () => {
  const groups = Array.from({ length: KEY_SIZE / GROUP_SIZE }, (_, group) => fieldsOf(group));
  expect(groups.flat()).toEqual(FIELDS);
  for (const [group, fields] of groups.entries()) {
    for (const { name, bit, width } of fields) {
      expect(bit, name).toBeGreaterThanOrEqual(group * GROUP_SIZE * 8);
      expect(bit + width, name).toBeLessThanOrEqual((group + 1) * GROUP_SIZE * 8);
    }
  }
});
