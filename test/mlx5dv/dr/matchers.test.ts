/**
 * Refusals of matchers and values, by profile and by table: those of the manual page, rdma-core and
 * the kernel. Matching is tested in matcherFields.test.ts.
 */
import { describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Table } from "../../../src/model/table/domain.js";
import type { MatchFields } from "../../../src/model/match/match.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import { Rule } from "../../../src/model/rule/rule.js";
import { buildFrame } from "../../../src/packet/index.js";
import { criteriaOf, deviceBytes, ones, row } from "../support/deviceBytes.js";
import { openBench, refused, type Bench } from "../support/directRules.js";

type Fields = Readonly<Record<string, bigint | number>>;

const CONNECTX = ["connectx5", "connectx6dx", "connectx7", "connectx8"];
const PROFILES = ["manual", ...CONNECTX];
const SAMPLES = [0, 1].map((id) => ({ id, header: "udp", level: "outer", offset: 8 + 4 * id }) as const);
const PARSER = { geneveOption0: { class: 1, type: 2 }, samples: SAMPLES };

interface Tables extends Bench {
  table: Table;
}

async function open(profile: string): Promise<Tables> {
  const bench = await openBench({ profile, parser: PARSER });
  return { ...bench, table: dv.mlx5dv_dr_table_create(bench.domain, 1) };
}

const full = (name: string): bigint => ones(row(name));
/** Fields, each with a full mask. */
const all = (...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, full(name)]));

const matcher = (table: Table, mask: Fields, criteria = criteriaOf(mask), priority = 0) =>
  dv.mlx5dv_dr_matcher_create(table, priority, criteria, deviceBytes(mask));

/** The errno of a matcher, and its number; "" if it is created. */
const asking = (table: Table, mask: Fields, criteria = criteriaOf(mask)): string =>
  refused(() => matcher(table, mask, criteria))?.code ?? "";

/** The errno of a rule with this value under this mask. */
const saying = (table: Table, mask: Fields, value: Fields, criteria = criteriaOf(mask)): string => {
  const made = matcher(table, mask, criteria);
  return refused(() => dv.mlx5dv_dr_rule_create(made, deviceBytes(value), 0, []))?.code ?? "";
};

describe.each(PROFILES)("%s", (profile) => {
  const manual = profile === "manual";
  const older = profile === "connectx5";
  const unless = (made: boolean, code: string): string => (made ? "" : code);

  test("criteria name seven groups; the kernel looks when a rule is made", async () => {
    const { root, table } = await open(profile);
    expect(asking(table, {}, 0x80)).toBe("EINVAL");
    expect(asking(root, {}, 0x80)).toBe(unless(!manual, "EINVAL"));
    if (!manual) expect(saying(root, {}, {}, 0x80)).toBe("EINVAL");
    expect(asking(table, {}, 0)).toBe("");
    expect(refused(() => dv.mlx5dv_dr_matcher_create(table, 0, 0x100, null))?.code).toBe("EINVAL");
  });

  test("match_sz", async () => {
    const { root, table } = await open(profile);
    const byLibrary = unless(manual, "EINVAL");
    const mask = (to: Table, size: number): string =>
      refused(() => dv.mlx5dv_dr_matcher_create(to, 0, 0, new Uint8Array(size)))?.code ?? "";
    expect([0, 1, 448, 449].map((size) => mask(table, size))).toEqual(["", "", "", byLibrary]);
    // The kernel's structure is longer by one group; it refuses an empty one.
    expect([0, 1, 512, 513].map((size) => mask(root, size))).toEqual([byLibrary, "", "", byLibrary]);

    const value = (to: Table, size: number): string => {
      const made = dv.mlx5dv_dr_matcher_create(to, 0, 0, new Uint8Array(64));
      return refused(() => dv.mlx5dv_dr_rule_create(made, new Uint8Array(size), 0, []))?.code ?? "";
    };
    expect([0, 4, 6, 448, 452].map((size) => value(table, size))).toEqual(["", "", byLibrary, "", byLibrary]);
    expect([0, 4, 6, 511, 512, 516].map((size) => value(root, size))).toEqual([byLibrary, "", "", "", "", byLibrary]);
    // No more than the buffer has.
    const long = { match_sz: 65, match_buf: new Uint8Array(64) };
    expect(refused(() => dv.mlx5dv_dr_matcher_create(table, 0, 1, long))?.code).toBe("EINVAL");
  });

  test("ip_version is masked by 4 or 6, and by bits in the kernel's tables", async () => {
    const { root, table } = await open(profile);
    for (const level of ["outer", "inner"]) {
      const name = `${level}.ip_version`;
      const codes = (to: Table): string[] => [0, 4, 6, 5, 15].map((bits) => asking(to, { [name]: bits }, 5));
      const any = manual ? "" : "EOPNOTSUPP";
      // ConnectX-5 refuses a matcher of two groups without a mask.
      expect(codes(table)).toEqual([unless(!older, "EINVAL"), "", "", manual ? "EINVAL" : any, any]);
      expect(codes(root)).toEqual(manual ? ["", "", "", "EINVAL", ""] : ["", "", "", "", ""]);
      // Groups that are left out are not checked.
      expect(asking(table, { [name]: 5 }, 0)).toBe("");
    }
  });

  test("a value repeats ip_version", async () => {
    const { root, table } = await open(profile);
    for (const name of ["outer.ip_version", "inner.ip_version"]) {
      const code = (to: Table, mask: number, value: number): string => saying(to, { [name]: mask }, { [name]: value });
      expect([4, 6].map((version) => code(table, version, version))).toEqual(["", ""]);
      const other = manual ? "EINVAL" : "EOPNOTSUPP";
      expect([code(table, 4, 0), code(table, 6, 4), code(table, 6, 0)]).toEqual([other, other, other]);
      // Bits are compared first.
      expect(code(table, 4, 6)).toBe("EINVAL");
      expect([code(root, 4, 0), code(root, 6, 4)]).toEqual(manual ? ["EINVAL", "EINVAL"] : ["", ""]);
      expect(code(root, 4, 6)).toBe("EINVAL");
    }
  });

  test("source_port is masked whole, and names a vport", async () => {
    const { root, table } = await open(profile);
    const name = "misc.source_port";
    expect([0xff, 0xfffe].map((bits) => asking(table, { [name]: bits }))).toEqual(
      Array(2).fill(unless(manual, "ENOTSUP")),
    );
    expect(asking(table, all(name))).toBe("");
    expect(asking(root, { [name]: 0xff })).toBe("");
    const port = (value: number): string => saying(table, all(name), { [name]: value });
    expect([0, 0xffff, 1].map(port)).toEqual(["", "", unless(manual, "EINVAL")]);
  });

  test("criteria that mask nothing", async () => {
    const { root, table } = await open(profile);
    expect([1, 0x7f].map((bits) => asking(table, {}, bits))).toEqual(Array(2).fill(unless(!older, "EINVAL")));
    expect([1, 0x7f].map((bits) => asking(root, {}, bits))).toEqual(["", ""]);
  });

  test("reserved bits are refused, but not in a group that is left out", async () => {
    const { root, table } = await open(profile);
    for (const to of [root, table]) {
      const mask = deviceBytes({ "outer.dmac_47_16": 1 });
      mask[24] = 1;
      const code = (criteria: number) => refused(() => dv.mlx5dv_dr_matcher_create(to, 0, criteria, mask))?.code;
      expect([code(1), code(0)]).toEqual(["EOPNOTSUPP", undefined]);
    }
  });

  test("fields that steering entries do not have", async () => {
    const { root, table } = await open(profile);
    const never = [
      "source_vhca_port",
      "source_eswitch_owner_vhca_id",
      "outer_emd_tag",
      "outer_esp_spi",
      "inner_esp_spi",
    ];
    const names = [...never.map((name) => `misc.${name}`), ...[0, 1, 2, 3].map((n) => `misc5.macsec_tag_${n}`)];
    for (const name of names) {
      expect([name, asking(table, all(name))]).toEqual([name, unless(manual, "EOPNOTSUPP")]);
      expect([name, asking(root, all(name))]).toEqual([name, ""]);
    }
    for (const level of ["outer", "inner"]) {
      for (const bit of ["l3_ok", "l4_ok", "ipv4_checksum_ok", "l4_checksum_ok"]) {
        expect(asking(table, all(`${level}.${bit}`))).toBe(unless(!older, "EOPNOTSUPP"));
      }
    }
  });

  test("one tunnel kind, one ICMP, one MPLS", async () => {
    const { root, table } = await open(profile);
    const kinds = [
      ["misc3.outer_vxlan_gpe_vni", "misc3.outer_vxlan_gpe_next_protocol", "misc3.outer_vxlan_gpe_flags"],
      ["misc.geneve_vni", "misc.geneve_oam", "misc.geneve_opt_len", "misc.geneve_protocol_type"],
      ["misc3.gtpu_teid", "misc3.gtpu_msg_type", "misc3.gtpu_msg_flags", "misc3.gtpu_dw_0", "misc3.gtpu_dw_2"],
      ["misc5.tunnel_header_0", "misc5.tunnel_header_1"],
    ];
    for (const [i, kind] of kinds.entries()) {
      expect(asking(table, all(...kind))).toBe("");
      for (const other of kinds.slice(i + 1)) {
        for (const one of kind) expect(asking(table, all(one, other[0] as string))).toBe(unless(manual, "EOPNOTSUPP"));
        for (const one of other) expect(asking(table, all(kind[0] as string, one))).toBe(unless(manual, "EOPNOTSUPP"));
        expect(asking(root, all(kind[0] as string, other[0] as string))).toBe("");
      }
    }
    const beside = ["misc.vxlan_vni", "misc.gre_protocol", "misc3.outer_tcp_seq_num", "misc.bth_opcode"];
    for (const kind of kinds) expect(asking(table, all(kind[0] as string, ...beside))).toBe("");
    const icmp = ["type", "code", "header_data"];
    for (const v4 of icmp) {
      for (const v6 of icmp) {
        expect(asking(table, all(`misc3.icmp_${v4}`, `misc3.icmpv6_${v6}`))).toBe(unless(manual, "EOPNOTSUPP"));
      }
    }
    const mpls = (over: string): string => `misc2.outer_first_mpls_over_${over}_label`;
    expect(asking(table, all(mpls("gre"), mpls("udp")))).toBe(unless(manual, "EOPNOTSUPP"));
    expect(asking(table, all("misc2.outer_first_mpls_label", "misc2.inner_first_mpls_ttl", mpls("udp")))).toBe("");
  });

  test("what lies above L2, and the IP version that it takes", async () => {
    const { root, table } = await open(profile);
    const either = ["ip_protocol", "ip_dscp", "ip_ecn", "ip_ttl_hoplimit", "tcp_flags", "tcp_sport", "udp_dport"];
    const versions: Record<string, readonly number[]> = {
      ...Object.fromEntries([...either, "src_ip_31_0", "dst_ip_31_0"].map((name) => [name, [4, 6]])),
      ...Object.fromEntries(["src_ip_127_96", "dst_ip_63_32"].map((name) => [name, [6]])),
      ipv4_ihl: [4],
      ipv6_flow_label: [6],
    };
    for (const level of ["outer", "inner"]) {
      for (const [bare, taken] of Object.entries(versions)) {
        const name = bare === "ipv6_flow_label" ? `misc.${level}_${bare}` : `${level}.${bare}`;
        for (const version of [0, 4, 6]) {
          const mask = { ...all(name), [`${level}.ip_version`]: version };
          expect([name, version, asking(table, mask)]).toEqual([
            name,
            version,
            unless(!older || taken.includes(version), "EOPNOTSUPP"),
          ]);
          expect(asking(root, mask)).toBe("");
        }
      }
      // The version of the other level does not help.
      const other = level === "outer" ? "inner" : "outer";
      expect(asking(table, { ...all(`${level}.tcp_dport`), [`${other}.ip_version`]: 4 })).toBe(
        unless(!older, "EOPNOTSUPP"),
      );
      expect(asking(table, all(`${level}.frag`))).toBe(unless(!older, "EOPNOTSUPP"));
      for (const l2 of ["dmac_15_0", "ethertype", "first_vid", "cvlan_tag"]) {
        expect(asking(table, all(`${level}.frag`, `${level}.${l2}`))).toBe("");
      }
      expect(asking(table, all(`${level}.frag`, `misc.${level}_second_vid`))).toBe("");
      expect(asking(table, { ...all(`${level}.frag`), [`${level}.ip_version`]: 4 })).toBe("");
    }
  });

  test("samples have the ids 0 to 7, those that the device declares", async () => {
    const { table } = await open(profile);
    const sample = (place: number, id: number): string =>
      asking(table, { ...all(`misc4.prog_sample_field_value_${place}`), [`misc4.prog_sample_field_id_${place}`]: id });
    expect([sample(0, 0), sample(7, 1)]).toEqual(["", ""]);
    expect([sample(0, 2), sample(0, 8)]).toEqual(["EOPNOTSUPP", manual ? "EINVAL" : "EOPNOTSUPP"]);
  });

  test("priorities: 16 bits; the kernel has sixteen, and says so when a rule is made", async () => {
    const { root, table } = await open(profile);
    const rule = (to: Table, priority: number): string => {
      const made = matcher(to, {}, 0, priority);
      return refused(() => dv.mlx5dv_dr_rule_create(made, new Uint8Array(4), 0, []))?.code ?? "";
    };
    expect([0, 15, 16, 0xffff].map((priority) => rule(table, priority))).toEqual(["", "", "", ""]);
    const late = unless(manual, "ENOMEM");
    expect([0, 15, 16, 0xffff].map((priority) => rule(root, priority))).toEqual(["", "", late, late]);
    for (const to of [root, table]) expect(refused(() => matcher(to, {}, 0, 0x10000))?.code).toBe("EINVAL");
  });

  test("a value lies inside the mask; groups that are left out are not looked at", async () => {
    const { root, table } = await open(profile);
    for (const to of [root, table]) {
      const mask = { "outer.dmac_47_16": 0xffff_ff00, "misc.vxlan_vni": 0xff };
      const dmac = (value: number): string => saying(to, mask, { "outer.dmac_47_16": value });
      expect([dmac(0x0102_0300), dmac(0x0102_0301)]).toEqual(["", "EINVAL"]);
      expect(saying(to, mask, { "outer.smac_15_0": 1 })).toBe("EINVAL");
      expect(saying(to, mask, { "outer.smac_15_0": 1, "misc2.metadata_reg_c_0": 1 }, 2)).toBe("");
      expect(saying(to, mask, { "misc2.metadata_reg_c_0": 1 }, 3)).toBe("");
    }
  });

  test("a tag is of one kind: a value that asks for both asks ConnectX for cvlan_tag", async () => {
    const { root, table, device } = await open(profile);
    const jump = matcher(root, {}, 0);
    dv.mlx5dv_dr_rule_create(jump, new Uint8Array(4), 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
    const both = { "outer.cvlan_tag": 1, "outer.svlan_tag": 1 };
    const rule = dv.mlx5dv_dr_rule_create(matcher(table, both), deviceBytes(both), 0, []);
    const hits = [0x8100, 0x88a8].map((type) => {
      const frame = buildFrame([{ header: "ethernet", type }, { header: "vlan" }, { header: "ipv4" }]);
      return device.receive(1, frame).rules.includes(rule);
    });
    expect(hits).toEqual([!manual, false]);
  });

  test("matchParameters encodes ip_version for the table", async () => {
    const { root, table } = await open(profile);
    const code = (to: Table, fields: MatchFields, options?: { root: boolean }): string => {
      const { match_criteria_enable, mask, value } = dv.matchParameters(fields, options);
      return (
        refused(() => {
          const made = dv.mlx5dv_dr_matcher_create(to, 0, match_criteria_enable, mask);
          dv.mlx5dv_dr_rule_create(made, value, 0, []);
        })?.code ?? ""
      );
    };
    for (const fields of [
      { "outer.ipv4_dst": "10.0.0.1" },
      { "inner.ipv6_src": "fe80::/64" },
      { "outer.ip_version": 6 },
    ]) {
      expect(code(table, fields)).toBe("");
      expect(code(root, fields, { root: true })).toBe("");
      expect(code(table, fields, { root: true })).toBe(unless(manual, "EOPNOTSUPP"));
      const { mask } = dv.matchParameters(fields, { root: true });
      const level = "inner.ipv6_src" in fields ? 128 : 0;
      expect([mask.match_buf[level + 18], dv.matchParameters(fields).mask.match_buf[level + 18]]).toEqual([
        0x1e,
        "outer.ipv4_dst" in fields ? 8 : 12,
      ]);
    }
  });

  test("masks by name are held to the same list", async () => {
    const { root, table } = await open(profile);
    const named = (to: Table, mask: MatchFields, open = false): string =>
      refused(() => {
        const made = Matcher.named(to, 0, open ? undefined : mask, "m");
        Rule.named(made, Object.fromEntries(Object.keys(mask).map((name) => [name, 1])), []);
      })?.code ?? "";
    for (const isOpen of [false, true]) {
      expect(named(table, { "misc.outer_esp_spi": "full" }, isOpen)).toBe(unless(manual, "EOPNOTSUPP"));
      expect(named(table, { "ext.port": "full" }, isOpen)).toBe(unless(manual, "EOPNOTSUPP"));
      expect(named(table, { "outer.tcp_dport": "full" }, isOpen)).toBe(unless(!older, "EOPNOTSUPP"));
      expect(named(table, { "outer.tcp_dport": "full", "outer.ip_version": "full" }, isOpen)).toBe("");
      expect(named(root, { "ext.port": "full" }, isOpen)).toBe("");
    }
  });

  test("a refused matcher leaves its table as it was", async () => {
    const { root, table, device } = await open(profile);
    const before = device.memoryUsed;
    for (const to of [root, table]) {
      const mask = new Uint8Array(64).fill(0xff);
      expect(refused(() => dv.mlx5dv_dr_matcher_create(to, 0, 1, mask))?.errno).toBe(95);
      expect(to.users).toBe(0);
    }
    expect(device.memoryUsed).toBe(before);
    expect(dv.mlx5dv_dr_table_destroy(table)).toBe(0);
  });
});
