/** Programs under `flowsteer exec`, each in a process of its own. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { PcapWriter } from "../../../../src/index.js";
import { buildFrame } from "../../../../src/packet/index.js";
import { root, scratch } from "../../support/command.js";

const CLI = join(root, "dist/cli.js");

export function installed(program: string): boolean {
  return existsSync(join("/usr/bin", program));
}

/** Whether a compiler takes these flags, and finds the headers of rdma-core. */
export function compiles(...flags: readonly string[]): boolean {
  const input = "#include <infiniband/mlx5dv.h>\nint main(void) { return 0; }\n";
  return spawnSync("cc", [...flags, "-o", scratch("probe"), "-x", "c", "-"], { input }).status === 0;
}

export interface Run {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export type Environment = Readonly<Record<string, string>>;

export function execIn(env: Environment, ...args: readonly string[]): Promise<Run> {
  return started(env, args).ended;
}

interface Running {
  readonly ended: Promise<Run>;
  /** Whether it has printed a text, or has ended. */
  readonly printed: (text: string) => boolean;
}

function started(env: Environment, args: readonly string[]): Running {
  const options = { stdio: "pipe", env: { ...process.env, ...env } } as const;
  const child = spawn(process.execPath, [CLI, "exec", ...args], options);
  child.stdin.end();
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += String(chunk)));
  child.stderr.on("data", (chunk) => (err += String(chunk)));
  const ended = new Promise<Run>((resolve) => child.on("close", (status) => resolve({ status, out, err })));
  return { ended, printed: (text) => out.includes(text) || child.exitCode !== null };
}

export const exec = (...args: readonly string[]): Promise<Run> => execIn({}, ...args);

/** Compiles a C program of the repository against the libraries of rdma-core. @returns its path */
export function compiled(source: string, ...flags: readonly string[]): string {
  const program = scratch(source.replace(/\W/g, "_") + flags.join(""));
  const args = ["-g", "-Wall", ...flags, "-o", program, join(root, source), "-lmlx5", "-libverbs", "-pthread"];
  const { status, stderr } = spawnSync("cc", args, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return program;
}

let pairs = 0;

/** For TCP, so that runs on one machine do not meet. */
export const PORT = String(20_000 + (process.pid % 20_000));

/**
 * Runs a program twice on one device: a server, and a client that connects to it.
 * @param words the program and its arguments; it takes -p for the port
 */
export function pairIn(env: Environment, ...words: readonly string[]): Promise<readonly [Run, Run]> {
  const serving = [...words, "-p", PORT];
  return serverAndClient(env, [], serving, [...serving, "localhost"]);
}

/**
 * Runs two programs on the devices of the first one.
 * @param options those of its command
 * @param ready what it prints when the second one can start
 */
export async function serverAndClient(
  env: Environment,
  options: readonly string[],
  serving: readonly string[],
  joining: readonly string[],
  ready = "",
): Promise<readonly [Run, Run]> {
  const socket = scratch(`pair${++pairs}.sock`);
  const server = started(env, ["--quiet", ...options, "--socket", socket, "--", ...serving]);
  while (!server.printed(ready) || !existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 20));
  // The server listens on TCP some time after it has the device.
  let client: Run;
  do {
    await new Promise((resolve) => setTimeout(resolve, 200));
    client = await execIn(env, "--join", socket, "--", ...joining);
  } while (/Couldn't connect|could not connect|Unable to open file descriptor/.test(client.out + client.err));
  return [await server.ended, client];
}

/** A capture with the frames that the programs of examples/c wait for, many times. @returns its path */
export function exampleFrames(): string {
  const frames = [
    buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: 443 }]),
    buildFrame([
      { header: "ethernet" },
      { header: "ipv4", destination: "10.0.0.7" },
      { header: "udp", destination_port: 4791 },
      new Uint8Array(22),
    ]),
  ];
  const writer = new PcapWriter({ linkType: 1 });
  const records = Array.from({ length: 1000 }, (_, n) => {
    const bytes = frames[n % frames.length] as Uint8Array;
    return writer.frame({ time: 0n, bytes, wireLength: bytes.length });
  });
  return scratch("examples.pcap", Buffer.concat([writer.header(), ...records]));
}
