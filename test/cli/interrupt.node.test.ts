/** flowsteer run, stopped by a signal. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCapture } from "../../src/packet/capture/read.js";
import { root, scratch, start, type Ended } from "./support/command.js";

const SCENARIO = "examples/everyday.json";
const sample = new Uint8Array(readFileSync(join(root, "examples/everyday.pcap")));
/** More than pipes hold, so that who has written it knows that it is being read; several pieces of a file. */
const MANY = 200;
const big = Buffer.concat([sample.subarray(0, 24), ...Array.from({ length: MANY }, () => sample.subarray(24))]);

function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => undefined);
  return once(child, "close").then(([code]) => ({ code: code as number | null, out, err }));
}

/** Standard input that does not end. */
async function fed(args: readonly string[]): Promise<{ child: ChildProcessWithoutNullStreams; end: Promise<Ended> }> {
  const child = start(["run", SCENARIO, "-", ...args]);
  const end = ended(child);
  if (!child.stdin.write(big)) await once(child.stdin, "drain");
  return { child, end };
}

async function framesIn(folder: string): Promise<number> {
  let frames = 0;
  for (const name of readdirSync(folder)) {
    const batches = readCapture(new Uint8Array(readFileSync(join(folder, name))));
    let next = await batches.next();
    for (; next.done !== true; next = await batches.next()) frames += next.value.length;
    expect(next.value.broken).toBeNull();
  }
  return frames;
}

describe("a run that is interrupted", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("by %s sums up what was done, closes its files, and says that it is partial", async (signal, code) => {
    const folder = scratch(`partial-${signal}`);
    const { child, end } = await fed(["--out", folder]);
    child.kill(signal);
    const { out, err, ...rest } = await end;
    expect(rest).toEqual({ code });
    expect(err).toBe(`note: interrupted by ${signal}: what was read until then was run, the rest was not\n`);
    const [, frames = ""] =
      new RegExp(`\n([\\d,]+) frames, [\\d,]+ bytes from standard input, partial: interrupted by ${signal}\n`).exec(
        out,
      ) ?? [];
    expect(await framesIn(folder)).toBe(Number(frames.replaceAll(",", "")));
    expect(Number(frames.replaceAll(",", ""))).toBeGreaterThan(0);
  });

  it("sums up what was summed without objects", async () => {
    const { child, end } = await fed([]);
    child.kill("SIGINT");
    const { out, code } = await end;
    expect(code).toBe(130);
    const [, frames = ""] = /\n([\d,]+) frames, .*, partial: interrupted by SIGINT\n/.exec(out) ?? [];
    const ends = [...out.matchAll(/^(?:qp:|miss|drop)\S* +([\d,]+) /gm)].map(([, text = ""]) =>
      Number(text.replaceAll(",", "")),
    );
    expect(ends.reduce((sum, one) => sum + one, 0)).toBe(Number(frames.replaceAll(",", "")));
  });

  it("ends its lines of JSON with one that says so, and reads a file no further", async () => {
    const child = start(["run", SCENARIO, scratch("big.pcap", big), "--json"]);
    // Nobody reads on, so it cannot come to its end before the signal.
    child.stdout.once("readable", () => child.kill("SIGTERM"));
    await once(child.stdout, "readable");
    const { code, out, err } = await ended(child);
    const lines = out.trimEnd().split("\n");
    expect(code).toBe(143);
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ partial: "SIGTERM", frames: lines.length - 1 });
    expect(lines.length - 1).toBeLessThan(86 * MANY);
    expect(err).toContain("note: interrupted by SIGTERM");
  });

  it("leaves whole rows, and does not hold expectations against what did not come", async () => {
    const path = scratch("partial.csv");
    const document = {
      ...(JSON.parse(readFileSync(join(root, SCENARIO), "utf8")) as object),
      expect: { totals: { frames: 1 } },
    };
    const child = start([
      "run",
      scratch("expects.json", JSON.stringify(document)),
      "-",
      "--format",
      "csv",
      "--output",
      path,
    ]);
    const end = ended(child);
    if (!child.stdin.write(big)) await once(child.stdin, "drain");
    child.kill("SIGINT");
    const { code, out, err } = await end;
    expect({ code, out, err }).toEqual({
      code: 130,
      out: "",
      err: "note: interrupted by SIGINT: what was read until then was run, the rest was not\n",
    });
    const rows = readFileSync(path, "utf8").split("\r\n");
    expect(rows.pop()).toBe("");
    expect(rows.at(-1)).toMatch(new RegExp(`^${rows.length - 1},(?:[^,]*,){10}[^,]*$`));
  });

  it("ends at once when a second signal comes", async () => {
    const child = start(["run", SCENARIO, scratch("big.pcap", big), "--json"]);
    // Standard output is full from here on: the run waits for a reader that never comes.
    await once(child.stdout, "readable");
    child.kill("SIGINT");
    child.kill("SIGTERM");
    const [code] = (await once(child, "exit")) as [number];
    expect([130, 143]).toContain(code);
    child.stdout.destroy();
  });
});
