/** Every allocation for a frame fails once: the frame is dropped and says why, or goes its way; the next one does. */
import { expect, test } from "vitest";
import debug from "../../build/debug/core.wasm";
import { createSink, type Outcome } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { buildFrame, type Layer } from "../../src/packet/index.js";
import * as v from "../../src/verbs/index.js";
import { create, ENCRYPT, ESP_SPEC, handle, inline, sealed, sealing, TRANSPORT, tunnel } from "../verbs/support/esp.js";
import { DONT_TRAP, EGRESS, FlowBench, IPV4 } from "../verbs/support/flows.js";
import { Countdown, faultyCore } from "./support/faultyCore.js";

const RX = dv.MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
/** More allocations than any frame makes. */
const MAX = 50;
const TTL: dv.ModifyActions = [{ type: "set", field: "OUT_IP_TTL", data: 9 }];

const frameOf = (...layers: Layer[]): Uint8Array => buildFrame([{ header: "ethernet" }, ...layers]);
const IP: Layer = { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" };
const CLEAR = frameOf(IP, { header: "udp" }, { header: "payload", bytes: new Uint8Array(100) });
const TAGGED = frameOf(
  ...([{ header: "vlan", vid: 5 }, IP, { header: "udp" }, { header: "payload", bytes: new Uint8Array(40) }] as Layer[]),
);
const ESP = frameOf(
  IP,
  { header: "esp", spi: 9, sequence: 1 },
  { header: "payload", bytes: new Uint8Array(36).fill(0x45) },
);

/** What another device has encrypted. */
async function encrypted(esp: v.FlowActionEsp, clear: Uint8Array): Promise<Uint8Array> {
  const bench = await FlowBench.open();
  sealing(bench, create(bench, esp));
  return sealed(bench, clear);
}

/** A flow on bytes that another flow has taken before: what changes them has to copy them. */
function shared(bench: FlowBench, specs: readonly object[]): void {
  bench.flow("all", [], DONT_TRAP);
  bench.flow("in", specs, { priority: 1 });
}

/** A rule that sends a frame to a queue and to a table with these actions. */
function tabled(bench: FlowBench, actions: (domain: Domain, end: Table) => readonly Action[]): void {
  const { context } = bench;
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const tables = [0, 1, 2].map((level) => dv.mlx5dv_dr_table_create(domain, level)) as [Table, Table, Table];
  const { match_criteria_enable, mask, value } = dv.matchParameters({});
  const rule = (table: Table, list: readonly Action[]): void => {
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
    dv.mlx5dv_dr_rule_create(matcher, value, list.length, [...list]);
  };
  const to = (name: string): Action => dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, name));
  const members = [to("all"), dv.mlx5dv_dr_action_create_dest_table(tables[1])].map((dest) => ({
    type: dv.MLX5DV_DR_ACTION_DEST,
    dest,
  }));
  rule(tables[0], [dv.mlx5dv_dr_action_create_dest_array(domain, undefined, members)]);
  rule(tables[1], actions(domain, tables[2]));
  rule(tables[2], [to("in")]);
}

type Domain = ReturnType<typeof dv.mlx5dv_dr_domain_create>;
type Table = ReturnType<typeof dv.mlx5dv_dr_table_create>;
type Action = ReturnType<typeof dv.mlx5dv_dr_action_create_drop>;

const received =
  (frame: Uint8Array) =>
  ({ device }: FlowBench): Outcome =>
    device.receive(1, frame);
const sends =
  (frame: Uint8Array) =>
  (bench: FlowBench): Outcome =>
    bench.device.send(bench.qp("out"), frame);

const modifies = (bench: FlowBench): dv.FlowAction =>
  dv.mlx5dv_create_flow_action_modify_header(bench.context, undefined, TTL, RX);

const ENCRYPTED = await encrypted(tunnel(ENCRYPT), CLEAR);

/** What changes frames, a frame, and where it arrives. */
const CHANGES: readonly [string, (bench: FlowBench) => unknown, (bench: FlowBench) => Outcome][] = [
  ["a header change", (bench) => shared(bench, [handle(modifies(bench))]), received(CLEAR)],
  ["full offload", (bench) => shared(bench, [handle(create(bench, tunnel(0)))]), received(ENCRYPTED)],
  [
    "full offload in a batch",
    (bench) => shared(bench, [handle(create(bench, tunnel(0)))]),
    ({ device }) => device.receiveBatch(1, [ENCRYPTED, ENCRYPTED])[0]!,
  ],
  ["inline decryption", (bench) => bench.flow("in", [IPV4, ESP_SPEC, handle(create(bench, inline(0)))]), received(ESP)],
  ["tunnel mode", (bench) => sealing(bench, create(bench, tunnel(ENCRYPT))), sends(CLEAR)],
  [
    "transport mode",
    (bench) => sealing(bench, create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] }))),
    sends(CLEAR),
  ],
  [
    "inline encryption",
    (bench) => bench.flow("out", [IPV4, ESP_SPEC, handle(create(bench, inline(ENCRYPT)))], EGRESS),
    sends(ESP),
  ],
  [
    "no VLAN tag",
    (bench) => tabled(bench, (_, end) => [dv.mlx5dv_dr_action_create_pop_vlan(), to(end)]),
    received(TAGGED),
  ],
  [
    "a header change in a table",
    (bench) =>
      tabled(bench, (domain, end) => [dv.mlx5dv_dr_action_create_modify_header(domain, 0, undefined, TTL), to(end)]),
    received(CLEAR),
  ],
];

const to = (table: Table): Action => dv.mlx5dv_dr_action_create_dest_table(table);
const arrivals = ({ to: there }: Outcome): string[] =>
  there.map(({ name, frame }) => `${name} ${Buffer.from(frame).toString("hex")}`);

test.each(CHANGES)("%s", async (_, rule, steer) => {
  const open = async (): Promise<FlowBench> => {
    const bench = await FlowBench.open({ core: faultyCore(debug) });
    rule(bench);
    return bench;
  };
  const expected = arrivals(steer(await open()));
  expect(expected).not.toEqual([]);
  let dropped = 0;
  for (let n = 1, left = 0; left === 0; n++) {
    expect(n).toBeLessThan(MAX);
    const bench = await open();
    const countdown = new Countdown(bench.device);
    let outcome: Outcome | undefined;
    const ran = countdown.run(n, () => (outcome = steer(bench)));
    left = ran.left;
    const limited = bench.device.reasons().copy_limit;
    if (ran.error !== undefined) expect(countdown.isRefusal(ran.error)).toBe(true);
    else if (limited === 0n) expect(arrivals(outcome!)).toEqual(expected);
    else {
      // The branch without memory ends. Others go on.
      expect(limited).toBe(1n);
      expect(expected).toEqual(expect.arrayContaining(arrivals(outcome!)));
      if (arrivals(outcome!).length === 0) expect(outcome).toMatchObject({ verdict: "drop", reason: "copy_limit" });
      dropped++;
    }
    expect(arrivals(steer(bench)).length).toBe(expected.length);
  }
  expect(dropped).toBeGreaterThan(0);
});

test("a shared receive queue that cannot grow stays as it was", async () => {
  const bench = await FlowBench.open({ core: faultyCore(debug) });
  const pd = v.ibv_alloc_pd(bench.context);
  const srq = v.ibv_create_srq(pd, { attr: { max_wr: 2, max_sge: 1 } });
  const mr = v.ibv_reg_mr(pd, new Uint8Array(64), undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const post = (wr_id: number): unknown =>
    v.ibv_post_srq_recv(srq, { wr_id, sg_list: [{ addr: mr.bytes, lkey: mr.lkey }] });
  post(1);
  const countdown = new Countdown(bench.device);
  const { error } = countdown.run(1, () => v.ibv_modify_srq(srq, { max_wr: 64 }, v.IBV_SRQ_MAX_WR));
  expect(countdown.isRefusal(error)).toBe(true);
  expect(v.ibv_query_srq(srq)).toMatchObject({ max_wr: 2 });
  expect(v.ibv_modify_srq(srq, { max_wr: 64 }, v.IBV_SRQ_MAX_WR)).toBe(0);
  for (let n = 2; n <= 64; n++) post(n);
});

test("many rules that split frames", async () => {
  const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.udp_dport": 53 });
  let refusals = 0;
  for (let n = 1, left = 0; left === 0; n++) {
    expect(n).toBeLessThan(MAX);
    const bench = await FlowBench.open({ core: faultyCore(debug) });
    const domain = dv.mlx5dv_dr_domain_create(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
    const root = dv.mlx5dv_dr_table_create(domain, 0);
    const members = [1, 2].map((level) => ({
      type: dv.MLX5DV_DR_ACTION_DEST,
      dest: to(dv.mlx5dv_dr_table_create(domain, level)),
    }));
    const array = dv.mlx5dv_dr_action_create_dest_array(domain, undefined, members);
    const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match_criteria_enable, mask);
    const countdown = new Countdown(bench.device);
    const used = bench.device.memoryUsed;
    const ran = countdown.run(n, () => dv.createRules(matcher, value, [array]));
    left = ran.left;
    if (ran.error === undefined) continue;
    expect(countdown.isRefusal(ran.error)).toBe(true);
    refusals++;
    // A table keeps room for masks (assembly/classify/definer.ts).
    expect(Number(bench.device.memoryUsed) - Number(used)).toBeLessThan(2048);
  }
  expect(refusals).toBeGreaterThan(2);
});
