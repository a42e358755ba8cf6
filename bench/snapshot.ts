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
  const [saved, restored]: number[][] = [[], []];
  let length = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = timed(saved as number[], () => snapshotOf(device));
    length = bytes.length;
    const started = performance.now();
    await restoreDevice(bytes);
    restored?.push(performance.now() - started);
  }
  const row = (name: string, times: number[]): string => `${name.padEnd(10)} ${median(times).toFixed(1)} ms`;
  console.log(`${RULES} rules, ${length} bytes, median of ${ROUNDS}`);
  console.log(row("snapshotOf", saved as number[]));
  console.log(row("restore", restored as number[]));
}

function timed<T>(times: number[], run: () => T): T {
  const started = performance.now();
  const result = run();
  times.push(performance.now() - started);
  return result;
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1] as number;
}

await main();
