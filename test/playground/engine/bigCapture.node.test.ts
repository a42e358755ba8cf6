/** A capture of 200 MB in a real browser: how long it takes, and how much memory. Times and memory are logged. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer, FrameRow, FrameWay } from "../../../playground/src/engine/api.js";
import { openPlayground, type Playground } from "../support/page.js";
import { repeated } from "./support/captures.js";
import { exampleBytes, exampleText } from "./support/session.js";
import { callWorker, startWorker } from "./support/worker.js";

const SIZE = 200e6;
const FRAMES = 86;
/** Megabytes that a page may take. */
const MAX = 300;

describe.runIf(process.env["FLOWSTEER_DEEP"] === "1")("a capture of 200 MB", () => {
  let playground: Playground;
  let folder: string;
  let file: string;
  const everyday = exampleBytes("everyday.pcap");
  const times = Math.round(SIZE / everyday.length);
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "flowsteer-"));
    file = join(folder, "big.pcap");
    writeFileSync(file, repeated(everyday, times));
    playground = await openPlayground();
  });
  afterAll(async () => {
    await playground.close();
    rmSync(folder, { recursive: true });
  });

  /** The largest memory of a process of the page, in megabytes. */
  async function memory(): Promise<number> {
    const session = await playground.browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const sizes = processInfo
      .filter(({ type }) => type === "renderer")
      .map(({ id }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]) / 1000);
    return Math.max(...sizes);
  }

  test("it is read, steered, filtered and traced", async () => {
    const { page, faults } = await playground.open();
    await startWorker(page, file);
    const log: string[] = [];
    const call = async <T>(name: string, ...args: unknown[]): Promise<T> => {
      const { value, ms } = await callWorker<T>(page, name, ...args);
      log.push(`${name} ${ms.toFixed(0)} ms, ${(await memory()).toFixed(0)} MB`);
      return value;
    };
    const rules = exampleText("everyday.json");
    await call("load", rules);
    const opened = await call<Answer>("openCapture", "file", "big.pcap", "progress");
    expect(opened.frames).toBe(times * FRAMES);
    expect(opened.totals?.verdicts.deliver.frames).toBe(times * 69);
    const rows = await call<FrameRow[]>("rows", 500_000, 50);
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 50 }, (_, i) => 500_001 + i));
    await call("load", rules.replace('"vxlan"', '"tunnels"'));
    expect(await call("filter", { verdicts: ["drop"] })).toBe(times * 9);
    expect(await call("filter", { text: "arp" }, null, "progress")).toBe(times * 6);
    const way = await call<FrameWay>("way", 500_000);
    expect(way.trace.steps.length).toBeGreaterThan(0);
    const most = await memory();
    // A comparison has a second device, and the outcomes of all frames twice.
    await call("compareWith", rules.replace('"guest vlans"', '"guests"'));
    console.log(log.join("\n"));
    expect(faults).toEqual([]);
    expect(most).toBeLessThan(MAX);
  });

  test("it is stopped at once", async () => {
    const { page } = await playground.open();
    await startWorker(page, file);
    await callWorker(page, "load", exampleText("everyday.json"));
    const opening = callWorker<Answer | null>(page, "openCapture", "file", "big.pcap", "progress");
    await page.waitForFunction(
      () => (globalThis as unknown as { engineProgress: { reports: number } }).engineProgress.reports > 0,
    );
    const { ms } = await callWorker(page, "stop");
    expect((await opening).value).toBeNull();
    console.log(`stopped after ${ms.toFixed(0)} ms`);
  });
});
