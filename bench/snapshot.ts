/** Saving and restoring a device with 100,000 rules: `node --import tsx bench/snapshot.ts`. */
import { createDevice } from "../src/index.js";
import * as dv from "../src/mlx5dv/index.js";
import { restoreDevice, snapshotOf } from "../src/snapshot/index.js";

const RULES = 100_000;
const ROUNDS = 15;
const VALUE = 64;
/** The addresses of the outer headers. */
const [FROM, TO] = [56, 64];

async function main(): Promise<void> {
  const device = await createDevice();
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const table = dv.mlx5dv_dr_table_create(domain, 1);
  const mask = { match_sz: VALUE, match_buf: new Uint8Array(VALUE).fill(0xff, FROM, TO) };
  const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 1, mask);
  const values = new Uint8Array(RULES * VALUE);
  const view = new DataView(values.buffer);
  for (let i = 0; i < RULES; i++) view.setUint32(i * VALUE + TO - 4, i);
  const drop = dv.mlx5dv_dr_action_create_drop();
  dv.createRules(matcher, { match_sz: VALUE, match_buf: values }, [drop]);
  const [saved, restored] = [newTimes(), newTimes()];
  // One after the other: what a restored device leaves to the garbage collector is no part of saving.
  let bytes = snapshotOf(device);
  for (let round = 0; round < ROUNDS; round++) bytes = await timed(saved, () => snapshotOf(device));
  for (let round = 0; round < ROUNDS; round++) await timed(restored, () => restoreDevice(bytes));
  console.log(`${RULES} rules, ${bytes.length} bytes, median of ${ROUNDS}`);
  print("snapshotOf", saved);
  print("restore", restored);
}

/** Milliseconds of each round: by the clock, and of CPU time, which other programs do not lengthen much. */
interface Times {
  readonly clock: number[];
  readonly cpu: number[];
}
const newTimes = (): Times => ({ clock: [], cpu: [] });

async function timed<T>({ clock, cpu }: Times, run: () => T | Promise<T>): Promise<T> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  const result = await run();
  const { user, system } = process.cpuUsage(before);
  clock.push(performance.now() - started);
  cpu.push((user + system) / 1000);
  return result;
}

function print(name: string, { clock, cpu }: Times): void {
  console.log(`${name.padEnd(10)} ${median(clock).toFixed(1)} ms, ${median(cpu).toFixed(1)} ms of CPU time`);
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1] as number;
}

await main();
