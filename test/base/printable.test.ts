/** What objects look like in a console and in JSON: a few lines of fields, no internals, no circles. */
import { beforeAll, describe, expect, test } from "vitest";
import { createDevice, createSink, SteeringError, type Outcome } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { hexOf } from "../../src/packet/bytes.js";
import { INSPECT, type Printable } from "../../src/base/printable.js";
import * as verbs from "../../src/verbs/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../mlx5dv/support/directRules.js";

/** What `util.inspect` of Node does with an object, without colours and line breaks, so that it runs in browsers too. */
function printed(value: unknown, depth = 4): string {
  if (typeof value !== "object" || value === null) {
    return typeof value === "string" ? `'${value}'` : `${String(value)}${typeof value === "bigint" ? "n" : ""}`;
  }
  const custom = (value as Partial<Record<typeof INSPECT, Printable[typeof INSPECT]>>)[INSPECT];
  if (custom !== undefined) return custom.call(value as Printable, depth, {}, (inner) => printed(inner, depth - 1));
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[ ${value.map((one) => printed(one, depth - 1)).join(", ")} ]`;
  }
  const fields = Object.entries(value).map(([name, one]) => `${name}: ${printed(one, depth - 1)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

let bench: Bench;
let outcome: Outcome;
let objects: Record<string, Printable>;

beforeAll(async () => {
  bench = await openBench({ ports: 2, vports: 1 });
  const { device, context, domain, root, queue } = bench;
  const match = dv.matchParameters({ "outer.tcp_dport": 80 });
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match.match_criteria_enable, match.mask);
  const tag = dv.mlx5dv_dr_action_create_tag(7);
  const target = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  const rule = dv.mlx5dv_dr_rule_create(matcher, match.value, 2, [tag, target]);
  const pd = verbs.ibv_alloc_pd(context);
  const cq = verbs.ibv_create_cq(context, 16);
  const cap = { max_send_wr: 1, max_recv_wr: 1, max_send_sge: 1, max_recv_sge: 1 };
  const qp = verbs.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: verbs.IBV_QPT_RAW_PACKET });
  const hostRule = device.hostRules.add({ application: "nic", action: { queue: 3 } });
  const mr = verbs.ibv_reg_mr(pd, new Uint8Array(64), 64, 1);
  const flow = verbs.ibv_create_flow(queue, { type: 0, priority: 0, port: 1, flags: 0, specs: [] });
  const counters = verbs.ibv_create_counters(context, { comp_mask: 0 });
  outcome = device.receive(1, ipv4Frame());
  objects = { device, function: device.function(1), cache: device.cache, context, pd, mr, cq, queue, qp, domain, root };
  objects = { ...objects, matcher, tag, target, rule, hostRule, hostRules: device.hostRules, flow, counters };
});

describe("in a console", () => {
  test.each([
    ["root", "Table { name: table0, domain: nic_rx, level: 0, matchers: 1 }"],
    ["rule", "Rule { name: rule0, matcher: matcher0, actions: [ tag, dest_ibv_qp (web) ], id: 0 }"],
    ["hostRule", "HostRule { name: nic0, id: 1, application: nic, priority: 0, action: { queue: 3 } }"],
    ["qp", "QueuePair { name: qp2, qp_num: 2, qp_type: 8, pd: pd0, context: flowsteer0/context0, state: RESET }"],
    ["queue", "QueuePair { name: web, qp_num: 1, qp_type: 8, context: flowsteer0/context0, state: sink }"],
    ["cache", "FlowCache { entries: 65536, hits: 0n, misses: 1n, paused: false }"],
    [
      "device",
      "Device { name: flowsteer0, ports: 2, vports: 1, profile: manual, seed: 0, contexts: 1, rules: 3, memoryUsed: SIZE, closed: false }",
    ],
  ])("%s", (name, text) => {
    expect(printed(objects[name]).replace(/(?<=memoryUsed: )\d+/, "SIZE")).toBe(text);
  });

  test("an outcome names rules and objects, and shows the first bytes of frames", () => {
    const { frame } = outcome.to[0] ?? { frame: new Uint8Array() };
    const bytes = `${frame.length} bytes ${hexOf(frame.subarray(0, 16))}...`;
    expect(printed(outcome)).toBe(
      `Outcome { verdict: deliver, reason: null, to: [ Destination { kind: qp, name: qp:web, object: web, ` +
        `frame: ${bytes}, tag: 7 } ], tag: 7, registers: {}, rules: [ rule0 ], copies: [] }`,
    );
  });

  test("no object is long", () => {
    for (const [name, object] of Object.entries(objects)) expect(printed(object).length, name).toBeLessThan(300);
  });

  test("below the depth that was asked for, the name of the class is left", () => {
    expect(printed(objects["root"], -1)).toBe("[Table]");
  });

  test("a destroyed object says so", async () => {
    const { context } = await openBench();
    const pd = verbs.ibv_alloc_pd(context);
    verbs.ibv_dealloc_pd(pd);
    expect(printed(pd)).toContain("destroyed: true");
  });
});

describe("in JSON", () => {
  test("an outcome has all of its fields: names for objects, hexadecimal digits for frames", () => {
    const [{ frame } = { frame: new Uint8Array() }] = outcome.to;
    expect(JSON.parse(JSON.stringify(outcome))).toEqual({
      verdict: "deliver",
      reason: null,
      to: [{ kind: "qp", name: "qp:web", object: "web", frame: hexOf(frame), tag: 7 }],
      tag: 7,
      registers: {},
      rules: ["rule0"],
      copies: [],
    });
  });

  test("a frame that left by a cable has the outcome at the far port", async () => {
    const { device, queue } = await openBench({ ports: 2 });
    device.connect(1, device, 2);
    const sent = device.send(queue, ipv4Frame());
    const json = JSON.parse(JSON.stringify(sent)) as {
      to: { name: string; object: null; outcome: { verdict: string } }[];
    };
    expect(json.to).toMatchObject([{ name: "port:1", object: null, outcome: { verdict: "miss", to: [] } }]);
  });

  test("every object has the fields of its text", () => {
    for (const [name, object] of Object.entries(objects)) {
      const fields = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
      expect(Object.keys(fields).length, name).toBeGreaterThan(1);
      for (const field of Object.keys(fields)) expect(printed(object), name).toContain(`${field}: `);
    }
    expect(JSON.stringify(objects["cache"])).toBe('{"entries":65536,"hits":"0","misses":"1","paused":false}');
  });

  test("an error has its message and all fields, whatever its value is", () => {
    const { device, domain } = bench;
    const busy = refused(() => dv.mlx5dv_dr_domain_destroy(domain));
    expect(JSON.parse(JSON.stringify(busy))).toMatchObject({
      name: "SteeringError",
      message: busy?.message,
      errno: 16,
      code: "EBUSY",
      reason: "in_use",
      value: domain.name,
    });
    const circle: Record<string, unknown> = { bytes: Uint8Array.of(1, 255), big: 5n, device, make: () => 1 };
    circle["itself"] = circle;
    const error = new SteeringError({ code: "EINVAL", call: "test", reason: "bad_object", value: circle });
    const { value } = JSON.parse(JSON.stringify(error)) as { value: unknown };
    expect(value).toMatchObject({ bytes: "01ff", big: "5", device: "flowsteer0", make: "function" });
  });
});

test("an error has no enumerable field that Node would print as internals", async () => {
  const { domain, context } = bench;
  const busy = refused(() => dv.mlx5dv_dr_domain_destroy(domain));
  expect(busy?.value).toBe(domain);
  expect(Object.keys(busy ?? {}).sort()).toEqual(["call", "code", "errno", "hint", "name", "path", "reason"]);
  const error = (await createDevice({ ports: 0 }).catch((caught: unknown) => caught)) as SteeringError;
  expect(Object.keys(error)).toContain("value");
  expect(createSink(context, "other").name).toBe("other");
});
