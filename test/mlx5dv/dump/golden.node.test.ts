/**
 * Compares a dump with the output of the public steering dump tool (scripts/golden-dump.mjs): the
 * dump is unchanged, and the tool parsed it.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openScene, readDump, sceneText } from "../support/dumpScene.js";

const golden = (name: string): string => readFileSync(new URL(`../../golden/dump/${name}`, import.meta.url), "utf8");
const DUMP = golden("scene.csv");
const TREE = golden("tree.txt");
/** Lines of the tree that start with a word, without that word. */
const lines = (word: string): string[] =>
  [...TREE.matchAll(new RegExp(`^ *${word} (.*)$`, "gm"))].map(([, rest]) => rest!);

test("the dump is the one that the tool has read", async () => {
  expect(sceneText(await openScene())).toBe(DUMP);
});

test("the tool reads all objects", () => {
  const records = readDump(DUMP);
  for (const [word, type] of [
    ["domain", 3000],
    ["table", 3100],
    ["matcher", 3200],
    ["rule", 3300],
    ["vport:", 3003],
  ] as const) {
    const ids = records.filter((one) => one.type === type).map(({ columns }) => columns[type === 3003 ? 1 : 0]);
    const read = lines(word).map((rest) => /^(?:index )?(\w+)/.exec(rest)![1]);
    expect(read, word).toEqual(ids);
  }
  expect(TREE).not.toMatch(/unsupported|^Err|\bNone\b/im);
  expect(lines("table").map((rest) => /type: (\w+)/.exec(rest)![1])).toEqual([
    ...["NIC_RX", "ROOT", "NIC_RX", "NIC_RX"],
    ...["NIC_TX", "ROOT", "FDB", "ROOT"],
  ]);
});

test("the tool reads the mask that the matcher has", () => {
  expect(
    lines("mask:")
      .find((mask) => mask.startsWith("dmac"))!
      .split(", "),
  ).toEqual([
    ...["dmac: 0xffffff0000ff", "first_vid: 0xfff", "ip_version: 0xf", "udp_dport: 0xffff", "dst_ip: 0xffff0000"],
    ...["inner_ip_version: 0xf", "inner_tcp_flags: 0x1ff", "inner_src_ip: 0xffffffff000000000000000000000000"],
    ...["gre_key_l: 0xff", "gre_key_h: 0xffffff", "vxlan_vni: 0xffffff", "metadata_reg_c_2: 0x000000ff"],
    ...["outer_tcp_seq_num: 0xffffffff", "prog_sample_field_value_3: 0xffffffff", "prog_sample_field_id_3: 0x00000003"],
    "tunnel_header_1: 0xffffffff",
  ]);
  expect(lines("mask:").filter((mask) => mask === "source_port: 0xffff")).toHaveLength(2);
});

test("the tool reads the actions", () => {
  const text = [...TREE.matchAll(/^ +(?:action: )?([A-Z_]{2,}.*?)[ ,]*$/gm)].map(
    ([, action]) => action!.split(/[ ,(]/)[0],
  );
  const first = ["TAG", "MODIFY_HDR", "CTR", "QP"];
  const tunnels = ["DECAP_L2", "DECAP_L3", "POP_VLAN", "PUSH_VLAN", "ENCAP_L2", "ENCAP_L3", "DROP"];
  const state = ["SAMPLER", "ASO", "ASO", "ASO", "METER"];
  // Of matchers of equal priority the newer one is first; in root tables the older one.
  expect(text).toEqual([
    ...[...state, ...tunnels, ...first, "FT"],
    ...["ROOT", "DEFAULT", "FT", "DEST_ARRAY", "VPORT", "VPORT", "FT"],
  ]);
});
