/** flowsteer exec --virtual-time: what programs see depends neither on how fast they run nor on the time of the day. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { isAsleep, processorTime } from "../../../src/cli/exec/processState.js";
import { PcapWriter } from "../../../src/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { decodeAll } from "../../packet/support/captureHelpers.js";
import { scratch } from "../support/command.js";
import { compiled, compiles, exec, installed, PORT, serverAndClient } from "./support/programs.js";

/** Seconds at which frames of the capture come; two come together. */
const SECONDS = [0, 1, 1, 3600, 86_400];
const NANOSECONDS = 1_000_000_000n;

function dayLong(): string {
  const bytes = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: 443 }]);
  const writer = new PcapWriter({ linkType: 1 });
  const records = SECONDS.map((second) =>
    writer.frame({
      time: 1_700_000_000n * NANOSECONDS + BigInt(second) * NANOSECONDS,
      bytes,
      wireLength: bytes.length,
    }),
  );
  return scratch("day.pcap", Buffer.concat([writer.header(), ...records]));
}

describe.runIf(compiles())("under flowsteer exec --virtual-time", () => {
  test("a day of a capture arrives at its times, without waiting for them", async () => {
    const program = compiled("test/cli/exec/c/timestamps.c");
    const captures: Buffer[] = [];
    for (const [n, args] of [[], [], ["events"], ["events"]].entries()) {
      const annotated = scratch(`day${n}.pcapng`);
      const options = ["--quiet", "--virtual-time", "--capture", dayLong(), "--annotate", annotated];
      const { status, out, err } = await exec(...options, "--", program, ...args);
      expect(err).toBe("");
      expect(out.trim().split("\n").map(BigInt)).toEqual(SECONDS.map((second) => BigInt(second) * NANOSECONDS));
      expect(status).toBe(0);
      captures.push(readFileSync(annotated));
    }
    const [first] = captures;
    for (const capture of captures) expect(capture).toEqual(first);
  });

  test("--rate sets the times", async () => {
    const program = compiled("test/cli/exec/c/timestamps.c");
    const { out } = await exec("--quiet", "--virtual-time", "--capture", dayLong(), "--rate", "4", "--", program);
    expect(out).toBe("0\n250000000\n500000000\n750000000\n1000000000\n");
  });

  test("a capture that cannot be read is refused, and the program goes on", async () => {
    const program = compiled("test/cli/exec/c/timestamps.c");
    const capture = scratch("none.pcap", "not a capture");
    const { out, err } = await exec("--virtual-time", "--capture", capture, "--", "timeout", "1", program);
    expect(out).toBe("");
    expect(err).toMatch(/^flowsteer: .*none\.pcap: byte 0 = "0x6e6f7420": neither a pcap nor a pcapng file\n/m);
  });

  test.each([
    ["ibv_rc_pingpong -g 0 -n 100 -c", 1000],
    ["ibv_rc_pingpong -g 0 -n 100 -c -e", 1000],
    // The sender waits for a receiver that has to read 16 datagrams at a time.
    ["ib_send_bw -c UD -n 300 -r 16 -x 0 -F", 300],
  ])("%s: two processes, frames at the same times in each run", async (command, count) => {
    const words = [...command.split(" "), "-p", PORT];
    if (!installed(words[0] as string)) return;
    const runs: unknown[] = [];
    for (const n of [1, 2]) {
      const annotated = scratch(`pair${n}.pcapng`);
      const options = ["--virtual-time", "--annotate", annotated];
      for (const { status } of await serverAndClient({}, options, words, [...words, "localhost"]))
        expect(status).toBe(0);
      const { frames } = decodeAll(new Uint8Array(readFileSync(annotated)));
      runs.push(frames.map(({ time, bytes }) => [time, bytes.length]));
    }
    expect(runs[0]).toHaveLength(count);
    expect(runs[1]).toEqual(runs[0]);
  });
});

test("a process that waits is asleep, one that spins is not, and one that has ended is", async () => {
  const sleeping = spawn("sleep", ["60"]);
  const spinning = spawn("sh", ["-c", "while :; do :; done"]);
  const pids = [sleeping, spinning].map(({ pid = 0 }) => pid) as [number, number];
  await vi.waitFor(() => expect(pids.map(isAsleep)).toEqual([true, false]));
  await vi.waitFor(() => expect(processorTime(pids[1])).toBeGreaterThanOrEqual(50), { timeout: 10_000 });
  expect(processorTime(pids[0])).toBeLessThan(50);
  for (const child of [sleeping, spinning]) {
    child.kill("SIGKILL");
    await once(child, "close");
  }
  expect(pids.map(isAsleep)).toEqual([true, true]);
  expect(pids.map(processorTime)).toEqual([0, 0]);
});
