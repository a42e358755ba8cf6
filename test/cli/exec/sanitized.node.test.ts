/**
 * The C library under the sanitizers for addresses and undefined behaviour, and under valgrind: with the programs of examples/c,
 * which these must find clean, leaks included, and with Debian's, of which only the library is checked.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compiled, compiles, exampleFrames, execIn, installed, pairIn } from "./support/programs.js";

const FLAGS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"];
const EXAMPLES = {
  devx_flow_table: "54 bytes for request 1\n",
  dr_pipeline: "tag 0x1234, 64 bytes\n1 packets\n",
  flow_counters: "64 bytes for request 1\n1 packets, 64 bytes\n",
  raw_packet_send: "flowsteer0\n7 success\n",
};
/** Frames for a second: a program that runs slowly makes several rules while they arrive. */
const RATE = "4";

const runtime = spawnSync("cc", ["-print-file-name=libasan.so"], { encoding: "utf8" }).stdout.trim();
/** The runtime must be loaded first; the preloaded library precedes it. */
const sanitized = (leaks: 0 | 1): Record<string, string> => ({
  CC: ["cc", ...FLAGS].join(" "),
  ASAN_OPTIONS: `verify_asan_link_order=0:detect_leaks=${leaks}`,
});

describe.runIf(compiles(...FLAGS))("the sanitizers", () => {
  test.each(Object.entries(EXAMPLES))("%s", async (name, text) => {
    const program = compiled(`examples/c/${name}.c`, ...FLAGS);
    const args = ["--quiet", "--capture", exampleFrames(), "--rate", RATE, "--", program];
    expect(await execIn(sanitized(1), ...args)).toEqual({ status: 0, out: text, err: "" });
  });

  test.runIf(existsSync(runtime)).each([
    ["ibv_rc_pingpong", "-g", "0", "-n", "50", "-c", "-e"],
    ["ibv_ud_pingpong", "-g", "0", "-n", "50", "-c"],
    ["ibv_srq_pingpong", "-g", "0", "-n", "50", "-c"],
    ["ib_send_bw", "-n", "50", "-x", "0", "-F", "-e"],
    ["ib_write_bw", "-n", "30", "-x", "0", "-F"],
    ["ib_read_bw", "-n", "30", "-x", "0", "-F"],
    ["ib_atomic_bw", "-n", "20", "-x", "0", "-F"],
  ])("%s %s %s %s", async (...words) => {
    if (!installed(words[0])) return;
    const preloaded = ["sh", "-c", 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"', runtime];
    // Debian's programs leak memory of their own.
    const runs = await pairIn(sanitized(0), ...preloaded, ...words);
    expect(runs.map(({ status, err }) => [status, err])).toEqual([
      [0, ""],
      [0, ""],
    ]);
  });
});

describe.runIf(compiles() && installed("valgrind"))("valgrind", () => {
  test.each(Object.entries(EXAMPLES))("%s", async (name, text) => {
    const checked = [
      "valgrind",
      "--quiet",
      "--leak-check=full",
      "--error-exitcode=9",
      compiled(`examples/c/${name}.c`),
    ];
    const args = ["--quiet", "--capture", exampleFrames(), "--rate", RATE, "--", ...checked];
    expect(await execIn({}, ...args)).toEqual({ status: 0, out: text, err: "" });
  });
});
