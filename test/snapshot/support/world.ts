/** Random devices with direct rules, a meter, buffers, messages of connected queue pairs, and steps that do the same in any copy. */
import { createDevice, createSink, type Device, type Outcome } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused, type Bench } from "../../mlx5dv/support/directRules.js";
import { ruleFor } from "../../mlx5dv/support/switchBench.js";
import { meterFrames } from "../../model/support/meters.js";
import { join, openEnd, pattern, post, postReceives, type End } from "../../verbs/support/connected.js";
import { text } from "./same.js";

export type World = Bench & {
  [field: string]: unknown;
  ends: [End, End];
  table: ReturnType<typeof dv.mlx5dv_dr_table_create>;
  rules: ReturnType<typeof ruleFor>[];
};

export async function openWorld(random: () => number): Promise<World> {
  const device = await createDevice({
    ports: 2,
    seed: random(),
    asyncRules: random() % 4 === 0,
    countHits: random() % 2 === 0,
    profile: random() % 2 === 0 ? "manual" : "connectx7",
  });
  device.connect(1, device, 2);
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const queue = createSink(context, "web");
  const ends: [End, End] = [openEnd(device), openEnd(device, { port: 2 })];
  join(...ends, { rnr_retry: 1, retry_cnt: 1 });
  const bench = { device, context, domain, root, queue };
  if (random() % 2 === 0 && refused(() => meterFrames(bench)) === undefined) {
    dv.mlx5dv_dr_domain_sync(domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW);
  }
  return { ...bench, ends, table: dv.mlx5dv_dr_table_create(domain, 7), rules: [] };
}

export type Step = (world: World) => unknown;

/** A step that does the same in any copy of a world. */
export function drawStep(random: () => number): Step {
  const [kind, a, b] = [random() % 10, random(), random()];
  const port = 80 + (a % 6);
  const steps: Step[] = [
    ({ rules, root, queue }) => {
      const action = b % 3 === 0 ? dv.mlx5dv_dr_action_create_drop() : dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
      rules.push(ruleFor(root, { "outer.tcp_dport": port }, [action]));
    },
    ({ rules, root, table }) =>
      rules.push(ruleFor(root, { "outer.tcp_dport": port }, [dv.mlx5dv_dr_action_create_dest_table(table)])),
    ({ rules, table, queue }) =>
      rules.push(ruleFor(table, { "outer.tcp_dport": port }, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)])),
    ({ rules }) => {
      const rule = rules.splice(b % Math.max(rules.length, 1), 1)[0];
      if (rule !== undefined) dv.mlx5dv_dr_rule_destroy(rule);
    },
    ({ device }) => frames(device, port, 1 + (b % 8)),
    ({ ends }) => post(ends[a & 1] as End, pattern(b % 5000, a & 0xff), { wr_id: b % 100 }),
    ({ ends }) => postReceives(ends[a & 1] as End, 1 + (b % 2), 2048, b % 3),
    ({ ends }) => ends.map(({ sent, received }) => [v.ibv_poll_cq(sent, a % 4), v.ibv_poll_cq(received, b % 4)]),
    ({ device }) => device.advance(BigInt(a % 1000)),
    ({ domain }) => dv.mlx5dv_dr_domain_sync(domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW),
  ];
  return steps[kind] as Step;
}

function frames(device: Device, dport: number, count: number): Outcome[] {
  return device.receiveBatch(
    1,
    Array.from({ length: count }, (_, i) => ipv4Frame({ dport: dport + (i % 3) })),
  );
}

/** What a step answers: its result, or its refusal. */
export function answer(step: Step, world: World): string {
  let result: unknown;
  const error = refused(() => (result = step(world)));
  return error === undefined ? text(result) : `${error.code} ${error.reason} ${error.path}`;
}
