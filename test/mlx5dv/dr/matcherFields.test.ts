/**
 * Every field of test/vectors/match-params.json, all seven groups, through device bytes on built
 * frames: the value found by the reference parser hits, each flipped bit misses, and so does a
 * frame without the header. Under the ConnectX profiles, in a table that is not root: matched, or
 * refused with the errno of rdma-core.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { Device } from "../../../src/index.js";
import type { ParserOptions } from "../../../src/model/base/parser.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Table } from "../../../src/model/table/domain.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { DECLARED } from "../../oracle/generate/frame.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { EVERY_HEADER } from "../../packet/support/everyHeader.js";
import { Asked } from "../support/asked.js";
import { ones, ROWS, valueIn, type Row } from "../support/deviceBytes.js";
import { openBench, refused } from "../support/directRules.js";

interface Frame {
  bytes: Uint8Array;
  found: ReadonlyMap<string, bigint>;
}

const ETHERNET = 1;
const DATA = Uint8Array.from({ length: 24 }, (_, i) => 0xa0 + i);
const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const ipv6 = { header: "ipv6", dscp: 46, ecn: 1, flow_label: 0x12345 } as const;
const udp = { header: "udp" } as const;
const provider = { header: "ethernet", type: 0x88a8 } as const;
const vlans = [
  { header: "vlan", pcp: 5, dei: 1, vid: 0x123 },
  { header: "vlan", pcp: 3, dei: 1, vid: 0x321 },
] as const;

/**
 * Layers missing in built frames of default values: a header inside a tunnel, or a value that is
 * not 0.
 */
const RARE: readonly (readonly Layer[])[] = [
  [provider, ...vlans, { ...ipv4, dscp: 46, ecn: 1 }, { header: "tcp", flags: ["ns", "ack"] }],
  [ethernet, ipv4, udp, { header: "vxlan", vni: 9 }, provider, ...vlans, ipv6, { header: "tcp", sequence: 0x01020304 }],
  [ethernet, ipv6, udp, { header: "vxlan", vni: 9 }, ethernet, ipv4, { header: "esp", spi: 0xabcd }, DATA],
  [ethernet, ipv6, udp, { header: "vxlan", vni: 9 }, ethernet, { header: "mpls", label: 77 }, ipv4, udp, DATA],
  [ethernet, ipv4, udp, { header: "vxlan", vni: 9 }, ethernet, { ...ipv4, flags: "mf" }, udp, DATA],
];

const SAMPLES = (DECLARED.samples ?? []).map((one) => (one.port === undefined ? one : { ...one, port: 6635 }));
const OPTION = { class: 0x0102, type: 0x81 };
const PARSER = { geneveOption0: OPTION, samples: SAMPLES };

function frameOf(layers: readonly Layer[]): Frame {
  const bytes = buildFrame(layers);
  const { fields } = parseReference(bytes, { linkType: ETHERNET, wireLength: bytes.length, parser: PARSER });
  return { bytes, found: fields };
}

const FRAMES: readonly Frame[] = [
  ...EVERY_HEADER.filter(({ linkType }) => linkType === ETHERNET).map(({ layers }) => layers),
  ...RARE,
].map(frameOf);

/** Frames without any of the headers. */
const BARE: Frame = frameOf([ethernet, { header: "arp" }]);

/**
 * Origin of a frame, and registers written by rules: these are not in the frame. Ids of samples are
 * not matched.
 */
const NOT_IN_FRAMES = /\.(source_|metadata_reg_|prog_sample_field_id_|outer_emd_tag)/;
const MATCHED = ROWS.filter(({ name }) => !NOT_IN_FRAMES.test(name));

/** A frame with the field, one with a value other than 0 if there is any. */
function frameWith(one: Row): Frame {
  const having = FRAMES.filter(({ found }) => valueIn(one, found) !== undefined);
  const best = having.find(({ found }) => valueIn(one, found) !== 0n) ?? having[0];
  if (best === undefined) throw new Error(`no frame has ${one.name}`);
  return best;
}

/** The device of a table that frames enter. */
function receiverOf({ device }: Table): Device {
  if (!(device instanceof Device)) throw new Error("no device");
  return device;
}

/** Fields needed beside the matched one: the id of a sample. */
function beside({ name }: Row): Record<string, bigint> {
  const sample = /prog_sample_field_value_(\d)$/.exec(name);
  return sample === null ? {} : { [`misc4.prog_sample_field_id_${sample[1]}`]: BigInt(sample[1] ?? 0) };
}

describe("manual, in the root table", () => {
  let root: Table;
  const send = (bytes: Uint8Array) => () => receiverOf(root).receive(1, bytes);
  beforeAll(async () => {
    ({ root } = await openBench({ parser: PARSER as ParserOptions }));
  });

  test.each(MATCHED.map((one) => [one.name, one] as const))("%s", (_, one) => {
    const { bytes, found } = frameWith(one);
    const value = valueIn(one, found) as bigint;
    // The mask of ip_version is the number itself.
    const version = one.name.endsWith(".ip_version");
    const asked = new Asked(root, one, version ? value : ones(one), beside(one));
    expect(asked.hits(value, send(bytes))).toBe(true);
    for (let bit = 0n; bit < one.width && !version; bit++)
      expect(asked.hits(value ^ (1n << bit), send(bytes))).toBe(false);
    if (valueIn(one, BARE.found) === undefined && !version) expect(asked.hits(0n, send(BARE.bytes))).toBe(false);
    asked.close();
  });

  test("ip_version takes no other version", () => {
    const [v4, v6] = [4n, 6n].map((version) => FRAMES.find(({ found }) => found.get("outer.ip_version") === version));
    const one = ROWS.find(({ name }) => name === "outer.ip_version") as Row;
    const asked = new Asked(root, one, 4n);
    expect([v4, v6, BARE].map((frame) => asked.hits(4n, send(frame?.bytes as Uint8Array)))).toEqual([
      true,
      false,
      false,
    ]);
    asked.close();
  });
});

/** Fields that rdma-core never matches, and fields that ConnectX-5 does not match. */
const NEVER = /\.(outer_esp_spi|inner_esp_spi|macsec_tag_\d)$/;
const DEFINERS = /\.(l3_ok|l4_ok|ipv4_checksum_ok|l4_checksum_ok|frag)$/;
/** Fields that ConnectX-5 matches only beside ip_version. */
const WITH_VERSION =
  /^(outer|inner)\.(ip_(protocol|dscp|ecn|ttl_hoplimit)|tcp_(flags|sport|dport)|udp_[sd]port|ipv4_ihl|(src|dst)_ip_.*)$|_ipv6_flow_label$/;

describe.each(["connectx5", "connectx6dx", "connectx7", "connectx8"])("%s, behind the root table", (profile) => {
  let table: Table;
  const send = (bytes: Uint8Array) => () => receiverOf(table).receive(1, bytes);
  beforeAll(async () => {
    const { domain, root } = await openBench({ parser: PARSER as ParserOptions, profile });
    table = dv.mlx5dv_dr_table_create(domain, 1);
    const all = dv.mlx5dv_dr_matcher_create(root, 0, 0, new Uint8Array(448));
    dv.mlx5dv_dr_rule_create(all, new Uint8Array(448), 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
  });

  test.each(MATCHED.map((one) => [one.name, one] as const))("%s", (_, one) => {
    const { bytes, found } = frameWith(one);
    const value = valueIn(one, found) as bigint;
    const older = profile === "connectx5";
    if (NEVER.test(one.name) || (older && DEFINERS.test(one.name))) {
      expect(refused(() => new Asked(table, one, ones(one), beside(one)))?.code).toBe("EOPNOTSUPP");
      return;
    }
    const more = beside(one);
    if (older && WITH_VERSION.test(one.name)) {
      expect(refused(() => new Asked(table, one, ones(one), beside(one)))?.code).toBe("EOPNOTSUPP");
      const level = /inner/.test(one.name) ? "inner" : "outer";
      more[`${level}.ip_version`] = found.get(`${level}.ip_version`) as bigint;
    }
    const version = one.name.endsWith(".ip_version");
    const asked = new Asked(table, one, version ? value : ones(one), more);
    expect(asked.hits(value, send(bytes))).toBe(true);
    if (!version) expect(asked.hits(value ^ 1n, send(bytes))).toBe(false);
    asked.close();
  });
});
