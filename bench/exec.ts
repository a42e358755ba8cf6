/** Programs under `flowsteer exec`, with perftest's and rdma-core's own programs where they are installed. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root, runProcess, runWell } from "./frames/processes.js";
import type { Suite } from "./workload.js";

const CLI = join(root, "dist/cli.js");
const PROGRAMS = ["ibv_rc_pingpong", "raw_ethernet_bw"];
const MACS = ["02:bd:e0:34:c2:01", "02:bd:e0:34:c2:02"] as const;
const PORT = String(20_000 + (process.pid % 20_000));

export const exec: Suite = {
  name: "exec",
  title: "Programs under flowsteer exec: two processes, and the host between them",
  async *workloads() {
    // Processes are measured by themselves.
  },
  async facts(quick) {
    const missing = [CLI, ...PROGRAMS.map((name) => join("/usr/bin", name))].filter((path) => !existsSync(path));
    if (missing.length > 0) {
      console.log(`  not measured, missing: ${missing.join(", ")}`);
      return {};
    }
    const folder = mkdtempSync(join(tmpdir(), "flowsteer-bench-"));
    try {
      return await measured(folder, quick);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

async function measured(folder: string, quick: boolean): Promise<Record<string, number>> {
  const trips = String(quick ? 20 : 3000);
  const { out: relayed } = await runWell(process.execPath, [join(root, "bench/exec/relay.mjs"), trips]);
  const pingPong = ["ibv_rc_pingpong", "-g", "0", "-p", PORT, "-n", trips];
  const ponged = await pair(join(folder, "rc.sock"), [], pingPong, "local address", [...pingPong, "localhost"]);
  const trip = numberIn(ponged, /= ([\d.]+) usec\/iter/);

  const raw = (here: 0 | 1, role: string): string[] => {
    const addresses = ["-d", `flowsteer${here}`, "-E", MACS[here], "-B", MACS[here === 0 ? 1 : 0]];
    return ["raw_ethernet_bw", role, ...addresses, "-F", "-n", String(quick ? 500 : 50_000)];
  };
  const [server, client] = [raw(1, "--server"), raw(0, "--client")];
  const sent = await pair(join(folder, "raw.sock"), ["--devices", "2"], server, "MAC attached", client);

  const program = join(folder, "calls");
  await runWell("cc", ["-O2", "-o", program, join(root, "bench/exec/calls.c"), "-libverbs"]);
  const { out } = await runWell(process.execPath, [CLI, "exec", "--quiet", "--", program, quick ? "1000" : "5000000"]);
  const [poll = NaN, first = NaN, flow = NaN] = out.split(" ").map(Number);
  return {
    "ibv_rc_pingpong, 4,096 bytes: us a round trip": trip,
    "the same bytes relayed by a process that only forwards: us a round trip": Math.round(Number(relayed) * 10) / 10,
    "raw_ethernet_bw, 1,518 bytes: frames a second": Math.round(1e6 * numberIn(sent, /^ 1518 .* ([\d.]+)\s*$/m)),
    "ibv_poll_cq of an empty queue: ns": poll,
    "ibv_create_flow, the first 1,000: us": Math.round(first / 100) / 10,
    "ibv_create_flow, after 9,000: us": Math.round(flow / 100) / 10,
  };
}

/**
 * Runs two programs on the devices of the first one.
 * @param ready what it prints when the second one can start
 * @returns what the second one prints
 */
async function pair(
  socket: string,
  options: readonly string[],
  server: readonly string[],
  ready: string,
  client: readonly string[],
): Promise<string> {
  const first = [CLI, "exec", "--quiet", ...options, "--socket", socket, "--", "stdbuf", "-oL", ...server];
  const serving = spawn(process.execPath, first, { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise((resolve) => serving.once("exit", resolve));
  let printed = "";
  serving.stdout.on("data", (chunk) => (printed += String(chunk)));
  while (!printed.includes(ready) && serving.exitCode === null) await sleep(20);
  // It listens on TCP after that.
  let run;
  do {
    await sleep(200);
    run = await runProcess(process.execPath, [CLI, "exec", "--join", socket, "--", ...client]);
  } while (run.err.includes("Couldn't connect"));
  if (run.code !== 0) serving.kill();
  await ended;
  return run.out;
}

function numberIn(text: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(text) ?? [];
  if (digits === undefined) throw new Error(`bench: no figure in: ${text}`);
  return Number(digits);
}
