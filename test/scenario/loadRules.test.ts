/** Direct rules of scenarios on a device: actions of every kind in their domains, what waits, and what is refused where. */
import { describe, expect, it } from "vitest";
import { loadScenario, type LoadedScenario, type OutcomeRecord } from "../../src/scenario/index.js";
import { refusal, run as runOf } from "./support/scenarios.js";

const UDP = [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }];
const VXLAN = [...UDP, { header: "vxlan", vni: 100 }];
const ROOT = { name: "root", level: 0 };
const NEXT = { name: "next", level: 1 };
const SWITCH = { name: "switch", domain: "fdb", level: 0 };
const BEYOND = { name: "beyond", domain: "fdb", level: 1 };

/** A document of two ports, the PF with queue a and a VF with queue guest; rules are called by their numbers, from 1. */
function withTables(tables: object[], rules: object[], more: object = {}): Record<string, unknown> {
  return {
    flowsteer: 1,
    device: { ports: 2, vports: 1 },
    queues: [{ name: "a" }, { name: "guest", function: 1 }],
    counters: [{ name: "hits" }],
    tables,
    rules: rules.map((rule, i) => ({ name: String(i + 1), ...rule })),
    frames: [{ headers: UDP }],
    ...more,
  };
}

const run = async (document: object): Promise<OutcomeRecord[]> => (await runOf(document))[1];

/** The rule of the root table of the PF does this, and gives the frame to a. */
const received = (...actions: unknown[]): object =>
  withTables([ROOT, NEXT], [{ table: "root", actions: [...actions, { queue: "a" }] }]);

describe("actions", () => {
  it.each<[string, unknown, object]>([
    [
      "modify",
      {
        modify: [
          { set: "outer.dmac", to: "02:00:00:00:00:99" },
          { add: "outer.ip_ttl_hoplimit", by: -1 },
        ],
      },
      { "outer.dmac": "02:00:00:00:00:99", "outer.ip_ttl_hoplimit": 63, "outer.ipv4_checksum_ok": 1 },
    ],
    [
      "push_vlan",
      { push_vlan: { vid: 5, pcp: 3 } },
      { "outer.first_vid": 5, "outer.first_prio": 3, "outer.cvlan_tag": 1 },
    ],
    [
      "push_vlan of a service tag",
      { push_vlan: { tpid: "0x88a8", dei: true } },
      { "outer.first_cfi": 1, "outer.svlan_tag": 1 },
    ],
    ["pop_vlan", "pop_vlan", { "outer.first_vid": null, "outer.cvlan_tag": 0, "outer.udp_dport": 9 }],
    [
      "reformat",
      { reformat: { type: "l2_to_l2_tunnel", headers: VXLAN } },
      { "misc.vxlan_vni": 100, "inner.udp_dport": 9, "outer.udp_sport": "49152-65535", "outer.l4_checksum_ok": "any" },
    ],
  ])("%s changes what arrives", async (_, action, fields) => {
    await run({ ...received(action), expect: { frames: [{ frame: 1, to: ["qp:a"], toFrames: [fields] }] } });
  });

  it("decapsulate, by bytes and by headers", async () => {
    const inner = [{ header: "ethernet" }, { header: "ipv4", ttl: 7 }, { header: "udp" }];
    const frames = [{ headers: [...VXLAN, ...inner] }];
    const expected = (first: object): object => ({
      frames: [{ frame: 1, toFrames: [[{ ...inner[0], ...first }, inner[1], inner[2]]] }],
    });
    await run({ ...received({ reformat: { type: "l2_tunnel_to_l2" } }), frames, expect: expected({}) });
    const replaced = {
      reformat: { type: "l3_tunnel_to_l2", headers: [{ header: "ethernet", source: "02:00:00:00:00:77" }] },
    };
    await run({ ...received(replaced), frames, expect: expected({ source: "02:00:00:00:00:77" }) });
    const data = { reformat: { type: "l3_tunnel_to_l2", data: "020000000002 020000000077 0800" } };
    await run({ ...received(data), frames, expect: expected({ source: "02:00:00:00:00:77" }) });
  });

  it("go back to the root table at a priority", async () => {
    const [record] = await run(
      withTables(
        [ROOT, NEXT],
        [
          { table: "root", priority: 0, actions: [{ table: "next" }] },
          { table: "next", actions: [{ table: "root", priority: 2 }] },
          { table: "root", priority: 1, actions: ["drop"] },
          { table: "root", priority: 2, actions: [{ queue: "a" }] },
        ],
      ),
    );
    expect(record).toMatchObject({ to: ["qp:a"], rules: ["1", "2", "4"] });
  });

  it("are for ports and functions in the eSwitch, which both see where frames come from", async () => {
    const records = await run(
      withTables(
        [SWITCH, { name: "guest", function: 1, level: 0 }],
        [
          { table: "switch", match: { "misc.source_port": "uplink" }, actions: [{ vport: 1 }, { count: "hits" }] },
          { table: "switch", match: { "misc.source_port": 1 }, actions: [{ port: 2 }] },
          { table: "switch", match: { "misc.source_port": 0 }, actions: [{ vport: "uplink" }] },
          { table: "guest", actions: [{ queue: "guest" }] },
        ],
        {
          frames: [
            { headers: UDP, port: 2 },
            { headers: UDP, send: "guest" },
            { headers: UDP, send: "a" },
          ],
          expect: { counters: { hits: { packets: 1, bytes: 42 } } },
        },
      ),
    );
    expect(records.map(({ verdict, to, rules }) => [verdict, to, rules])).toEqual([
      ["deliver", ["qp:guest"], ["1", "4"]],
      ["transmit", ["port:2"], ["2"]],
      ["transmit", ["port:1"], ["3"]],
    ]);
  });

  it("copy to the members of an array, each with its reformat", async () => {
    const reformat = { type: "l2_to_l2_tunnel", headers: VXLAN };
    const [record] = await run(
      withTables(
        [SWITCH],
        [
          {
            table: "switch",
            actions: [
              {
                array: [
                  { port: 2 },
                  { port: 2, reformat },
                  { vport: 1, reformat: "shared" },
                  { count: "hits" },
                  "default_miss",
                ],
              },
            ],
          },
        ],
        {
          actions: [{ name: "shared", reformat }],
          hostRules: [{ application: "nic", function: 1, action: { queue: 3 } }],
          expect: {
            frames: [
              {
                frame: 1,
                toFrames: [{ "misc.vxlan_vni": null }, { "misc.vxlan_vni": 100 }, { "misc.vxlan_vni": 100 }],
              },
            ],
            counters: { hits: { packets: 1 } },
          },
        },
      ),
    );
    expect(record).toMatchObject({ verdict: "deliver", to: ["port:2", "port:2", "vf1/host:3"] });
    expect(record!.toFrames[0]).toBeNull();
    expect(record!.toFrames[1]).toBe(record!.toFrames[2]);
  });

  it("carry registers from what a function sends, by its metadata, to what another one gets", async () => {
    const [record] = await run(
      withTables(
        [{ name: "sent", domain: "nic_tx", function: 1, level: 0 }, SWITCH, ROOT],
        [
          {
            table: "sent",
            match: { "misc2.metadata_reg_a": "0x500/0xff00" },
            actions: [{ modify: [{ copy: "misc2.metadata_reg_a", into: "misc2.metadata_reg_c_1" }] }],
          },
          { table: "switch", match: { "misc2.metadata_reg_c_1": 0x507 }, actions: [{ vport: 0 }] },
          {
            table: "root",
            match: { "misc2.metadata_reg_c_1": 0x507 },
            actions: [{ modify: [{ set: "METADATA_REG_B", to: 9 }] }, { queue: "a" }],
          },
        ],
        {
          frames: [{ headers: UDP, send: "guest", metadata: 0x507 }],
          expect: { frames: [{ frame: 1, registers: { B: 9, C1: 0x507 } }] },
        },
      ),
    );
    expect(record).toMatchObject({ to: ["qp:a"], rules: ["1", "2", "3"] });
  });

  it("that are shared are made for each domain and level whose rules have them", async () => {
    const records = await run(
      withTables(
        [ROOT, NEXT, SWITCH],
        [
          { table: "switch", actions: [{ action: "lower" }, "default_miss"] },
          { table: "root", actions: [{ action: "lower" }, { action: "onward" }] },
          { table: "next", actions: [{ action: "lower" }, { action: "deliver" }] },
        ],
        {
          actions: [
            { name: "lower", modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] },
            { name: "onward", table: "next" },
            { name: "deliver", queue: "a" },
            { name: "unused", array: [{ port: 1 }, { port: 2 }] },
          ],
          expect: { frames: [{ frame: 1, toFrames: [{ "outer.ip_ttl_hoplimit": 61 }] }] },
        },
      ),
    );
    expect(records[0]).toMatchObject({ rules: ["1", "2", "3"] });
  });
});

describe("actions of flows", () => {
  it("change what they steer, in both directions and on each function", async () => {
    const specs = [{ udp: {} }, { action: "lower" }];
    const records = await run(
      withTables([], [], {
        connect: [{ port: 1, to: 2 }],
        flowActions: [
          { name: "lower", modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] },
          { name: "wrap", reformat: { type: "l2_to_l2_tunnel", headers: VXLAN } },
          { name: "unwrap", reformat: { type: "l2_tunnel_to_l2" } },
        ],
        flows: [
          {
            name: "sent",
            queue: "a",
            flags: ["egress"],
            specs: [{ udp: {} }, { action: "wrap" }, { action: "lower" }],
          },
          {
            name: "got",
            queue: "a",
            port: 2,
            specs: [{ vxlan_tunnel: {} }, { action: "lower" }, { action: "unwrap" }],
          },
          { name: "of the guest", queue: "guest", specs },
        ],
        tables: [SWITCH],
        rules: [
          {
            name: "to the guest",
            table: "switch",
            match: { "ext.port": 1, "misc.source_port": "uplink" },
            actions: [{ vport: 1 }],
          },
        ],
        frames: [{ headers: UDP, send: "a" }, { headers: UDP }],
        expect: {
          frames: [
            {
              frame: 1,
              toFrames: [{ "misc.vxlan_vni": 100, "inner.ip_ttl_hoplimit": 63 }],
              beyond: {
                "port:1": { to: ["qp:a"], toFrames: [{ "misc.vxlan_vni": null, "outer.ip_ttl_hoplimit": 62 }] },
              },
            },
            {
              frame: 2,
              to: ["qp:guest"],
              toFrames: [{ "outer.ip_ttl_hoplimit": 63 }],
              rules: ["to the guest", "of the guest"],
            },
          ],
        },
      }),
    );
    expect(records[0]).toMatchObject({ rules: ["sent"], beyond: { "port:1": { rules: ["got"] } } });
  });
});

describe("rules that wait", () => {
  const document = (domains: object[]): Record<string, unknown> =>
    withTables(
      [ROOT, NEXT],
      [
        { table: "root", actions: [{ table: "next" }] },
        { table: "next", actions: [{ queue: "a" }] },
      ],
      {
        device: { asyncRules: true },
        queues: [{ name: "a" }],
        domains,
        frames: [{ headers: UDP }, { headers: UDP, sync: true }],
      },
    );

  it("take effect before the first frame, unless the document says otherwise", async () => {
    expect((await run(document([]))).map(({ to }) => to)).toEqual([["qp:a"], ["qp:a"]]);
    const held = await run(document([{ domain: "nic_rx", sync: false }]));
    expect(held.map(({ to, reason }) => [to, reason])).toEqual([
      [[], "table_miss"],
      [["qp:a"], null],
    ]);
  });
});

describe("a refusal of the model", () => {
  const expectations = (frame: object): object => withTables([], [], { expect: { frames: [{ frame: 1, ...frame }] } });

  it.each<[string, object]>([
    [
      'rules[0].actions[0].modify[1].set = "outer.vni": no field has this name (EINVAL); ',
      received({
        modify: [
          { add: "outer.ip_ttl_hoplimit", by: 1 },
          { set: "outer.vni", to: 1 },
        ],
      }),
    ],
    [
      'rules[0].actions[0].modify[1].set = "misc2.metadata_reg_a": the device cannot make these header changes (EINVAL); only NIC_TX has it',
      received({
        modify: [
          { set: "outer.dmac", to: "02:00:00:00:00:01" },
          { set: "misc2.metadata_reg_a", to: 1 },
        ],
      }),
    ],
    [
      "rules[0].actions[0].modify = 0: the device cannot make these header changes (EINVAL); at least one action of 8 bytes",
      received({ modify: [] }),
    ],
    [
      'rules[0].actions[0].modify[0] = "5000000000000000": the device does not support this (EOPNOTSUPP); SET, ADD or COPY',
      received({ modify: ["5000000000000000"] }),
    ],
    [
      "rules[0].actions[0].reformat.headers = 14 bytes: the device cannot make this packet reformat (EINVAL); Ethernet, any 0x8100",
      received({ reformat: { type: "l2_to_l2_tunnel", headers: [{ header: "ethernet" }] } }),
    ],
    [
      'rules[0].actions[0].reformat.data = "00": the device cannot make this packet reformat (EINVAL); an Ethernet header of 14 bytes',
      received({ reformat: { type: "l3_tunnel_to_l2", data: "00" } }),
    ],
    [
      "rules[0].actions[0].reformat.data = 0: the device cannot make this packet reformat (EINVAL); the headers of the tunnel",
      received({ reformat: { type: "l2_to_l2_tunnel" } }),
    ],
    [
      "rules[0].actions[0] = nic_rx: the device does not support this (EOPNOTSUPP); MLX5DV_DR_DOMAIN_TYPE_FDB has destinations of this kind",
      received({ vport: 1 }),
    ],
    [
      "rules[0].actions[0].vport = 2: outside the range that the field can hold (EINVAL); 0 to 1, or 0xffff",
      withTables([SWITCH], [{ table: "switch", actions: [{ vport: 2 }] }]),
    ],
    [
      "rules[0].actions[0].port = 3: outside the range that the field can hold (EINVAL); 1 to 2",
      withTables([SWITCH], [{ table: "switch", actions: [{ port: 3 }] }]),
    ],
    [
      "rules[0].actions[0].array = 1: outside the range that the field can hold (EINVAL); two destinations at the least",
      withTables([SWITCH], [{ table: "switch", actions: [{ array: [{ port: 1 }] }] }]),
    ],
    [
      "rules[0].actions[0].array[1] = dest_ibv_qp (a): these actions cannot be in one rule (EINVAL); valid only on MLX5DV_DR_DOMAIN_TYPE_NIC_RX",
      withTables([SWITCH], [{ table: "switch", actions: [{ array: [{ port: 1 }, { queue: "a" }] }] }]),
    ],
    [
      "rules[0].actions[0].array[0].reformat = packet_reformat (fdb): these actions cannot be in one rule (EOPNOTSUPP); an encapsulation",
      withTables(
        [SWITCH],
        [{ table: "switch", actions: [{ array: [{ port: 1, reformat: { type: "l2_tunnel_to_l2" } }, { port: 2 }] }] }],
      ),
    ],
    [
      'actions[0].array[1].action = "itself": these actions cannot be in one rule (EOPNOTSUPP); an array is no member of an array',
      withTables([SWITCH], [{ table: "switch", actions: [{ action: "itself" }] }], {
        actions: [{ name: "itself", array: [{ port: 1 }, { action: "itself" }] }],
      }),
    ],
    [
      'actions[0].modify[0].set = "dmac": no field has this name (EINVAL); ',
      withTables([], [], { actions: [{ name: "unused", modify: [{ set: "dmac", to: 1 }] }] }),
    ],
    [
      "actions[0].array[1].reformat.headers[0].tpid = 5: no field has this name (EINVAL); ",
      withTables([], [], {
        actions: [
          {
            name: "unused",
            array: [
              "default_miss",
              { port: 1, reformat: { type: "l2_to_l2_tunnel", headers: [{ header: "ethernet", tpid: 5 }] } },
            ],
          },
        ],
      }),
    ],
    [
      'rules[0].actions[0].table = "next": only a root table is allowed here (EINVAL)',
      withTables([ROOT, NEXT], [{ table: "root", actions: [{ table: "next", priority: 1 }] }]),
    ],
    [
      "rules[0].actions[0] = dest_table (beyond): the object belongs to another domain (EINVAL); it is of fdb",
      withTables([ROOT, BEYOND], [{ table: "root", actions: [{ table: "beyond" }] }]),
    ],
    [
      "rules[0].actions[0] = dest_ibv_qp (guest): the object belongs to another device (EINVAL); it belongs to flowsteer0/vf1",
      withTables([ROOT], [{ table: "root", actions: [{ queue: "guest" }] }]),
    ],
    [
      "tables[0].level = 1: the domain has only its root table (EOPNOTSUPP)",
      withTables([{ name: "own", domain: "fdb", function: 1, level: 1 }], []),
    ],
    [
      "rules[1].match: a rule of this matcher has the same values (EEXIST); ",
      withTables(
        [NEXT],
        [
          { matcher: "ports", match: { "outer.udp_dport": 9 }, actions: ["drop"] },
          { matcher: "ports", match: { "outer.udp_dport": 9 }, actions: ["drop"] },
        ],
        {
          domains: [{ domain: "nic_rx", duplicates: false }],
          matchers: [{ name: "ports", table: "next", mask: { "outer.udp_dport": "full" } }],
        },
      ),
    ],
    [
      "matchers[0].layout.rulesLog2 = 21: the device does not support this (ENOTSUP); 2^20 rules at the most",
      withTables([NEXT], [], { matchers: [{ name: "m", table: "next", layout: { rulesLog2: 21 } }] }),
    ],
    [
      "matchers[0].layout = m: the device does not support this (ENOTSUP); its table is a root table",
      withTables([ROOT], [], { matchers: [{ name: "m", table: "root", layout: { resizable: true } }] }),
    ],
    [
      'flowActions[0].modify[0].set = "METADATA_REG_B": the device cannot make these header changes (EINVAL); only NIC_RX has it',
      withTables([], [], {
        flowActions: [{ name: "mark", modify: [{ set: "METADATA_REG_B", to: 1 }] }],
        flows: [{ queue: "a", flags: ["egress"], specs: [{ action: "mark" }] }],
      }),
    ],
    [
      'flows[0].specs[0].action = "mark": ',
      withTables([], [], {
        flowActions: [{ name: "mark", modify: [{ set: "METADATA_REG_B", to: 1 }] }],
        flows: [{ queue: "a", type: "sniffer", specs: [{ action: "mark" }] }],
      }),
    ],
    [
      'flowActions[0].reformat.headers[1].header = "ipv4": ',
      withTables([], [], {
        flowActions: [
          { name: "wrap", reformat: { type: "l2_to_l2_tunnel", headers: [{ header: "arp" }, { header: "ipv4" }] } },
        ],
      }),
    ],
    [
      "expect.frames[0].toFrames[0].misc2.metadata_reg_c_0: no field has this name (EINVAL); bytes do not tell of it",
      expectations({ toFrames: [{ "misc2.metadata_reg_c_0": 1 }] }),
    ],
    [
      'expect.frames[0].toFrames[0].outer.dmc: no field has this name (EINVAL); did you mean "outer.dmac"?',
      expectations({ toFrames: [{ "outer.dmc": 1 }] }),
    ],
    [
      'expect.frames[0].copyFrames[1].outer.udp_dport = "80-": not a range that fits the field (EINVAL); ',
      expectations({ copyFrames: [null, { "outer.udp_dport": "80-" }] }),
    ],
    [
      'expect.frames[0].beyond["port:1"].toFrames[0] = "0g": the document does not follow the scenario schema (EINVAL); "g" is no',
      expectations({ beyond: { "port:1": { toFrames: ["0g"] } } }),
    ],
    [
      'expect.frames[0].toFrames[0][0].src = "x": no field has this name (EINVAL); ',
      expectations({ toFrames: [[{ header: "ethernet", src: "x" }]] }),
    ],
  ])("names its place: %s", async (message, document) => {
    expect((await refusal(document)).replace(/^loadScenario: /, "").slice(0, message.length)).toBe(message);
  });
});

describe("expectations of what arrived", () => {
  it("tell what came instead", async () => {
    const document = {
      ...received({ modify: [{ set: "misc2.metadata_reg_c_0", to: 3 }] }, { tag: 1 }),
      expect: {
        frames: [
          {
            frame: 1,
            registers: { C0: 4 },
            toFrames: [{ "outer.udp_dport": "10-20", "outer.first_vid": "any", "outer.dmac": null }],
          },
          { frame: 1, registers: {}, toFrames: ["00"], copyFrames: [null] },
          {
            frame: 1,
            registers: { C0: 3 },
            toFrames: [{ "outer.udp_dport": "9-10", "outer.ipv4_src": "192.0.2.0/24", "outer.svlan_tag": 0 }],
          },
        ],
      },
    };
    const loaded = await loadScenario(document);
    loaded.run();
    const bytes = outcomeBytes(loaded);
    expect(loaded.failures().map(({ path, about, what, expected, got }) => [path, about, what, expected, got])).toEqual(
      [
        ["expect.frames[0].registers", "frame 1", "registers", { C0: 4 }, { C0: 3 }],
        ["expect.frames[0].toFrames[0].outer.udp_dport", "frame 1 at qp:a", "outer.udp_dport", "10-20", 9],
        ["expect.frames[0].toFrames[0].outer.first_vid", "frame 1 at qp:a", "outer.first_vid", "any", "not there"],
        ["expect.frames[0].toFrames[0].outer.dmac", "frame 1 at qp:a", "outer.dmac", "not there", "02:00:00:00:00:02"],
        ["expect.frames[1].registers", "frame 1", "registers", {}, { C0: 3 }],
        ["expect.frames[1].toFrames[0]", "frame 1 at qp:a", "bytes", "00", bytes],
        ["expect.frames[1].copyFrames", "frame 1", "frames", "1 frame", "0 frames"],
      ],
    );
  });
});

function outcomeBytes(loaded: LoadedScenario): string {
  return Array.from(loaded.frames[0]!.bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

describe("sums", () => {
  it("count what was rewritten and what registers held", async () => {
    const document = withTables(
      [ROOT],
      [
        {
          table: "root",
          actions: [
            { modify: [{ copy: "outer.udp_dport", into: "misc2.metadata_reg_c_0" }] },
            { push_vlan: { vid: 1 } },
            { queue: "a" },
          ],
        },
      ],
      { frames: [5, 5, 6].map((port) => ({ headers: [UDP[0], UDP[1], { ...UDP[2], destination_port: port }] })) },
    );
    const loaded = await loadScenario(document);
    loaded.run();
    expect([...loaded.tally.rewritten]).toEqual([["qp:a", { frames: 3, bytes: 138 }]]);
    expect([...loaded.tally.registers]).toEqual([
      [
        "C0",
        {
          frames: 3,
          values: new Map([
            [5, 2],
            [6, 1],
          ]),
        },
      ],
    ]);
  });
});
