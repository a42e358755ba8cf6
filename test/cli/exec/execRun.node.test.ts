/** A run of flowsteer exec with programs that do not use the devices: what it writes and prints itself. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { runOnDevices, type ExecPlan } from "../../../src/cli/exec/execRun.js";
import { openFiles } from "../../../src/cli/input/chunks.js";
import { CommandRefusal } from "../../../src/cli/refusal.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { scratch } from "../support/command.js";

/** What is preloaded is loaded anyway. */
const LIBRARY = { preload: "libc.so.6" };
const SCENARIO = {
  flowsteer: 1,
  device: { ports: 2 },
  queues: [{ name: "web" }],
  tables: [{ name: "root", level: 0 }],
  rules: [{ name: "http", table: "root", match: { "outer.tcp_dport": 80 }, actions: [{ queue: "web" }] }],
};

afterEach(() => {
  vi.restoreAllMocks();
});

async function ran(script: string, changed: Partial<ExecPlan> = {}, count = 1) {
  const load = (_: unknown, n: number) => loadScenario(SCENARIO, { countHits: true, name: `nic${n}` });
  const plan: ExecPlan = {
    devices: await Promise.all(Array.from({ length: count }, load)),
    socket: null,
    record: null,
    capture: null,
    isVirtual: false,
    annotate: null,
    why: false,
    json: false,
    quiet: false,
    ...changed,
  };
  const [out, err] = [process.stdout, process.stderr].map((stream) => {
    const texts: string[] = [];
    vi.spyOn(stream, "write").mockImplementation((text) => texts.push(String(text)) > 0);
    return texts;
  }) as [string[], string[]];
  const status = await runOnDevices(plan, { command: "sh", args: ["-c", script] }, LIBRARY);
  return { status, out: out.join(""), err: err.join("") };
}

test("programs have the socket, and their status is passed on", async () => {
  expect(await ran('test -n "$FLOWSTEER_SOCKET" && exit 7')).toEqual({
    status: 7,
    out: "",
    err: "note: the program made no call of libibverbs or libmlx5\n",
  });
});

test("--quiet prints nothing", async () => {
  const record = scratch("quiet.json");
  expect(await ran("exit 0", { quiet: true, why: true, record })).toEqual({ status: 0, out: "", err: "" });
  expect(existsSync(record)).toBe(true);
});

test("--json ends with a summary", async () => {
  const { err } = await ran("exit 1", { json: true, why: true }, 2);
  const none = { frames: 0, bytes: 0 };
  expect(JSON.parse(err)).toEqual({
    kind: "summary",
    status: 1,
    devices: ["nic0", "nic1"].map((device) => ({ device, arrived: none, sent: none, ends: [] })),
    refused: [],
    captured: null,
  });
});

test("a capture without a receiver", async () => {
  const files = await openFiles(["examples/everyday.pcap"]);
  const { err } = await ran("exit 0", { capture: { files, port: 1, rate: null } });
  expect(err).toContain(
    "note: no frame of the capture arrived: no program made a rule or flow and posted a receive buffer\n",
  );
});

describe("--record", () => {
  const rulesIn = (text: string): unknown => (JSON.parse(text) as { rules: { name: string }[] }).rules[0]?.name;

  test("writes a scenario of each device", async () => {
    const record = scratch("record.json");
    const { err } = await ran("exit 0", { record }, 2);
    const second = scratch("record-2.json");
    expect(err).toContain(`note: wrote ${record}\nnote: wrote ${second}\n`);
    for (const path of [record, second]) {
      const text = readFileSync(path, "utf8");
      expect(rulesIn(text)).toBe("http");
      await loadScenario(text);
    }
  });

  test("- is standard output", async () => {
    const { out } = await ran("exit 0", { record: "-" });
    expect(rulesIn(out)).toBe("http");
  });

  test("SIGUSR1 writes it while the program runs, and the end not again", async () => {
    const record = scratch("signal.json");
    rmSync(record, { force: true });
    const script = `kill -USR1 $PPID; until test -s ${record}; do sleep 0.01; done; rm ${record}`;
    const { status, err } = await ran(script, { record });
    expect(status).toBe(0);
    expect(err).toContain(`note: wrote ${record}\n`);
    expect(existsSync(record)).toBe(false);
  });

  test("a place that cannot be written", async () => {
    await expect(ran("exit 0", { record: "/no/such/folder/record.json" })).rejects.toThrow(CommandRefusal);
  });
});

test("--annotate writes a capture without frames", async () => {
  const annotate = scratch("empty.pcapng");
  const { err } = await ran("exit 0", { annotate });
  expect(err).toContain(`note: wrote ${annotate}: 0 frames\n`);
  expect(readFileSync(annotate).readUInt32LE(0)).toBe(0x0a0d0d0a);
});
