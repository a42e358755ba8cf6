/**
 * The columns of a burst (docs/frames.md, Bursts), written by hand for a frame of each kind,
 * wherever its row is.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createSink, NO_RULE, REASONS, VERDICTS, type Burst, type HitRule } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { openSwitch, ruleFor, type SwitchBench } from "../../mlx5dv/support/switchBench.js";
import { Random } from "../../oracle/generate/random.js";

/** The expected columns of a row. */
interface Row {
  verdict: string;
  reason?: string;
  tag?: number;
  hits: number;
  /** The last rule. */
  rule?: HitRule;
  destinations?: number;
  /** The first destination. */
  to?: string;
}

let bench: SwitchBench;
let burst: Burst;
/** Rows by TCP port. */
let expected: Map<number, Row>;

const toQueue = (queue: QueuePair): Action => dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
const tagWith = (tag: number): Action => dv.mlx5dv_dr_action_create_tag(tag);

/** A queue pair that is not ready to receive. */
function deafQueue(): QueuePair {
  const cq = v.ibv_create_cq(bench.context, 1);
  const cap = { max_send_wr: 1, max_recv_wr: 1, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
  const attributes = { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET };
  return v.ibv_create_qp(v.ibv_alloc_pd(bench.context), attributes);
}

/** A copy to each queue. */
function toAll(...queues: QueuePair[]): Action {
  const members = queues.map((queue) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest: toQueue(queue) }));
  return dv.mlx5dv_dr_action_create_dest_array(bench.rx.domain, members.length, members);
}

beforeEach(async () => {
  bench = await openSwitch();
  burst = bench.device.openBurst();
  expected = new Map();
  const { root, table } = bench.rx;
  const [web, mail, deaf] = [createSink(bench.context, "web"), createSink(bench.context, "mail"), deafQueue()];
  const rule = (actions: readonly Action[], row: Omit<Row, "rule">, at = root): void => {
    const dport = 80 + expected.size;
    const made = ruleFor(at, { "outer.tcp_dport": dport }, actions);
    if (at !== root) ruleFor(root, { "outer.tcp_dport": dport }, [dv.mlx5dv_dr_action_create_dest_table(table)]);
    expected.set(dport, { ...row, rule: made });
  };
  const arrives = { verdict: "deliver", hits: 1, destinations: 1, to: "qp:web" };
  rule([tagWith(7), toQueue(web)], { ...arrives, tag: 7 });
  rule([toQueue(mail)], { ...arrives, to: "qp:mail" });
  rule([tagWith(0), toQueue(web)], { ...arrives, tag: 0 });
  rule([tagWith(0xffffff), toQueue(web)], { ...arrives, tag: 0xffffff });
  rule([dv.mlx5dv_dr_action_create_drop()], { verdict: "drop", reason: "drop_action", hits: 1 });
  rule([tagWith(9), toQueue(web)], { ...arrives, hits: 2, tag: 9 }, table);
  rule([toAll(mail, web)], { ...arrives, destinations: 2, to: "qp:mail" });
  rule([toAll(web, mail, web)], { ...arrives, destinations: 3 });
  rule([toQueue(deaf)], { verdict: "drop", reason: "queue_not_ready", hits: 1 });
  rule([toAll(deaf, web)], arrives);
  rule([toAll(mail, deaf)], { ...arrives, to: "qp:mail" });
  rule(
    [dv.mlx5dv_dr_action_create_dest_ib_port(bench.fdb.domain, 2)],
    { ...arrives, verdict: "forward", to: "port:2" },
    bench.fdb.root,
  );
  expected.set(80 + expected.size, { verdict: "miss", reason: "no_rule", hits: 0 });
});

/** All columns of a row. */
function columns(row: number): Row {
  const { device } = bench;
  const [verdict, reason] = [VERDICTS[burst.verdicts[row]!] ?? "?", REASONS[burst.reasons[row]!] ?? "?"];
  const destinations = burst.destinations[row]!;
  const rules = device.rulesOf(burst.rules[row]!);
  expect(rules.length).toBe(burst.rules[row] === NO_RULE ? 0 : 1);
  return {
    verdict,
    hits: burst.hits[row]!,
    ...(reason === "none" ? {} : { reason }),
    ...(burst.tagged[row] === 1 ? { tag: burst.tags[row]! } : {}),
    ...(rules.length === 0 ? {} : { rule: rules[0]! }),
    ...(destinations === 0 ? {} : { destinations, to: device.destinationName(burst.queues[row]!, burst.kinds[row]!) }),
  };
}

/** Steers frames for these TCP ports, and compares every row with the expected one. */
function holds(dports: readonly number[], enter: "put" | "add" = "put"): void {
  burst.clear();
  let at = 0;
  for (const [row, dport] of dports.entries()) {
    const frame = ipv4Frame({ dport });
    if (enter === "add") burst.bytes.set(frame, at);
    expect(enter === "put" ? burst.put(frame) : burst.add(at, frame.length)).toBe(row);
    at += frame.length;
  }
  expect(burst.steer()).toBe(dports.length);
  expect(burst.count).toBe(dports.length);
  for (const [row, dport] of dports.entries()) {
    const { rule, ...rest } = expected.get(dport) as Row;
    const { rule: last, ...others } = columns(row);
    expect(others).toEqual(rest);
    expect(last === rule).toBe(true);
  }
}

describe.each(["put", "add"] as const)("frames that come by %s", (enter) => {
  test("each alone, in a burst that others have used", () => {
    for (const dport of [...expected.keys(), ...[...expected.keys()].reverse()]) holds([dport], enter);
  });

  test("all kinds side by side, in any order, few and many of them", () => {
    const random = new Random(5);
    const all = [...expected.keys()];
    for (const count of [all.length, 31, 32, 33, burst.rows, 40, 2]) {
      const drawn = Array.from({ length: count }, () => random.pick(all));
      holds(count === all.length ? all : drawn, enter);
      holds(drawn.reverse(), enter);
    }
  });
});
