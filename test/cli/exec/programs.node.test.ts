/**
 * Programs of Debian, and of this repository, run unmodified under `flowsteer exec`. Debian: perftest, ibverbs-utils,
 * libibverbs-dev. What is not installed is skipped.
 */
import { describe, expect, test } from "vitest";
import { compiled, compiles, exec, installed, pairIn, PORT, serverAndClient } from "./support/programs.js";

describe.runIf(compiles())("under flowsteer exec", () => {
  test.runIf(installed("ibv_devinfo"))("ibv_devinfo -v lists the attributes of the device", async () => {
    const { status, out } = await exec("--quiet", "--", "ibv_devinfo", "-v");
    expect(status).toBe(0);
    expect(out).toContain("hca_id:\tflowsteer0");
    expect(out).toMatch(/max_qp:\s+131072/);
    expect(out).toMatch(/GID\[ {2}0\]:\s+fe80::bd:e0ff:fe34:c201, RoCE v2/);
  });

  test.each(["ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong"])("%s", async (program) => {
    if (!installed(program)) return;
    for (const more of [[], ["-e"]]) {
      const runs = await pairIn({}, program, "-g", "0", "-n", "100", "-c", ...more);
      for (const { status, out } of runs) {
        expect(out).toContain("100 iters in");
        expect(status).toBe(0);
      }
    }
  });

  test.each([
    ["ib_send_bw", "-n", "100"],
    ["ib_send_bw", "-c", "UD", "-n", "100"],
    // Datagrams are lost without a receive request: the sender waits for a receiver that has to read 16 at a time.
    ["ib_send_bw", "-c", "UD", "-n", "1000", "-r", "16"],
    ["ib_write_bw", "-n", "50"],
    ["ib_write_lat", "-n", "20"],
    ["ib_read_bw", "-n", "50"],
    ["ib_atomic_bw", "-n", "20"],
  ] as const)("%s %s %s", async (program, ...args) => {
    if (!installed(program)) return;
    const runs = await pairIn({}, program, ...args, "-x", "0", "-F");
    for (const { status, out } of runs) {
      expect(out).toMatch(/^ \d+ +\d+ /m);
      expect(status).toBe(0);
    }
  });

  test.runIf(installed("raw_ethernet_bw"))("raw_ethernet_bw between two devices loses no frame", async () => {
    const [first, second] = ["02:bd:e0:34:c2:01", "02:bd:e0:34:c2:02"];
    const common = ["-F", "-n", "1000", "-p", PORT];
    const runs = await serverAndClient(
      {},
      ["--devices", "2"],
      // Line by line: frames that are sent before the server has its flow are lost.
      ["stdbuf", "-oL", "raw_ethernet_bw", "--server", "-d", "flowsteer1", "-E", second, "-B", first, ...common],
      ["raw_ethernet_bw", "--client", "-d", "flowsteer0", "-E", first, "-B", second, ...common],
      "MAC attached",
    );
    for (const { status, out } of runs) {
      expect(out).toMatch(/^ 1518 +1000 /m);
      expect(status).toBe(0);
    }
  });

  test("a rule that cannot be is explained by the line that made it", async () => {
    const program = compiled("test/cli/exec/c/missing_ip_version.c");
    const { status, out, err } = await exec("--profile", "connectx5", "--", program);
    expect(out).toBe("(nil) Operation not supported\n");
    expect(err).toContain(
      "missing_ip_version.c:17 mlx5dv_dr_matcher_create: EOPNOTSUPP: mask.outer.ipv4_src: " +
        "the device does not support this; outer.ip_version must be masked by 4 or 6\n",
    );
    expect(status).toBe(0);
  });

  test("a program that is killed leaves nothing behind", async () => {
    const program = compiled("examples/c/dr_pipeline.c");
    const { err } = await exec(
      "--json",
      "--",
      "sh",
      "-c",
      `timeout -s KILL 1 ${program}; ${program} & sleep 1; kill -9 $!`,
    );
    const lines = err.split("\n").filter((line) => line.startsWith("{"));
    const sessions = lines.map((line) => JSON.parse(line) as { kind: string }).filter(({ kind }) => kind === "session");
    expect(sessions).toHaveLength(2);
    // The second one made the same objects, with the same names.
    expect(sessions[1]).toMatchObject({ rules: (sessions[0] as unknown as { rules: unknown }).rules });
  });
});
