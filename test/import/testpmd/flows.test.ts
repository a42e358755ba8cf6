/** testpmd commands: what they become, and where they are refused. */
import { describe, expect, test } from "vitest";
import { importRules, printFinding } from "../../../src/import/index.js";

const OPTIONS = { format: "testpmd", lenient: true, map: { port0: "uplink" } } as const;
/** In the text's own order, without rules of a driver. */
const of = (text: string) => importRules(text, { ...OPTIONS, driver: "none" });
/** The last rule that is not the driver's own. */
const rule = (text: string) =>
  // Items alone: hardware steering does not check the order of layers.
  importRules(text, { ...OPTIONS, driver: "mlx5-pmd-hws" })
    .scenario?.rules?.filter(({ name }) => name.startsWith("port "))
    .at(-1);
const flow = (pattern: string, actions = "drop", attributes = "ingress") =>
  rule(`flow create 0 ${attributes} pattern ${pattern} / end actions ${actions} / end`);
const said = (text: string) => importRules(text, OPTIONS).findings.map(printFinding);

describe("items", () => {
  test.each<[string, Record<string, string | number>]>([
    ["eth", {}],
    ["eth dst is 02:00:00:00:00:01", { "outer.dmac": "02:00:00:00:00:01" }],
    ["eth type is 0x0806", { "outer.ethertype": 0x806 }],
    ["eth type is 0x8100", { "outer.cvlan_tag": 1 }],
    ["eth has_vlan is 1", { "outer.first_vid": "any" }],
    ["eth has_vlan is 0", { "outer.cvlan_tag": 0, "outer.svlan_tag": 0 }],
    ["eth / vlan", { "outer.first_vid": "any" }],
    ["eth / vlan vid is 010", { "outer.first_vid": 8 }],
    ["eth / vlan tci is 0x2005", { "outer.first_prio": 1, "outer.first_cfi": 0, "outer.first_vid": 5 }],
    ["vlan vid is 5 / vlan vid is 6", { "outer.first_vid": 5, "misc.outer_second_vid": 6 }],
    ["vlan inner_type is 0x86dd", { "outer.ethertype": 0x86dd, "outer.first_vid": "any" }],
    ["ipv4", { "outer.ip_version": 4 }],
    ["ipv4 src spec 10.1.2.3 src prefix 8", { "outer.ipv4_src": "10.0.0.0/8", "outer.ip_version": 4 }],
    ["ipv4 tos is 0xb8", { "outer.ip_dscp": 46, "outer.ip_ecn": 0, "outer.ip_version": 4 }],
    ["ipv4 fragment_offset spec 0 fragment_offset mask 0x3fff", { "outer.frag": 0, "outer.ip_version": 4 }],
    ["ipv4 ttl spec 1 ttl last 9 ttl mask 255", { "outer.ip_ttl_hoplimit": "1-9", "outer.ip_version": 4 }],
    [
      "ipv6 flow is 77 hop is 3",
      { "misc.outer_ipv6_flow_label": 77, "outer.ip_ttl_hoplimit": 3, "outer.ip_version": 6 },
    ],
    ["ipv6 / ipv6_frag_ext", { "outer.ip_version": 6, "outer.frag": 1 }],
    ["udp", { "outer.ip_protocol": 17 }],
    ["udp src is 9", { "outer.udp_sport": 9 }],
    ["tcp flags spec 2 flags mask 18", { "outer.tcp_flags": "2/0x12" }],
    ["sctp dst is 9", { "ext.outer_sctp_dport": 9 }],
    ["icmp type is 8 code is 0", { "misc3.icmp_type": 8, "misc3.icmp_code": 0 }],
    ["icmp6_nd_ns", { "misc3.icmpv6_type": 135 }],
    ["esp spi is 5", { "misc.outer_esp_spi": 5 }],
    [
      "udp / vxlan vni is 7 / eth src is 02:00:00:00:00:01",
      { "outer.ip_protocol": 17, "outer.udp_dport": 4789, "misc.vxlan_vni": 7, "inner.smac": "02:00:00:00:00:01" },
    ],
    [
      "ipv4 / ipv4 src is 1.2.3.4",
      { "outer.ip_version": 4, "outer.ip_protocol": 4, "inner.ipv4_src": "1.2.3.4", "inner.ip_version": 4 },
    ],
    ["gre c_bit is 0 / gre_key value is 5", { "misc.gre_c_present": 0, "misc.gre_protocol": "any", "misc.gre_key": 5 }],
    ["nvgre tni is 5", { "misc.gre_key": "1280/0xffffff00", "misc.gre_protocol": 0x6558 }],
    ["mpls label is 5", { "misc2.outer_first_mpls_label": 5 }],
    [
      "udp / mpls s is 1",
      { "outer.ip_protocol": 17, "outer.udp_dport": 6635, "misc2.outer_first_mpls_over_udp_s_bos": 1 },
    ],
    [
      "gre / mpls label is 5 / ipv4",
      { "misc.gre_protocol": "any", "misc2.outer_first_mpls_over_gre_label": 5, "inner.ip_version": 4 },
    ],
    ["geneve vni is 1 optlen is 1", { "misc.geneve_vni": 1, "misc.geneve_opt_len": 1 }],
    ["tag index is 1 data is 5", { "misc2.metadata_reg_c_3": 5 }],
    ["meta data spec 5 data mask 15", { "misc2.metadata_reg_c_1": "5/0xf" }],
    ["integrity level is 2 value is 8", { "inner.l4_ok": 1 }],
    ["void / any / tcp", { "outer.ip_protocol": 6 }],
  ])("%s", (pattern, match) => {
    const asked = flow(pattern)?.match ?? {};
    if (pattern.startsWith("integrity")) expect(asked).toMatchObject(match);
    else expect(asked).toEqual(match);
  });

  // fs_core.c: add_rule_fg, check_conflicting_ftes.
  test("of group 0 for the same frames are one entry of the kernel's, or refused there", () => {
    const flowTo = (actions: string, where = ""): string =>
      `flow create 0 ingress ${where}pattern eth / ipv4 dst is 10.0.0.2 / end actions ${actions} / end\n`;
    const told = (...lines: readonly string[]): readonly string[] =>
      said(lines.join("")).flatMap((line) => /assumed: flow create: (.*)/.exec(line)?.[1] ?? []);
    const [first, second] = [flowTo("queue index 1"), flowTo("queue index 2")];
    expect(told(first, second).join()).toMatch(/one entry of it and the rule of line 1, with the destinations of both/);
    expect(told(first, flowTo("drop"))).toEqual([
      "the kernel refuses it (EEXIST): the rule of line 1 has the same frames, and does not drop them",
    ]);
    expect(told(first, first)).toEqual(["the rule of line 1 does the same"]);
    expect(told(first, "flow destroy 0 rule 0\n", second)).toEqual([]);
    expect(told(flowTo("queue index 1", "group 1 "), flowTo("drop", "group 1 "))).toEqual([]);
    expect(told(first, flowTo("drop", "priority 1 "))).toEqual([]);
  });

  // mlx5_flow_dv.c: flow_dv_translate_item_vxlan and the like.
  test.each([
    ["vxlan", 4789],
    ["vxlan-gpe", 4790],
    ["geneve", 6081],
    ["gtp", 2152],
    ["gtpu", 2152],
    ["esp", 4500],
    ["ib_bth", 4791],
  ])("udp / %s asks for UDP port %d, as mlx5 does where the pattern asks for none", (item, port) => {
    const [udp, own] = ["outer.udp_dport", { ...OPTIONS, lenient: false }];
    const asked = (pattern: string, driver?: "none" | "mlx5-pmd-hws") =>
      importRules(`flow create 0 ingress pattern eth / ipv4 / ${pattern} / end actions drop / end\n`, {
        ...own,
        ...(driver === undefined ? {} : { driver }),
      });
    const { scenario, driver } = asked(`udp / ${item}`);
    expect(scenario?.rules?.[0]?.match?.[udp]).toBe(port);
    expect(driver.find(({ field }) => field === udp)).toMatchObject({ text: item, line: 1 });
    expect(asked(`udp / ${item}`, "mlx5-pmd-hws").scenario?.rules?.[0]?.match?.[udp]).toBe(port);
    expect(asked(`udp / ${item}`, "none").scenario?.rules?.[0]?.match?.[udp]).toBeUndefined();
    expect(asked(`udp src is 9 / ${item}`).scenario?.rules?.[0]?.match?.[udp]).toBe(port);
    expect(asked(`udp dst is ${port} / ${item}`).driver.some(({ field }) => field === udp)).toBe(false);
  });

  test("of UDP and TCP without values compare the IP protocol only, as mlx5 does; without a driver the header", () => {
    const text = "flow create 0 ingress pattern eth / ipv4 / udp / end actions drop / end";
    expect(rule(text)?.match).toEqual({ "outer.ip_version": 4, "outer.ip_protocol": 17 });
    const { scenario } = importRules(text, { ...OPTIONS, driver: "none" });
    expect(scenario?.rules?.[0]?.match).toEqual({ "outer.ip_version": 4, "outer.udp_sport": "any" });
    expect(flow("eth / ipv4 / udp / vxlan / eth / ipv4 / tcp")?.match).toMatchObject({ "inner.ip_protocol": 6 });
  });

  test("with values and no masks compare what the item compares by default, and that is told", () => {
    expect(flow("tcp dst spec 80")?.match).toEqual({ "outer.tcp_sport": 0, "outer.tcp_dport": 80 });
    expect(said("flow create 0 ingress pattern ipv4 / tcp dst spec 80 / end actions drop / end").join()).toContain(
      "src must be 0 too",
    );
    expect(flow("tcp dst spec 80 dst mask 0xffff")?.match).toEqual({ "outer.tcp_dport": 80 });
    expect(flow("tcp dst is 80 src spec 5")?.match).toEqual({ "outer.tcp_dport": 80 });
  });

  test("of ports are for transfer rules", () => {
    const asked = (pattern: string) => flow(pattern, "drop", "transfer")?.match;
    expect(asked("represented_port ethdev_port_id is 2")).toEqual({ "misc.source_port": 2 });
    expect(asked("port_id id is 0 / eth")).toEqual({ "misc.source_port": 65535 });
    expect(asked("port_representor")).toEqual({ "misc.source_port": 0 });
    expect(asked("eth")).toEqual({ "misc.source_port": 65535 });
  });

  test("of a Geneve option declare it", () => {
    const { scenario } = of(
      "flow create 0 ingress pattern geneve / geneve-opt class is 0x102 type is 5 length is 1 data is 0x11223344 / end actions drop / end",
    );
    expect(scenario?.device).toEqual({ parser: { geneveOption0: { class: 0x102, type: 5 } } });
    expect(scenario?.rules?.[0]?.match).toMatchObject({ "misc3.geneve_tlv_option_0_data": 0x11223344 });
  });
});

describe("actions", () => {
  const actions = (text: string, attributes = "ingress") => flow("eth / ipv4 / udp", text, attributes)?.actions;

  test.each<[string, unknown[]]>([
    ["mark id 7 / queue index 3", [{ tag: 7 }, { queue: "queue 3" }]],
    ["flag / drop", [{ tag: 0xffffff }, "drop"]],
    ["count / jump group 2", [{ count: "port 0 flow 0" }, { table: "nic_rx group 2" }]],
    ["of_pop_vlan / drop", ["pop_vlan", "drop"]],
    [
      "of_push_vlan ethertype 0x88a8 / of_set_vlan_vid vlan_vid 5 / of_set_vlan_pcp vlan_pcp 3 / drop",
      [{ push_vlan: { tpid: "0x88a8", pcp: 3, vid: 5 } }, "drop"],
    ],
    ["of_set_vlan_vid vlan_vid 5 / drop", ["drop", { modify: [{ set: "outer.first_vid", to: 5 }] }]],
    ["set_tp_dst port 80 / drop", ["drop", { modify: [{ set: "outer.udp_dport", to: 80 }] }]],
    [
      "set_ipv4_src ipv4_addr 1.2.3.4 / dec_ttl / drop",
      [
        "drop",
        {
          modify: [
            { set: "outer.ipv4_src", to: "1.2.3.4" },
            { add: "outer.ip_ttl_hoplimit", by: -1 },
          ],
        },
      ],
    ],
    [
      "set_tag index 2 data 5 mask 0xff / drop",
      ["drop", { modify: [{ set: "misc2.metadata_reg_c_4", to: "0x5/0xff" }] }],
    ],
    [
      "modify_field op set dst_type ipv4_dst src_type ipv4_src width 32 / drop",
      ["drop", { modify: [{ copy: "outer.ipv4_src", into: "outer.ipv4_dst", bits: 32 }] }],
    ],
    [
      "modify_field op sub dst_type ipv4_ttl src_type value src_value 02 width 8 / drop",
      ["drop", { modify: [{ add: "outer.ip_ttl_hoplimit", by: -2 }] }],
    ],
    [
      "modify_field op set dst_type tag dst_level 1 src_type value src_value 01020304 width 32 / drop",
      ["drop", { modify: [{ set: "misc2.metadata_reg_c_3", to: 0x04030201 }] }],
    ],
  ])("%s", (text, expected) => {
    const sorted = (list: readonly unknown[] = []) => list.map((one) => JSON.stringify(one)).sort();
    expect(sorted(actions(text))).toEqual(sorted(expected));
  });

  test("of the eSwitch", () => {
    expect(actions("represented_port ethdev_port_id 0", "transfer")).toEqual([{ vport: "uplink" }]);
    expect(actions("port_id id 2", "transfer")).toEqual([{ vport: 2 }]);
    expect(actions("port_representor port_id 0", "transfer")).toEqual([{ vport: 0 }]);
  });

  test("that the device executes in another order go into a table of their own", () => {
    const { scenario } = of(
      "set vxlan ip-version ipv4 vni 4 udp-src 1 udp-dst 4789 ip-src 1.1.1.1 ip-dst 2.2.2.2 eth-src 02:00:00:00:00:01 eth-dst 02:00:00:00:00:02\n" +
        "flow create 0 egress pattern eth / end actions vxlan_encap / set_ttl ttl_value 9 / end",
    );
    expect(scenario?.rules?.map(({ actions: all }) => all)).toEqual([
      [
        {
          reformat: {
            type: "l2_to_l2_tunnel",
            data:
              "0200000000020200000000010800" +
              "45000000000000004011000001010101" +
              "02020202" +
              "000112b500000000" +
              "0800000000000400",
          },
        },
        { table: "port 0 flow 0 step 2" },
      ],
      [{ modify: [{ set: "outer.ip_ttl_hoplimit", to: 9 }] }],
    ]);
  });

  test("of raw headers take tunnels off and put them on", () => {
    const { scenario, findings } = of(
      [
        "set raw_decap 0 eth / end_set",
        "set raw_decap 1 eth / ipv4 / gre / end_set",
        "set raw_encap 0 eth dst is 02:00:00:00:00:02 type is 0x0800 / end_set",
        "set raw_encap 1 eth / ipv4 src is 1.1.1.1 ttl is 9 / gre protocol is 0x800 / end_set",
        "flow create 0 ingress pattern eth / ipv4 / end actions raw_decap index 0 / raw_encap index 1 / drop / end",
        "flow create 0 ingress pattern eth / ipv4 / gre / end actions raw_decap index 1 / raw_encap index 0 / drop / end",
        "flow create 0 ingress pattern eth / ipv4 / gre / eth / end actions raw_decap index 1 / drop / end",
      ].join("\n"),
    );
    expect(findings).toEqual([]);
    expect(scenario?.rules?.map(({ actions: [first] = [] }) => first)).toEqual([
      {
        reformat: {
          type: "l2_to_l3_tunnel",
          data: "0000000000000000000000000800" + "450000000000000009" + "2f0000" + "0101010100000000" + "00000800",
        },
      },
      { reformat: { type: "l3_tunnel_to_l2", data: "0200000000020000000000000800" } },
      { reformat: { type: "l2_tunnel_to_l2" } },
    ]);
  });

  test("rss makes a TIR for each IP version and protocol that the types tell apart", () => {
    const { scenario } = of(
      "flow create 0 ingress pattern eth / end actions rss types ip tcp end queues 0 1 end / end",
    );
    expect(scenario?.rules?.map(({ name }) => name)).toEqual([
      ...["ipv4 tcp", "ipv4", "ipv6 tcp", "ipv6", "not IP"].map((kind) => `driver: rss 1 ${kind}`),
      "port 0 flow 0",
    ]);
    expect(scenario?.tirs?.map(({ rx_hash_field_selector_outer: outer }) => outer?.selected_fields.length)).toEqual([
      4, 2, 4, 2,
    ]);
    expect(flow("eth", "rss queues 3 end")?.actions).toEqual([{ queue: "queue 3" }]);
    expect(
      of("flow create 0 ingress pattern eth / ipv4 / end actions rss queues 0 1 2 end / end").scenario?.rqts?.[0]
        ?.queues.length,
    ).toBe(512);
  });

  test("meter and sample go on in a table of their own", () => {
    const { scenario, findings } = of(
      [
        "add port meter profile trtcm_rfc2698 0 1 1000 2000 300 400 1",
        "add port meter policy 0 2 g_actions passthru / end y_actions queue index 5 / end r_actions drop / end",
        "create port meter 0 3 1 2 yes 0xffff 1 0",
        "flow create 0 ingress pattern eth / end actions meter mtr_id 3 / queue index 1 / end",
        "set sample_actions 0 mark id 8 / queue index 2 / end",
        "flow create 0 ingress priority 1 pattern eth / end actions sample ratio 4 index 0 / queue index 1 / end",
      ].join("\n"),
    );
    expect(findings).toEqual([]);
    expect(scenario?.asoObjects?.[0]?.flow_meter).toEqual({
      cir: 1000,
      cbs: 300,
      eir: 2000,
      ebs: 400,
      both_buckets_on_green: true,
      meter_mode: "pkt",
    });
    expect(scenario?.rules?.map(({ name, actions: all }) => [name, all])).toEqual([
      [
        "port 0 flow 0",
        [
          { aso: { object: "port 0 meter 3", flags: "flow_meter_green", return_reg_c: 5 } },
          { table: "port 0 flow 0 step 2" },
        ],
      ],
      ["port 0 flow 0 step 2 yellow", [{ queue: "queue 5" }]],
      ["port 0 flow 0 step 2 red", ["drop"]],
      ["port 0 flow 0 step 2", [{ queue: "queue 1" }]],
      [
        "port 0 flow 1",
        [
          {
            flow_sampler: {
              sample_ratio: 4,
              default_next_table: "port 0 flow 1 step 2",
              sample_actions: [{ tag: 8 }, { queue: "queue 2" }],
            },
          },
        ],
      ],
      ["port 0 flow 1 step 2", [{ queue: "queue 1" }]],
    ]);
  });

  describe("a meter whose policy ends the rule for each colour", () => {
    const METER = [
      "add port meter profile srtcm_rfc2697 0 1 1000 300 400 0",
      "add port meter policy 0 2 g_actions queue index 1 / end y_actions queue index 2 / end r_actions drop / end",
      "create port meter 0 3 1 2 yes 0xffff 1 0",
    ];
    const flow = (actions: string) =>
      of([...METER, `flow create 0 ingress pattern eth / end actions ${actions} / end`].join("\n"));

    test("needs no other end", () => {
      const { scenario, findings } = flow("meter mtr_id 3 / count");
      expect(findings).toEqual([]);
      const aso = { object: "port 0 meter 3", flags: "flow_meter_green", return_reg_c: 5 };
      const count = { count: "port 0 flow 0" };
      expect(scenario?.rules?.map(({ name, match, actions: all }) => [name, match, all])).toEqual([
        ["port 0 flow 0", undefined, [{ aso }, count, { table: "port 0 flow 0 step 2" }]],
        ["port 0 flow 0 step 2 green", { "misc2.metadata_reg_c_5": "0x2/0xff" }, [{ queue: "queue 1" }]],
        ["port 0 flow 0 step 2 yellow", { "misc2.metadata_reg_c_5": "0x1/0xff" }, [{ queue: "queue 2" }]],
        ["port 0 flow 0 step 2 red", { "misc2.metadata_reg_c_5": "0x0/0xff" }, ["drop"]],
      ]);
    });

    test("needs no end for yellow frames without an excess burst", () => {
      const text = [...METER, "flow create 0 ingress pattern eth / end actions meter mtr_id 3 / end"].join("\n");
      const findings = (ebs: number): unknown =>
        of(text.replace("1000 300 400", `1000 300 ${ebs}`).replace("y_actions queue index 2 /", "y_actions")).findings;
      expect(findings(0)).toEqual([]);
      expect(findings(1)).toMatchObject([{ severity: "refused" }]);
    });

    test.each(["meter mtr_id 3 / queue index 4", "queue index 4 / meter mtr_id 3", "meter mtr_id 3 / meter mtr_id 3"])(
      "excludes another one: %s",
      (actions) => {
        const [finding] = flow(actions).findings;
        expect(finding).toMatchObject({ severity: "refused", reason: "another action ends the rule before it" });
      },
    );
  });

  test("a later group matches the colour that a meter put into its register", () => {
    const { scenario, findings } = importRules(
      [
        "add port meter profile srtcm_rfc2697 0 1 1000 300 400 0",
        "add port meter policy 0 2 g_actions color type green / end y_actions color type yellow / end r_actions color type red / end",
        "create port meter 0 3 1 2 yes 0xffff 1 0",
        "flow create 0 ingress pattern eth / end actions meter mtr_id 3 / jump group 1 / end",
        "flow create 0 ingress group 1 pattern eth / meter color is green / end actions queue index 1 / end",
        "flow create 0 ingress group 1 pattern meter color spec red color mask red / end actions drop / end",
      ].join("\n"),
      { ...OPTIONS, driver: "none" },
    );
    expect(findings.map(({ reason }) => reason)).toEqual(["a colour is compared as a whole"]);
    expect(scenario?.rules?.at(-1)).toMatchObject({
      table: "nic_rx group 1",
      match: { "misc2.metadata_reg_c_5": "2/0xff" },
    });
    expect(flow("eth / meter color is green", "drop")?.match).toEqual({ "misc2.metadata_reg_c_5": "2/0xff" });
    expect(flow("meter color is red / udp", "drop")?.match).toMatchObject({ "misc2.metadata_reg_c_5": "0/0xff" });
  });

  test("without an equal leave the rule marked", () => {
    expect(flow("eth", "mac_swap / drop")).toMatchObject({
      actions: ["drop"],
      notImported: ["mac_swap: no change of the device swaps two fields"],
    });
    expect(flow("eth", "mark id 1")?.actions).toEqual([{ tag: 1 }, "default_miss"]);
    expect(flow("eth", "mark id 0x1000000 / drop")?.notImported?.[0]).toContain("24 bits");
  });

  test("of indirect actions that name each other do not grow without an end", () => {
    const texts = Array.from(
      { length: 40 },
      (_, n) => `flow indirect_action 0 create action_id ${n + 1} ingress action indirect ${n} / indirect ${n} / end`,
    );
    const text = ["flow indirect_action 0 create action_id 0 ingress action count / end", ...texts].join("\n");
    expect(said(text)[0]).toBe("input:6:24: not imported: create: an indirect action stands for 16 actions at most");
  });

  test("of flow indirect_action are those of rules that name it", () => {
    const text =
      "flow indirect_action 0 create action_id 9 ingress action queue index 4 / end\nflow create 0 ingress pattern eth / end actions indirect 9 / end";
    expect(rule(text)?.actions).toEqual([{ queue: "queue 4" }]);
  });
});

test("asynchronous rules have the masks and the actions of their templates", () => {
  const templates = [
    "flow pattern_template 0 create pattern_template_id 3 relaxed no ingress template eth / ipv4 src mask 255.255.255.0 / end",
    "flow actions_template 0 create actions_template_id 2 ingress template mark id 5 / queue / end mask mark id 0xffffff / queue / end",
    "flow template_table 0 create table_id 6 group 9 priority 4 ingress rules_number 64 pattern_template 3 actions_template 2",
  ];
  const create = "flow queue 0 create 0 template_table 6 pattern_template 0 actions_template 0 postpone no pattern";
  expect(
    rule(
      [...templates, `${create} eth / ipv4 src spec 10.9.8.7 / end actions mark id 1 / queue index 1 / end`].join("\n"),
    ),
  ).toEqual({
    name: "port 0 queue flow 0",
    table: "nic_rx group 9",
    priority: 4,
    match: { "outer.ipv4_src": "10.9.8.0/24", "outer.ip_version": 4 },
    actions: [{ tag: 5 }, { queue: "queue 1" }],
  });
  expect(said([...templates, `${create} eth / end actions mark / queue / end`].join("\n")).join()).toContain(
    "those of the template eth / ipv4",
  );
});

describe("what is refused", () => {
  test.each([
    [
      "flow create 0 ingress pattern eht / end actions drop / end",
      '1:31: not imported: eht: there is no item "eht"; did you mean "eth"?',
    ],
    [
      "flow create 0 ingress pattern eth dts is 02:00:00:00:00:01 / end actions drop / end",
      '1:35: not imported: dts: there is no field of eth "dts"; did you mean "dst"?',
    ],
    [
      "flow create 0 ingress pattern eth / end actions qeue index 1 / end",
      '1:49: not imported: qeue: there is no action "qeue"; did you mean "queue"?',
    ],
    [
      "flow craete 0 ingress pattern eth / end actions drop / end",
      '1:6: not imported: craete: there is no command flow "craete"; did you mean "create"?',
    ],
    [
      "flow create 0 ingres pattern eth / end actions drop / end",
      '1:15: not imported: ingres: there is no attribute "ingres"; did you mean "ingress"?',
    ],
    [
      "flow create 0 ingress pattern eth ipv4 / end actions drop / end",
      '1:35: not imported: ipv4: "/" is missing between eth and ipv4',
    ],
    [
      "flow create 0 ingress pattern eth dst is 1:2:3:4:5:6 / end actions drop / end",
      '1:42: not imported: 1:2:3:4:5:6: "1:2:3:4:5:6" is not a MAC address: six pairs of digits with colons between them',
    ],
    [
      "flow create 0 ingress pattern ipv4 ttl is 256 / end actions drop / end",
      "1:43: not imported: 256: ipv4 ttl has 8 bits: 0 to 255",
    ],
    [
      "flow create 0 ingress pattern ipv4 src mask 255.0.0.0 / end actions drop / end",
      "1:31: not imported: ipv4: ipv4 has a mask and no value: DPDK refuses that",
    ],
    [
      "flow create 0 pattern eth / end actions drop / end",
      "1:13: not imported: 0: its direction is missing: ingress, egress or transfer",
    ],
    [
      "flow create 0 ingress pattern eth / end actions drop / end end",
      "1:60: not imported: end: the command ends before this",
    ],
    [
      "flow create 0 ingress pattern raw / end actions drop / end",
      "1:31: not imported: raw: bytes at any place: no match field has them",
    ],
    [
      "flow create 0 ingress pattern ipv4 / udp dst is 1 / gtpu / end actions drop / end",
      "1:53: not imported: gtpu: the parser of the device reads gtpu on UDP port 2152 only, not 1",
    ],
    [
      "flow create 0 ingress pattern eth dst is $MAC / end actions drop / end",
      '1:42: not imported: $MAC: "$MAC" is not a MAC address: six pairs of digits with colons between them',
    ],
    [
      "flow create 0 ingress priority 65536 pattern eth / end actions drop / end",
      "1:32: not imported: 65536: a priority is at most 65535",
    ],
    ["set l2_encap ip-version ipv4", '1:29: not imported: ipv4: "eth-src" is missing'],
    ["set l2_decap ip-version ipv4", '1:14: not imported: ip-version: "set l2_decap" ends before this'],
    ["set conntrack com peer 1 is_orig 1", '1:35: not imported: 1: "enable" is missing'],
  ])("%s", (text, finding) => {
    expect(said(text).at(-1)).toBe(`input:${finding}`);
    expect(of(text).scenario?.rules).toBeUndefined();
  });
});

describe("pasted text", () => {
  const FLOW = "flow create 0 ingress pattern eth / ipv4 dst is 10.0.0.1 / end actions queue index 1 / end";
  const plain = JSON.stringify(of(FLOW).scenario);

  test.each([
    ["with a prompt and answers", `testpmd> ${FLOW}\nFlow rule #0 created\ntestpmd> `],
    [
      "with answers about other objects",
      `Configure flows on port 0: number of queues 1\nPattern template #0 created\nTemplate table #1 created\nIndirect action #0 created\n${FLOW}`,
    ],
    ["wrapped with a backslash", FLOW.replace("/ end actions", "/ end \\\n   actions")],
    ["wrapped without one", FLOW.replace("/ end actions", "/ end\n      actions")],
    ["with a comment and a mark of a diff", `# a note\n+${FLOW} # to the queue`],
    ["with a variable", `DST=10.0.0.1\n${FLOW.replace("10.0.0.1", "$DST")}`],
    ["with a log prefix", `2026-01-02 03:04:05.123 ${FLOW}`],
    ["with carriage returns", `${FLOW}\r\n`],
  ])("%s", (_, text) => {
    expect(JSON.stringify(of(text).scenario)).toBe(plain);
    expect(importRules(text, { lenient: true, driver: "none" }).scenario?.rules?.length).toBe(1);
  });

  test("names lines that are no commands", () => {
    expect(said(`start\n${FLOW}`)).toEqual(["input:1:1: assumed: start: not a flow command: ignored"]);
  });
});
