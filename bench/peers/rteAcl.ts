/**
 * DPDK's packet classifier as a peer: builds rteAcl.c where libdpdk is installed and keeps it
 * running during a measurement. It times its own rounds in CPU time and checks its answers against
 * the trace before the first round.
 */
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { HEADER_WORDS, type SetRule, type Trace } from "../classify/ruleSets.js";

// From here and from the bundle in build/bench/ alike.
const SOURCE = new URL("../../bench/peers/rteAcl.c", import.meta.url);
const FLAGS = ["-O3", "-march=native"];
/** No huge pages, no devices, no files to share; up to 9,700 bytes a rule are needed, and what is not used costs nothing. */
const EAL = ["--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m", "4096", "--log-level", "error"];
const WIDEST = "--force-max-simd-bitwidth=512";

export type Method = "scalar" | "vector";

/** Undefined if it is not installed. */
export function dpdkVersion(): string | undefined {
  const { error, status, stdout } = spawnSync("pkg-config", ["--modversion", "libdpdk"], { encoding: "utf8" });
  return error === undefined && status === 0 ? stdout.trim() : undefined;
}

/** The program, built if needed; or the reason why there is none. */
export function buildRteAcl(): { program: string } | { skipped: string } {
  const flags = spawnSync("pkg-config", ["--cflags", "--libs", "libdpdk"], { encoding: "utf8" });
  if (flags.error !== undefined || flags.status !== 0) return { skipped: "libdpdk is not installed" };
  const text = readFileSync(SOURCE, "utf8");
  const made = [text, flags.stdout, ...FLAGS, cpus()[0]?.model ?? ""].join("\0");
  const folder = join(tmpdir(), `flowsteer-bench-${createHash("sha256").update(made).digest("hex").slice(0, 16)}`);
  const program = join(folder, "rteAcl");
  if (existsSync(program)) return { program };
  mkdirSync(folder, { recursive: true });
  const fresh = `${program}.${process.pid}`;
  const args = [...FLAGS, "-x", "c", "-o", fresh, "-", "-x", "none", ...flags.stdout.trim().split(/\s+/)];
  const cc = spawnSync("cc", args, { encoding: "utf8", input: text });
  if (cc.error !== undefined) return { skipped: "there is no C compiler" };
  if (cc.status !== 0) throw new Error(`rte_acl: ${cc.stderr}`);
  renameSync(fresh, program);
  return { program };
}

export class RteAcl {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #errors = "";
  /** CPU seconds of rte_acl_build, all rules at once. */
  buildSeconds = 0;
  /** Of what the lookups read. */
  bytesPerRule = 0;
  /** The widest method of this machine: "AVX-512 x 32". */
  vector = "";

  private constructor(program: string) {
    this.#child = spawn(program, [...EAL, WIDEST, `--file-prefix=flowsteer-${process.pid}`]);
    this.#child.stderr.on("data", (text: Buffer) => (this.#errors += text.toString()));
    // After a process has ended, its missing answer reports the error.
    this.#child.stdin.on("error", () => undefined);
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  /** Builds and checks; takes up to half a minute for 100,000 rules. */
  static async start(program: string, rules: readonly SetRule[], { headers, expected }: Trace): Promise<RteAcl> {
    const one = new RteAcl(program);
    const words = [rules.length, expected.length];
    for (const { src, srcMask, dst, dstMask, sport, dport, protocol, protocolMask } of rules) {
      words.push(src, prefix(srcMask), dst, prefix(dstMask), ...sport, ...dport, protocol, protocolMask);
    }
    for (const [i, line] of expected.entries()) {
      words.push(...headers.subarray(HEADER_WORDS * i, HEADER_WORDS * (i + 1)), line);
    }
    one.#child.stdin.write(Buffer.from(Uint32Array.from(words).buffer));
    const [, seconds, bytes, vector] = /^(\S+) (\S+) (.+)$/.exec(await one.#line())!;
    one.buildSeconds = Number(seconds);
    one.bytesPerRule = Number(bytes);
    one.vector = vector!;
    return one;
  }

  /** CPU seconds of the whole trace, `passes` times over. */
  async seconds(method: Method, passes: number): Promise<number> {
    this.#child.stdin.write(`${method} ${passes}\n`);
    return Number(await this.#line()) / 1e9;
  }

  stop(): void {
    this.#child.stdin.end();
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`bench: rte_acl ends: ${this.#errors.trim()}`);
    return value;
  }
}

function prefix(mask: number): number {
  return Math.clz32(~mask);
}
