/** Random lives of connections: engine and reference agree on every syndrome and on every bit of the context. */
import { expect, test } from "vitest";
import { Random } from "../../oracle/generate/random.js";
import { FLAGS, live } from "./support/connectionLife.js";
import { ConnectionWorld } from "./support/connections.js";
import { seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

const LIVES = rounds(600);

/** All ways that docs/conntrack.md has: from where, of what kind, to where. A way that ends in "-" is invalid. */
const WAYS = `
  empty: syn half_open
  empty: syn_ack -, empty: ack -, empty: fin -, empty: rst -
  half_open: syn half_open, half_open: syn -
  half_open: syn_ack syn_received, half_open: syn_ack -
  half_open: rst empty, half_open: rst -, half_open: ack -, half_open: fin -
  syn_received: syn syn_received
  syn_received: syn_ack syn_received, syn_received: syn_ack established, syn_received: syn_ack -
  syn_received: ack syn_received, syn_received: ack established, syn_received: ack -
  syn_received: fin fin_wait, syn_received: fin -
  syn_received: rst empty, syn_received: rst syn_received, syn_received: rst -
  established: syn established, established: syn_ack established, established: syn_ack syn_received
  established: syn_ack -
  established: ack established, established: ack -, established: fin fin_wait, established: fin -
  established: rst empty, established: rst established, established: rst -
  fin_wait: syn fin_wait, fin_wait: syn_ack syn_received, fin_wait: syn_ack -
  fin_wait: ack close_wait, fin_wait: ack fin_wait, fin_wait: ack -
  fin_wait: fin last_ack, fin_wait: fin fin_wait, fin_wait: fin -
  fin_wait: rst empty, fin_wait: rst fin_wait, fin_wait: rst -
  close_wait: syn close_wait, close_wait: syn_ack syn_received, close_wait: syn_ack -
  close_wait: ack close_wait, close_wait: ack -
  close_wait: fin last_ack, close_wait: fin close_wait, close_wait: fin -
  close_wait: rst empty, close_wait: rst close_wait, close_wait: rst -
  last_ack: syn last_ack, last_ack: syn_ack syn_received, last_ack: syn_ack -
  last_ack: ack time_wait, last_ack: ack last_ack, last_ack: ack -
  last_ack: fin time_wait, last_ack: fin last_ack, last_ack: fin -
  last_ack: rst empty, last_ack: rst last_ack, last_ack: rst -
  time_wait: syn half_open, time_wait: syn time_wait, time_wait: syn_ack syn_received, time_wait: syn_ack -
  time_wait: ack time_wait, time_wait: ack -, time_wait: fin time_wait, time_wait: fin -
  time_wait: rst empty, time_wait: rst time_wait, time_wait: rst -
  undefined: syn -, undefined: syn_ack -, undefined: ack -, undefined: fin -, undefined: rst -
`
  .split(/[,\n]/)
  .map((way) => way.trim())
  .filter((way) => way !== "");

test("engine and reference agree on every life", async () => {
  const random = new Random(seedFor("connections"));
  const world = await ConnectionWorld.make();
  const seen = new Map<string, number>();
  const see = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  for (let life = 0; life < LIVES; life++) live(random, world, `life ${life}`, see);
  const wanted = [
    ...WAYS,
    ...[0, 2, 0x40, 0x41, 0x80].map((syndrome) => `syndrome ${syndrome}`),
    ...FLAGS.flatMap((flag) => [`${flag} 0`, `${flag} 1`]),
    ...[0, 1, 2, 3].map((count) => `counter ${count}`),
  ];
  checkReached(() => expect(wanted.filter((what) => !seen.has(what))).toEqual([]));
  // And no way that the page does not have.
  expect([...seen.keys()].filter((what) => what.includes(":") && !WAYS.includes(what))).toEqual([]);
  const rare = wanted.sort((a, b) => (seen.get(a) ?? 0) - (seen.get(b) ?? 0)).slice(0, 4);
  console.log(`the rarest of ${wanted.length}: ${rare.map((what) => `${what} (${seen.get(what) ?? 0})`).join(", ")}`);
});
