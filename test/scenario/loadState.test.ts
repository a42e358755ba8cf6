/** What rules of scenarios remember, on a device: meters, first hits, connections, samples, bulks of counters, times. */
import { describe, expect, it } from "vitest";
import { loadScenario, type OutcomeRecord } from "../../src/scenario/index.js";
import { refusal, run } from "./support/scenarios.js";

const UDP = [
  { header: "ethernet" },
  { header: "ipv4" },
  { header: "udp" },
  { header: "payload", bytes: "00".repeat(58) },
];
const ROOT = { name: "root", level: 0 };
const FIRST = { name: "first", level: 1 };
const NEXT = { name: "next", level: 2 };

/** A document in which all frames reach table first; rules are called by their numbers, from 1. */
function withRules(rules: object[], more: object = {}): Record<string, unknown> {
  return {
    flowsteer: 1,
    queues: [{ name: "a" }, { name: "b" }],
    counters: [{ name: "hits" }, { name: "bulk", flow_counter_bulk_log_size: 2 }],
    tables: [ROOT, FIRST, NEXT],
    rules: [
      { name: "all", table: "root", actions: [{ table: "first" }] },
      ...rules.map((rule, i) => ({ name: String(i + 1), table: "first", priority: i, ...rule })),
    ],
    frames: [{ headers: UDP }],
    ...more,
  };
}

const at = (time: number, more: object = {}): object => ({ headers: UDP, time, ...more });
const colours = (records: readonly OutcomeRecord[], register = "C1"): (number | undefined)[] =>
  records.map(({ registers }) => registers[register]);
const TO_A = { name: "to a", table: "next", actions: [{ queue: "a" }] };

describe("meters", () => {
  const meter = { meter_mode: "pkt", cbs: 2, cir: 1000, next_table: "next", reg_c_index: 1 };

  it("colour frames by their times, a packet a millisecond", async () => {
    const rules = [{ actions: [{ flow_meter: meter }] }, TO_A];
    const [, records] = await run(
      withRules(rules, { frames: [0, 0, 0, 1_010_000, 1_010_000].map((time) => at(time)) }),
    );
    expect(colours(records)).toEqual([2, 2, 0, 2, 0]);
    expect(records.every(({ to }) => to[0] === "qp:a")).toBe(true);
  });

  it("give frames without a time a microsecond each", async () => {
    const rules = [{ actions: [{ flow_meter: { ...meter, cbs: 1, cir: 520_000 } }] }, TO_A];
    const frames = Array.from({ length: 5 }, () => ({ headers: UDP }));
    const [loaded, records] = await run(withRules(rules, { frames }));
    expect(loaded.frames.map(({ time }) => time)).toEqual([0n, 1000n, 2000n, 3000n, 4000n]);
    expect(colours(records)).toEqual([2, 0, 2, 0, 2]);
  });

  it("are one for each rule, but for those with a name", async () => {
    const own = { flow_meter: { ...meter, cbs: 1 } };
    const ports = [1, 2].map((port) => ({ match: { "ext.port": port }, actions: [own] }));
    const frames = [1, 2].map((port) => ({ headers: UDP, port, time: 0 }));
    const device = { ports: 2 };
    const [, apart] = await run(withRules([...ports, TO_A], { frames, device }));
    expect(colours(apart)).toEqual([2, 2]);
    const shared = ports.map((rule) => ({ ...rule, actions: [{ action: "police" }] }));
    const [, together] = await run(
      withRules([...shared, TO_A], { frames, device, actions: [{ name: "police", ...own }] }),
    );
    expect(colours(together)).toEqual([2, 0]);
  });

  it("are modified before a frame, in their own unit", async () => {
    const actions = [{ name: "police", flow_meter: { ...meter, cbs: 1, cir: 0 } }];
    const frames = [
      at(0),
      at(0),
      at(0, { before: [{ modify_flow_meter: "police", cir: 1_000_000, cbs: 2 }] }),
      at(2100),
      at(2100),
      at(2100),
      at(2100, { before: [{ modify_flow_meter: "police", active: false }] }),
    ];
    const [, records] = await run(withRules([{ actions: [{ action: "police" }] }, TO_A], { frames, actions }));
    expect(colours(records)).toEqual([2, 0, 0, 2, 2, 0, 2]);
  });

  it("of ASO objects meter by offset, and tell what their buckets hold", async () => {
    const asoObjects = [{ name: "m", log_obj_range: 1, flow_meter: { cbs: 200, ebs: 104 } }];
    const aso = { object: "m", flags: "flow_meter_green", return_reg_c: 1 };
    const rules = [{ actions: [{ aso: { ...aso, offset: 3 } }, { queue: "a" }] }];
    const frames = [at(0), at(0), at(0), at(0)];
    const asoExpected = [{ c_tokens: 200 }, null, null, { c_tokens: 0, e_tokens: 4 }, { c_tokens: 1 }];
    const document = withRules(rules, { asoObjects, frames });
    const [, records] = await run(document);
    expect(records.map(({ len }) => len)).toEqual([100, 100, 100, 100]);
    expect(colours(records)).toEqual([2, 2, 1, 0]);
    const loaded = await loadScenario({ ...document, expect: { asoObjects: { m: { flow_meter: asoExpected } } } });
    loaded.run();
    expect(loaded.failures()).toEqual([
      {
        path: "expect.asoObjects.m.flow_meter[4]",
        about: "meter m[4]",
        what: "object",
        expected: "there",
        got: "not there",
      },
    ]);
  });

  it("that are not valid give their start colour", async () => {
    const asoObjects = [{ name: "m", flow_meter: { valid: false, cbs: 100 } }];
    const rules = [
      { actions: [{ aso: { object: "m", flags: "flow_meter_yellow", return_reg_c: 5 } }, { queue: "a" }] },
    ];
    const [, records] = await run(withRules(rules, { asoObjects }));
    expect(colours(records, "C5")).toEqual([1]);
  });

  it.each([
    [{ cir: 1_000_000_000 }, { cir: { mantissa: 1, exponent: 0 } }],
    [{ cir: 15_625_000 }, { cir: { mantissa: 1, exponent: 6 } }],
    [{ cir: 999_450 }, { cir: { mantissa: 131, exponent: 17 } }],
    [
      { cir: 1, eir: 255_000_000_000 },
      { cir: { mantissa: 2, exponent: 31 }, eir: { mantissa: 255, exponent: 0 } },
    ],
    [{ cbs: 1500 }, { cbs: { mantissa: 188, exponent: 3 } }],
    [{ cbs: 255 }, { cbs: { mantissa: 255, exponent: 0 } }],
    [{ ebs: 10 ** 12 }, { ebs: { mantissa: 255, exponent: 31 } }],
    [{ ebs: Number.MAX_SAFE_INTEGER }, { ebs: { mantissa: 255, exponent: 31 } }],
    [
      { meter_mode: "pkt", cbs: 3, cir: 7_812_500 },
      { meter_mode: "pkt", cbs: { mantissa: 192, exponent: 1 }, cir: { mantissa: 1, exponent: 0 } },
    ],
  ])("%j is the nearest that a device holds", async (numbers, exact) => {
    const bytes = async (flow_meter: object): Promise<Uint8Array | undefined> => {
      const { asoObjects } = await loadScenario({ flowsteer: 1, asoObjects: [{ name: "m", flow_meter }] });
      return asoObjects.get("m")?.read(0);
    };
    const values = (data: Uint8Array | undefined): string =>
      [8, 10, 16, 18]
        .map((place) =>
          String(
            (data?.[place + 1] ?? 0) *
              2 ** (data?.[place] ?? 0) *
              (place === 10 || place === 18 ? 4 ** -(data?.[place] ?? 0) : 1),
          ),
        )
        .join(" ");
    expect(values(await bytes(numbers))).toBe(values(await bytes(exact)));
  });
});

describe("first hits", () => {
  it("are told once, begin as the document says, and are set between frames", async () => {
    const asoObjects = [{ name: "f", log_obj_range: 1, first_hit: [1] }];
    const hit = (offset: number): object => ({
      match: { "ext.port": offset - 511 },
      actions: [{ aso: { object: "f", offset, flags: "first_hit_set", return_reg_c: 3 } }, { queue: "a" }],
    });
    const frames = [
      ...[1, 1, 2].map((port) => ({ headers: UDP, port })),
      { headers: UDP, port: 1, before: [{ modify_aso_object: "f", index: 1, first_hit: [] }] },
    ];
    const expected = { asoObjects: { f: { first_hit: [512, 1] } } };
    const [loaded, records] = await run(
      withRules([hit(512), hit(513)], { device: { ports: 2 }, asoObjects, frames, expect: expected }),
    );
    expect(colours(records, "C3")).toEqual([0, 1, 1, 0]);
    expect(loaded.failures()).toEqual([]);
  });

  it("that are expected otherwise are told", async () => {
    const asoObjects = [{ name: "f", first_hit: [3, 2] }];
    const loaded = await loadScenario({
      flowsteer: 1,
      asoObjects,
      frames: [],
      expect: { asoObjects: { f: { first_hit: [2] } } },
    });
    expect(loaded.failures()).toEqual([
      { path: "expect.asoObjects.f.first_hit", about: "flags of f", what: "set", expected: [2], got: [2, 3] },
    ]);
  });
});

describe("connections", () => {
  const tcp = (source: number, flags: string, sequence: number, acknowledgement = 0, more: object = {}): object => ({
    headers: [
      { header: "ethernet" },
      { header: "ipv4" },
      {
        header: "tcp",
        source_port: source,
        destination_port: 81 - source,
        flags,
        sequence,
        acknowledgement,
        window: 1000,
      },
    ],
    ...more,
  });
  const side = (port: number, flags: string): object => ({
    match: { "outer.tcp_sport": port },
    actions: [{ aso: { object: "c", offset: 1, flags, return_reg_c: 1 } }, { queue: "a" }],
  });
  const RULES = [side(1, "ct_direction_initiator"), side(80, "ct_direction_responder")];
  const OPEN = [tcp(1, "syn", 100), tcp(80, "syn ack", 500, 101), tcp(1, "ack", 101, 501)];

  it("open, and refuse what is out of window", async () => {
    const asoObjects = [{ name: "c", log_obj_range: 1, conn_track: {} }];
    const frames = [...OPEN, tcp(1, "ack", 5000, 501)];
    const established = {
      valid: 1,
      state: "established",
      last_index: "ack",
      original: { sent_end: 101 },
      reply: { max_ack: 101 },
    };
    const [loaded, records] = await run(
      withRules(RULES, {
        asoObjects,
        frames,
        expect: { asoObjects: { c: { conn_track: [{ valid: 0 }, established] } } },
      }),
    );
    expect(colours(records)).toEqual([2, 2, 2, 0x40]);
    expect(loaded.failures()).toEqual([]);
  });

  it("begin where the document says, and are set between frames", async () => {
    const conn_track = {
      valid: 1,
      state: "established",
      original: { sent_end: 101, reply_end: 1501, max_win: 1000, max_ack: 501, max_ack_seen: 1, scale: 15 },
      reply: { sent_end: 501, reply_end: 1101, max_win: 1000, max_ack: 101, max_ack_seen: 1, scale: 15 },
    };
    const asoObjects = [{ name: "c", log_obj_range: 1, conn_track }];
    const set = [{ modify_aso_object: "c", index: 1, conn_track: { freeze_track: 1 } }];
    const frames = [tcp(1, "ack", 101, 501), tcp(1, "ack", 9000, 501), tcp(1, "ack", 101, 501, { before: set })];
    const [, records] = await run(withRules(RULES, { asoObjects, frames }));
    expect(colours(records)).toEqual([0, 0x40, 0x80]);
  });

  it("that are expected otherwise are told field by field", async () => {
    const asoObjects = [{ name: "c", conn_track: { valid: 1, state: "fin_wait", reply: { scale: 7 } } }];
    const loaded = await loadScenario({
      flowsteer: 1,
      asoObjects,
      frames: [],
      expect: { asoObjects: { c: { conn_track: [{ state: "established", reply: { scale: 6, liberal: 0 } }] } } },
    });
    expect(loaded.failures()).toEqual([
      {
        path: "expect.asoObjects.c.conn_track[0].state",
        about: "connection c[0]",
        what: "state",
        expected: "established",
        got: "fin_wait",
      },
      {
        path: "expect.asoObjects.c.conn_track[0].reply.scale",
        about: "connection c[0]",
        what: "scale",
        expected: 6,
        got: 7,
      },
    ]);
  });

  it("of another domain are linked, and an ASO action is modified for later rules", async () => {
    const asoObjects = [{ name: "c", log_obj_range: 1, conn_track: {} }];
    const aso = { object: "c", offset: 0, flags: "ct_direction_initiator", return_reg_c: 1 };
    const peer_dmn = { domain: "nic_rx" };
    const tables = [
      ROOT,
      FIRST,
      { name: "switch", domain: "fdb", level: 0 },
      { name: "inside", domain: "fdb", level: 1 },
    ];
    const rules = [
      { table: "first", match: { "outer.tcp_dport": 80 }, actions: [{ action: "track" }, { queue: "a" }] },
      {
        table: "first",
        actions: [
          { action: "track", modify_aso: { offset: 1, flags: "ct_direction_initiator", return_reg_c: 3 } },
          { queue: "b" },
        ],
        match: { "outer.tcp_dport": 79 },
      },
      { table: "switch", actions: [{ table: "inside" }] },
      { table: "inside", actions: [{ aso: { ...aso, return_reg_c: 5, peer_dmn } }, { vport: 0 }] },
    ];
    const document = withRules(rules, {
      asoObjects,
      tables,
      actions: [{ name: "track", aso }],
      frames: [tcp(1, "syn", 1), tcp(2, "syn", 1)],
    });
    const [, records] = await run(document);
    // The eSwitch, where frames come first, has seen the SYN already.
    expect(records.map(({ registers }) => registers)).toMatchObject([{ C1: 0 }, { C3: 2 }]);
    const again = {
      table: "inside",
      actions: [{ aso: { ...aso, return_reg_c: 5, peer_dmn } }, { vport: 0 }],
      match: { "ext.port": 1 },
    };
    expect(
      await refusal(withRules([...rules, again], { asoObjects, tables, actions: [{ name: "track", aso }] })),
    ).toMatch(/^loadScenario: rules\[5\]\.actions\[0\] = .*EBUSY/);
  });
});

describe("samplers", () => {
  const sampler = (more: object = {}): object => ({
    flow_sampler: {
      sample_ratio: 1,
      default_next_table: "next",
      sample_actions: [{ tag: 7 }, { count: "bulk", offset: 3 }, { queue: "b" }],
      ...more,
    },
  });

  it("copy, tag and count, and go on", async () => {
    const expected = { counters: { bulk: [{ packets: 0 }, null, null, { packets: 1, bytes: 100 }] } };
    const action = { set: "misc2.metadata_reg_c_0", to: 9 };
    const [loaded, [record]] = await run(withRules([{ actions: [sampler({ action })] }, TO_A], { expect: expected }));
    expect(record).toMatchObject({ to: ["qp:a"], copies: ["qp:b"], copyTags: [7], registers: { C0: 9 } });
    expect(loaded.failures()).toEqual([]);
  });

  it("take one of so many by the seed of the device", async () => {
    const frames = Array.from({ length: 200 }, () => ({ headers: UDP }));
    const count = async (seed: number): Promise<number[]> => {
      const [, records] = await run(
        withRules([{ actions: [sampler({ sample_ratio: 4 })] }, TO_A], { frames, device: { seed } }),
      );
      return records.flatMap(({ copies }, i) => (copies.length > 0 ? [i] : []));
    };
    const one = await count(1);
    expect(one.length).toBeGreaterThan(25);
    expect(one.length).toBeLessThan(80);
    expect(await count(1)).toEqual(one);
    expect(await count(2)).not.toEqual(one);
  });

  it("are no members of samplers and arrays", async () => {
    const actions = [{ name: "s", ...sampler({ sample_actions: [{ action: "s" }] }) }];
    expect(await refusal(withRules([], { actions }))).toMatch(
      /^loadScenario: actions\[0\]\.flow_sampler\.sample_actions\[0\]\.action = "s": .*a sampler is no member of a sampler/,
    );
  });
});

describe("a refusal of the model", () => {
  const asoObjects = [{ name: "f", first_hit: [] }];
  it.each<[string, object, object]>([
    [
      "rules[1].actions[0].aso.return_reg_c = 2: ",
      { actions: [{ aso: { object: "f", return_reg_c: 2 } }] },
      { asoObjects },
    ],
    [
      "rules[1].actions[0].aso.offset = 512: ",
      { actions: [{ aso: { object: "f", offset: 512, return_reg_c: 1 } }] },
      { asoObjects },
    ],
    [
      'rules[1].actions[0].aso.flags = "flow_meter_yellow": ',
      { actions: [{ aso: { object: "f", flags: "flow_meter_yellow", return_reg_c: 1 } }] },
      { asoObjects },
    ],
    ['asoObjects[0].obj_type = "first_hit": ', {}, { asoObjects, device: { profile: "connectx5" } }],
    ["rules[1].actions[0].offset = 4: ", { actions: [{ count: "bulk", offset: 4 }] }, {}],
    [
      'rules[1].actions[0].flow_meter.next_table = "root": ',
      { actions: [{ flow_meter: { next_table: "root", reg_c_index: 0 } }] },
      {},
    ],
    [
      "rules[1].actions[0].flow_sampler.sample_actions = 2: ",
      {
        actions: [
          {
            flow_sampler: {
              sample_ratio: 1,
              default_next_table: "next",
              sample_actions: [{ queue: "a" }, { queue: "b" }],
            },
          },
        ],
      },
      {},
    ],
    [
      "rules[1].actions[0].flow_sampler.sample_actions[0] = nic_rx: ",
      {
        actions: [{ flow_sampler: { sample_ratio: 1, default_next_table: "next", sample_actions: [{ vport: 0 }] } }],
      },
      {},
    ],
    [
      'rules[1].actions[0].flow_sampler.action.set = "misc2.metadata_reg_c_9": ',
      {
        actions: [
          {
            flow_sampler: {
              sample_ratio: 1,
              default_next_table: "next",
              sample_actions: [{ queue: "a" }],
              action: { set: "misc2.metadata_reg_c_9", to: 1 },
            },
          },
        ],
      },
      {},
    ],
  ])("names its place: %s", async (message, rule, more) => {
    const whole = `loadScenario: ${message}`;
    expect((await refusal(withRules([rule], more))).slice(0, whole.length)).toBe(whole);
  });
});
