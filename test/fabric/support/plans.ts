/** Random fabrics: devices, cables, traffic that begets traffic, connections with timers. A plan can be built twice. */
import { createDevice, createSink, type Device } from "../../../src/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import type { Link } from "../../../src/fabric/index.js";
import * as v from "../../../src/verbs/index.js";
import { join, openEnd, pattern, post, postReceives, type End } from "../../verbs/support/connected.js";

export interface Plan {
  readonly ports: readonly number[];
  readonly links: readonly Link[];
  /** Links whose ends have connected queue pairs. */
  readonly connected: readonly number[];
  readonly events: readonly PlannedEvent[];
}

interface PlannedEvent {
  readonly at: bigint;
  readonly kind: "send" | "post" | "cut";
  readonly who: number;
  readonly salt: number;
}

/** A host that answers each frame with others until their lives are over. */
export interface Host {
  readonly device: Device;
  readonly senders: readonly ReturnType<typeof createSink>[];
}

/** Times that coincide often. */
const DELAYS = [0n, 1n, 500n, 1_000n, 1_000n, 2_000n];

export function drawPlan(random: () => number): Plan {
  const ports = Array.from({ length: 2 + (random() % 9) }, () => 1 + (random() % 4));
  const free = ports.flatMap((count, host) => Array.from({ length: count }, (_, port) => `n${host}:${port + 1}`));
  for (let i = free.length - 1; i > 0; i--) {
    const j = random() % (i + 1);
    [free[i], free[j]] = [free[j]!, free[i]!];
  }
  const links: Link[] = [];
  for (let i = 0; i + 1 < free.length; i += 2) {
    if (random() % 8 === 0) continue;
    links.push({ from: free[i]!, to: free[i + 1]!, ...drawOptions(random) });
  }
  const connected = links.flatMap((_, i) => (random() % 3 === 0 ? [i] : []));
  const events = Array.from({ length: 4 + (random() % 30) }, (): PlannedEvent => {
    const drawn = random() % 8;
    const kind = drawn === 0 ? "cut" : drawn < 4 && connected.length > 0 ? "post" : "send";
    return { at: BigInt(random() % 20) * 500n, kind, who: random(), salt: random() };
  });
  return { ports, links, connected, events: events.sort((a, b) => Number(a.at - b.at)) };
}

function drawOptions(random: () => number): Omit<Link, "from" | "to"> {
  const delay = DELAYS[random() % DELAYS.length]!;
  const rated = random() % 2 === 0 ? { rate: 1e9 * (1 + (random() % 100)) } : {};
  const queued = "rate" in rated && random() % 2 === 0 ? { queue: 1 + (random() % 4) } : {};
  const chance = random() % 2 === 0 ? { loss: 0.1, duplicate: 0.1, reorder: 0.2, jitter: 700n } : {};
  return { delay, ...rated, ...queued, ...chance, seed: random() % 1000 };
}

export async function openHosts({ ports }: Plan, now?: () => bigint): Promise<Host[]> {
  const hosts: Host[] = [];
  for (const [n, count] of ports.entries()) {
    const device = await createDevice({ name: `n${n}`, ports: count, seed: n, ...(now === undefined ? {} : { now }) });
    const context = v.ibv_open_device(device);
    const senders = Array.from({ length: count }, (_, p) => createSink(context, `out${p + 1}`, p + 1));
    const receiver = createSink(context, "in");
    for (let port = 1; port <= count; port++)
      v.ibv_create_flow(receiver, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port, specs: [] });
    hosts.push({ device, senders });
  }
  return hosts;
}

/** Lets hosts answer. `log` gets the time, the host and the frame of each delivery. */
export function answerAll(hosts: readonly Host[], log: string[]): void {
  for (const host of hosts) {
    host.device.on("delivery", ({ destination: { frame, name } }) => {
      log.push(`${host.device.now()} ${host.device.name} ${name} ${hashOf(frame)}`);
      const lives = frame[LIVES]!;
      // Packets of connections arrive here too.
      if (lives === 0 || lives > MAX_LIVES) return;
      const hash = hashOf(frame);
      for (let copy = 0; copy <= hash % 2; copy++) sendFrom(host, hash >>> (8 + copy), lives - 1, hash + copy);
    });
  }
}

/** The byte of a frame that has its lives. */
const LIVES = 50;
const MAX_LIVES = 7;

export function sendFrom({ device, senders }: Host, choice: number, lives: number, salt: number): void {
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", identification: salt & 0xffff },
    { header: "udp" },
    Uint8Array.from({ length: 16 + (salt % 300) }, (_, i) => (i === LIVES - 42 ? lives : (salt >>> (i % 24)) & 0xff)),
  ]);
  device.send(senders[choice % senders.length]!, frame);
}

export function connectEnds({ links, connected }: Plan, hosts: readonly Host[]): [End, End][] {
  return connected.map((i): [End, End] => {
    const [a, b] = [links[i]!.from, links[i]!.to].map((text) => {
      const [name, port] = text.split(":");
      return openEnd(hosts[Number(name!.slice(1))]!.device, { port: Number(port) });
    }) as [End, End];
    join(a, b, { timeout: 2, retry_cnt: 3, rnr_retry: 2, min_rnr_timer: 1 });
    for (const end of [a, b]) postReceives(end, 3, 4096);
    return [a, b];
  });
}

export function happen({ kind, who, salt }: PlannedEvent, hosts: readonly Host[], ends: readonly [End, End][]): void {
  if (kind === "send") {
    sendFrom(hosts[who % hosts.length]!, who >>> 8, 4 + (salt % 4), salt);
    return;
  }
  if (kind === "cut") {
    hosts[who % hosts.length]!.device.disconnect(1);
    return;
  }
  const end = ends[who % ends.length]![salt & 1] as End;
  try {
    post(end, pattern(1 + (salt % 3000), salt & 0xff));
  } catch {
    // A queue pair that has given up takes no more; it does so in both worlds.
  }
}

/** Completions of all ends so far and their memory, as text. */
export function completions(ends: readonly [End, End][]): string {
  return ends
    .flat()
    .map(({ sent, received, memory }) => {
      const [out, into] = [sent, received].map((queue) =>
        v.ibv_poll_cq(queue, 99).map(({ wr_id, status }) => `${wr_id}:${status}`),
      );
      return `${out?.join()}/${into?.join()}/${hashOf(memory)}`;
    })
    .join(" ");
}

export function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
