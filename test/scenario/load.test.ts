/** Scenarios on a device: refusals of the model with their place, what comes out, expectations that fail. */
import { describe, expect, it } from "vitest";
import { cannotRun, loadScenario, outcomeRecord, type FrameInput } from "../../src/scenario/index.js";
import { everyKey, WEB_FRAME, withRules } from "./support/documents.js";
import { refusal } from "./support/scenarios.js";

const web: FrameInput = {
  bytes: Uint8Array.from(WEB_FRAME.replace(/\s/g, "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
};

describe("a refusal of the model", () => {
  it.each([
    [
      { match: { "outer.tcp_dport": "80-" } },
      'rules[0].match.outer.tcp_dport = "80-": not a range that fits the field (EINVAL); write it as 80, "0x50", "0x2/0x3f" or "1024-65535"',
    ],
    [
      { match: { "outer.tcp_dprt": 80 } },
      'rules[0].match.outer.tcp_dprt: no field has this name (EINVAL); did you mean "outer.tcp_dport"?',
    ],
    [
      { match: { tcp_dport: 80 } },
      'rules[0].match.tcp_dport: no field has this name (EINVAL); did you mean "outer.tcp_dport" or "inner.tcp_dport"?',
    ],
    [
      { match: { "outer.ipv4_dst": "10.0.0.0/33" } },
      'rules[0].match.outer.ipv4_dst = "10.0.0.0/33": not a prefix length of this address (EINVAL); a prefix of outer.ipv4_dst has 0 to 32 bits',
    ],
    [
      { match: { "misc4.prog_sample_field_id_1": 1 } },
      "rules[0].match.misc4.prog_sample_field_id_1: the device does not support this (EOPNOTSUPP); ids stand in device bytes; here, sample n is misc4.prog_sample_field_value_n",
    ],
    [
      { actions: ["drop", { queue: "web" }] },
      "rules[0].actions[1] = dest_ibv_qp (web): these actions cannot be in one rule (EINVAL); drop already ends the rule [mlx5dv_dr: Actions]",
    ],
    [
      { actions: [{ table: "root" }] },
      'rules[0].actions[0].table = "root": a root table is not allowed here (EINVAL); a destination table has a level higher than zero [mlx5dv_dr: Destination]',
    ],
  ])("names its place: %j", async (rule, message) => {
    const whole = `loadScenario: ${message}`;
    // A hint of the model may be worded anew there.
    expect((await refusal(withRules(rule))).slice(0, whole.length)).toBe(whole);
  });

  it("names the place of a mask, of a device option, of a rule that differs from its mask", async () => {
    const masked = { ...withRules(), matchers: [{ name: "m", table: "root", mask: { "outer.smac": "/x" } }] };
    expect(await refusal(masked)).toMatch(/^loadScenario: matchers\[0\]\.mask\.outer\.smac = "\/x": /);
    expect(await refusal({ flowsteer: 1, device: { profile: "none" } })).toMatch(
      /^loadScenario: device\.profile = "none": /,
    );
    const differs = {
      ...withRules({ table: undefined, matcher: "m", match: { "outer.udp_dport": 1 } }),
      matchers: [{ name: "m", table: "root", mask: { "outer.tcp_dport": "full" } }],
    };
    expect(await refusal(JSON.parse(JSON.stringify(differs)))).toMatch(/^loadScenario: rules\[0\].match: /);
  });

  it("names a queue whose buffers are more than the device has memory for", async () => {
    const queues = [{ name: "q", buffers: 32768, bufferSize: 65536 }];
    expect(await refusal({ flowsteer: 1, queues })).toMatch(/^loadScenario: queues\[0\]\.bufferSize = 65536: .*ENOMEM/);
  });
});

describe("run", () => {
  it("gives outcomes as the document names things, and meets its expectations", async () => {
    const loaded = await loadScenario(everyKey());
    const records = loaded.run().map((outcome, i) => outcomeRecord(i + 1, loaded.frames[i]!, outcome));
    const missed =
      '{"verdict":"miss","reason":"default_miss","to":[],"tag":null,"rules":["all"],"registers":{},"copies":[],"toTags":[],"copyTags":[],"toFrames":[],"copyFrames":[],"beyond":{}}';
    expect(records.map((record) => JSON.stringify(record))).toEqual([
      '{"frame":1,"len":60,"verdict":"deliver","reason":null,"to":["qp:web"],"tag":5,"rules":["tcp","https"],"registers":{},"copies":[],"toTags":[5],"copyTags":[],"toFrames":[null],"copyFrames":[],"beyond":{}}',
      '{"frame":2,"len":14,"verdict":"miss","reason":"default_miss","to":[],"tag":null,"rules":["tap","all"],"registers":{},"copies":["qp:rest"],"toTags":[],"copyTags":[7],"toFrames":[],"copyFrames":[null],"beyond":{}}',
      `{"frame":3,"len":14,"verdict":"transmit","reason":null,"to":["port:1"],"tag":null,"rules":["tap","all"],"registers":{},"copies":["qp:rest"],"toTags":[0],"copyTags":[7],"toFrames":[null],"copyFrames":[null],"beyond":{"port:1":${missed}}}`,
    ]);
    expect(loaded.disagreements).toEqual([]);
    expect(loaded.failures()).toEqual([]);
    expect(loaded.queues.get("web")?.buffers).toMatchObject({ posted: 2, completed: 1, failed: 0 });
    expect(loaded.device).toMatchObject({ name: "dut", ports: 2, seed: 7 });
  });

  it("takes device options before those of the document", async () => {
    expect((await loadScenario(everyKey(), { name: "other", ports: 4 })).device).toMatchObject({
      name: "other",
      ports: 4,
      seed: 7,
    });
  });

  it("does not post receive buffers again", async () => {
    const loaded = await loadScenario({
      ...withRules({ actions: [{ queue: "web" }] }),
      queues: [{ name: "web", buffers: 2, bufferSize: 54 }],
    });
    expect(loaded.run([web, web]).map(({ verdict }) => verdict)).toEqual(["deliver", "deliver"]);
    expect(loaded.run([web]).map(({ reason }) => reason)).toEqual(["no_receive_buffer"]);
    expect(loaded.queues.get("web")?.buffers).toMatchObject({ posted: 2, completed: 2, failed: 0 });
    expect(loaded.disagreements).toEqual([]);
  });

  it("counts a completion with an error where the buffer is too short", async () => {
    const loaded = await loadScenario({
      ...withRules({ actions: [{ queue: "web" }] }),
      queues: [{ name: "web", buffers: 2, bufferSize: 53 }],
    });
    expect(loaded.run([web]).map(({ reason }) => reason)).toEqual(["receive_buffer_too_short"]);
    expect(loaded.queues.get("web")?.buffers).toMatchObject({ completed: 0, failed: 1 });
    expect(loaded.disagreements).toEqual([]);
  });

  it("notices an outcome without its completion", async () => {
    const loaded = await loadScenario({
      ...withRules({ actions: [{ queue: "web" }] }),
      queues: [{ name: "web", buffers: 2 }],
    });
    loaded.queues.get("web")?.buffers?.delivered(web.bytes, 9);
    loaded.run([web]);
    expect(loaded.disagreements).toEqual([
      { path: "queues", about: "queue web", what: "completion", expected: "54 bytes, tag 9", got: "54 bytes, tag 0" },
      { path: "queues", about: "queue web", what: "completion", expected: "54 bytes, tag 0", got: "none" },
    ]);
  });

  it("keeps the order of frames that come in on several ports", async () => {
    const loaded = await loadScenario({
      ...withRules({ match: { "ext.port": 2 }, actions: [{ queue: "web" }] }),
      device: { ports: 2 },
    });
    const ports = [1, 2, 2, 1, 2];
    const verdicts = loaded.run(ports.map((port) => ({ ...web, port }))).map(({ verdict }) => verdict);
    expect(verdicts).toEqual(["miss", "deliver", "deliver", "miss", "deliver"]);
  });

  it("sends frames from queues, in order with those that come in", async () => {
    const loaded = await loadScenario({
      ...withRules({ match: { "ext.port": 2 }, actions: [{ tag: 3 }, { queue: "far" }] }),
      device: { ports: 2 },
      connect: [{ port: 1, to: 2 }],
      queues: [
        { name: "far", buffers: 4 },
        { name: "near", port: 1 },
        { name: "second", port: 2, buffers: 1 },
      ],
    });
    const come = { ...web, port: 2 };
    const outcomes = loaded.run([come, { ...web, send: "near" }, { ...web, send: "second" }, come]);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["deliver", "transmit", "deliver", "deliver"]);
    expect(outcomeRecord(2, web, outcomes[1]!)).toMatchObject({
      to: ["port:1"],
      beyond: { "port:1": { verdict: "deliver", to: ["qp:far"], toTags: [3], rules: ["rule 0"] } },
    });
    expect(loaded.queues.get("far")?.buffers).toMatchObject({ completed: 4 });
    expect(loaded.disagreements).toEqual([]);
    expect(loaded.tally.ends.map(({ to, frames }) => [to, frames])).toEqual([
      ["qp:far", 3],
      ["port:1", 1],
    ]);
    expect(loaded.tally.beyond).toEqual([
      { port: "port:1", to: "qp:far", verdict: "deliver", reason: null, missed: [], frames: 1, bytes: 54 },
    ]);
    expect(loaded.tally.rule(loaded.rules.get("rule 0")!).frames).toBe(4);
  });

  it.each([
    ["reset", 0, 0, "queue_not_ready"],
    ["init", 2, 0, "queue_not_ready"],
    ["rtr", 2, 0, null],
    ["rts", 2, 0, null],
    ["err", 2, 2, "queue_not_ready"],
  ])("has queues in %s", async (state, posted, failed, reason) => {
    const loaded = await loadScenario({
      ...withRules({ actions: [{ queue: "web" }] }),
      queues: [
        { name: "web", buffers: 2, state },
        { name: "datagrams", buffers: 2, type: "ud", state },
      ],
    });
    expect(loaded.run([web]).map((outcome) => outcome.reason)).toEqual([reason]);
    expect(loaded.queues.get("web")?.buffers).toMatchObject({ posted, failed, completed: reason === null ? 1 : 0 });
    expect(loaded.queues.get("datagrams")?.buffers).toMatchObject({ posted, failed, completed: 0 });
    expect(loaded.disagreements).toEqual([]);
  });

  it("lists rules as they are asked", async () => {
    const document = {
      ...withRules(
        { name: "in l4", table: "l4" },
        { name: "late", priority: 9 },
        { name: "of the newer", table: undefined, matcher: "newer" },
        { name: "of the older", table: undefined, matcher: "older" },
        { name: "late too", priority: 9 },
        { name: "early", priority: 0 },
      ),
      matchers: [
        { name: "older", table: "root", priority: 5 },
        { name: "newer", table: "root", priority: 5 },
      ],
    };
    const loaded = await loadScenario(JSON.parse(JSON.stringify(document)));
    expect(loaded.rulesByRank().map(({ name }) => name)).toEqual([
      "early",
      "of the older",
      "of the newer",
      "late",
      "late too",
      "in l4",
    ]);
  });
});

describe("expectations that fail", () => {
  it("tell what came instead", async () => {
    const document = everyKey() as { expect: unknown };
    document.expect = {
      frames: [
        { frame: 1, verdict: "drop", reason: "drop_action", to: [], tag: null, rules: ["tcp"] },
        { frame: "first", tag: 6 },
        {
          frame: "first",
          toTags: [],
          copies: ["qp:rest"],
          copyTags: [1],
          beyond: { "port:2": { verdict: "deliver" } },
        },
        { frame: "sent", beyond: { "port:1": { verdict: "deliver", reason: "default_miss" } } },
      ],
      counters: { hits: { packets: 2, bytes: 61 } },
      flowCounters: { addresses: [0, 0] },
      totals: {
        frames: 2,
        bytes: 75,
        verdicts: { miss: 2, transmit: 1 },
        to: { "qp:rest": 1 },
        copies: { "qp:rest": 1 },
        rules: { tcp: 0, tap: 1, "host rule 2": 1 },
      },
    };
    const loaded = await loadScenario(document);
    loaded.run();
    const lines = loaded.failures().map(({ path, about, expected, got }) => [path, about, expected, got]);
    expect(lines).toEqual([
      ["expect.frames[0].verdict", 'frame 1 "first"', "drop", "deliver"],
      ["expect.frames[0].reason", 'frame 1 "first"', "drop_action", null],
      ["expect.frames[0].to", 'frame 1 "first"', [], ["qp:web"]],
      ["expect.frames[0].tag", 'frame 1 "first"', null, 5],
      ["expect.frames[0].rules", 'frame 1 "first"', ["tcp"], ["tcp", "https"]],
      ["expect.frames[1].tag", 'frame 1 "first"', 6, 5],
      ["expect.frames[2].toTags", 'frame 1 "first"', [], [5]],
      ["expect.frames[2].copies", 'frame 1 "first"', ["qp:rest"], []],
      ["expect.frames[2].copyTags", 'frame 1 "first"', [1], []],
      ['expect.frames[2].beyond["port:2"]', 'frame 1 "first" beyond port:2', "a frame", "none came"],
      ['expect.frames[3].beyond["port:1"].verdict', 'frame 3 "sent" beyond port:1', "deliver", "miss"],
      ["expect.counters.hits.packets", "counter hits", 2, 1],
      ["expect.counters.hits.bytes", "counter hits", 61, 60],
      ["expect.flowCounters.addresses", "flow counter addresses", [0, 0], [0, 0, 0]],
      ["expect.totals.frames", "all frames", 2, 3],
      ["expect.totals.bytes", "all frames", 75, 88],
      ["expect.totals.verdicts.miss", "verdict miss", 2, 1],
      ['expect.totals.to["qp:rest"]', "destination qp:rest", 1, 0],
      ['expect.totals.copies["qp:rest"]', "copies to qp:rest", 1, 2],
      ["expect.totals.rules.tcp", "rule tcp", 0, 1],
      ["expect.totals.rules.tap", "rule tap", 1, 2],
      ['expect.totals.rules["host rule 2"]', "rule host rule 2", 1, 0],
    ]);
  });

  it("include a frame that never came", async () => {
    const loaded = await loadScenario({ ...withRules(), expect: { frames: [{ frame: 2, verdict: "miss" }] } });
    loaded.run([web]);
    expect(loaded.failures()).toEqual([
      { path: "expect.frames[0]", about: "frame 2", what: "frame", expected: "a frame", got: "none came" },
    ]);
    loaded.run([web]);
    expect(loaded.failures()).toEqual([]);
  });
});

describe("numbers of frames", () => {
  it("count from 1 over all runs, unless a frame brings its own", async () => {
    const expected = [1, 2, 9, 10].map((frame) => ({ frame, verdict: "drop" }));
    const loaded = await loadScenario({ ...withRules(), expect: { frames: expected } });
    loaded.run([web]);
    loaded.run([web, { ...web, number: 9 }, web]);
    expect(loaded.failures().map(({ about, got }) => [about, got])).toEqual(
      [1, 2, 9, 10].map((frame) => [`frame ${frame}`, "miss"]),
    );
  });
});

describe("cannotRun", () => {
  it("tells link types without a parser and frames longer than any", () => {
    expect(cannotRun(1, 262_144)).toBeNull();
    expect(cannotRun(276, 60)).toBeNull();
    expect(cannotRun(147, 60)).toBe("link type private use (147)");
    expect(cannotRun(1, 262_145)).toBe("longer than 262144 bytes");
  });
});
