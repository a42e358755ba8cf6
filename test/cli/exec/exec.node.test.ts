/** flowsteer exec: its command line, the program that it starts, and what it reports. */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { exec } from "../../../src/cli/commands/exec.js";
import { AnnotatedFile } from "../../../src/cli/exec/report/annotatedFile.js";
import { Arrivals } from "../../../src/cli/exec/arrivals.js";
import { DeviceRecord } from "../../../src/cli/exec/report/deviceRecord.js";
import { FrameWatch, type SharedWatch } from "../../../src/cli/exec/report/frameWatch.js";
import { environmentOf, runProgram } from "../../../src/cli/exec/program.js";
import { deviceText, explanationsText, sessionLine, sessionText } from "../../../src/cli/exec/report/reportText.js";
import { openFiles } from "../../../src/cli/input/chunks.js";
import { CommandRefusal } from "../../../src/cli/refusal.js";
import { NO_PAINT } from "../../../src/cli/text.js";
import { PcapWriter } from "../../../src/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import { decodeAll } from "../../packet/support/captureHelpers.js";
import { scratch } from "../support/command.js";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the command line", () => {
  const refused = async (...args: string[]): Promise<string> => {
    const error: unknown = await exec(args).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CommandRefusal);
    const { path, hint } = (error as CommandRefusal).refusal;
    return [path, hint].filter((part) => part !== undefined).join(": ");
  };

  test.each([
    [["--why"], "exec: name a program: flowsteer exec -- PROGRAM [ARGUMENTS]"],
    [["--"], "exec: name a program: flowsteer exec -- PROGRAM [ARGUMENTS]"],
    [["./program", "--why"], "./program: put -- before the program: flowsteer exec -- PROGRAM [ARGUMENTS]"],
    [["--recrd", "a", "--", "true"], "unknown option --recrd; did you mean --record?"],
    [
      ["--join", "s", "--why", "--", "true"],
      "--why: cannot be used with --join: it is an option of the command that has the devices",
    ],
    [["--join", "no-such.sock", "--", "true"], "no such file; check the path"],
    [
      ["--join", "package.json", "--", "true"],
      "--join package.json: expected the socket of a running flowsteer exec --socket PATH",
    ],
    [["--rate", "1", "--", "true"], "--rate: needs --capture"],
    [["--port", "1", "--", "true"], "--port: needs --capture"],
    [["--devices", "17", "--", "true"], "--devices 17: expected a whole number, 1 to 16"],
    [["--device", "-", "--", "true"], "--device -: the program reads standard input; name a file"],
    [["--annotate", "-", "--", "true"], "--annotate -: the program writes to standard output; name a file"],
    [
      ["--record", "-", "--devices", "2", "--", "true"],
      "--record -: each device is written to a file of its own; name a file",
    ],
  ])("%j", async (args, text) => {
    expect(await refused(...args)).toBe(text);
  });

  test("options of the program are its own", async () => {
    const name = scratch("no-such.json");
    expect(await refused("--device", name, "--", "true", "--why", "--no-such")).toBe("no such file; check the path");
  });

  test("a profile that is none", async () => {
    expect(await refused("--profile", "connectx99", "--", "true")).toMatch(/^device\.profile: .*connectx/);
  });
});

describe("the program", () => {
  const library = { preload: "/lib/a.so" };

  test("finds the library before others, and the socket", () => {
    const env = environmentOf(library, "/run/s", { LD_PRELOAD: "b.so", LD_LIBRARY_PATH: "/b", HOME: "/h" });
    expect(env).toEqual({
      LD_PRELOAD: "/lib/a.so:b.so",
      LD_LIBRARY_PATH: "/b",
      FLOWSTEER_SOCKET: "/run/s",
      HOME: "/h",
    });
    expect(environmentOf(library, "/run/s", {})).toEqual({ LD_PRELOAD: "/lib/a.so", FLOWSTEER_SOCKET: "/run/s" });
  });

  test("its status is passed on; 128 and the number of a signal", async () => {
    const status = (script: string): Promise<number> =>
      runProgram({ command: "sh", args: ["-c", script] }, process.env);
    expect(await status("exit 3")).toBe(3);
    expect(await status("kill -TERM $$")).toBe(143);
  });

  test.each([
    ["/no/such/program", 127, "no such program"],
    ["/", 126, "permission denied"],
  ])("%s cannot be started", async (command, status, text) => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(await runProgram({ command, args: [] }, process.env)).toBe(status);
    expect(write.mock.calls.join("")).toBe(`flowsteer: ${command}: ${text}\n`);
  });

  test("gets signals, which do not end this process", async () => {
    const ended = runProgram({ command: "sh", args: ["-c", "kill -TERM $PPID; exec sleep 600"] }, process.env);
    expect(await ended).toBe(143);
  });
});

const SCENARIO = {
  flowsteer: 1,
  device: { ports: 2 },
  queues: [{ name: "web" }],
  tables: [{ name: "root", level: 0 }],
  rules: [
    { name: "http", table: "root", match: { "outer.tcp_dport": 80 }, actions: [{ queue: "web" }] },
    { name: "telnet", table: "root", match: { "outer.tcp_dport": 23 }, actions: ["drop"] },
  ],
};

function tcp(destination_port: number): Uint8Array {
  return buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port }]);
}

async function watched(explained: boolean, path: string | null = null) {
  const loaded = await loadScenario(SCENARIO, { countHits: true });
  const annotated = path === null ? null : new AnnotatedFile(path);
  const shared: SharedWatch = { frames: 0, linkType: 1, annotated };
  return { loaded, annotated, watch: await FrameWatch.open(loaded, { shared, explained }) };
}

function receive({ device, queues }: LoadedScenario): void {
  for (const port of [80, 23, 23, 443]) device.receive(1, tcp(port));
  const queue = queues.get("web")?.queue;
  if (queue !== undefined && "qp_num" in queue) device.send(queue, tcp(80));
}

describe("frames", () => {
  test("are summed by their ends", async () => {
    const { loaded, watch } = await watched(false);
    receive(loaded);
    watch.end();
    loaded.device.receive(1, tcp(80));
    expect(deviceText(NO_PAINT, watch.line)).toBe(
      [
        "flowsteer0: 4 frames arrived, 1 sent",
        "Frames                                               packets  bytes",
        "delivered                                                  2    108",
        "dropped: action drop                                       2    108",
        "missed: no rule matched in the root table of nic_rx        1     54",
        "",
      ].join("\n"),
    );
  });

  test("that are lost are explained by the rules of their time", async () => {
    const { loaded, watch } = await watched(true);
    loaded.device.receive(1, tcp(443));
    loaded.rules.get("telnet")?.destroy();
    loaded.device.receive(1, tcp(444));
    const text = explanationsText(NO_PAINT, watch);
    expect(text).toContain("2 frames of flowsteer0; all of them missed or were dropped, for one reason");
    expect(text).toContain('rule "telnet"');
    expect(watch.lost.map(({ frames, examples }) => [frames, examples])).toEqual([[2, [1, 2]]]);
    expect(text).not.toContain("The whole chain");
  });

  test("are annotated in their order", async () => {
    const path = scratch("annotated.pcapng");
    const { loaded, annotated, watch } = await watched(true, path);
    receive(loaded);
    watch.end();
    expect(annotated?.end()).toEqual({ path, frames: 5 });
    const text = readFileSync(path, "latin1");
    const comments = [...text.matchAll(/flowsteer: [ -~]*/g)].map(([comment]) => comment);
    expect(comments).toHaveLength(5);
    expect(comments[0]).toBe('flowsteer: deliver to qp:web; rule "http"');
    expect(comments[1]).toMatch(/^flowsteer: drop: action drop; rule "telnet"; why: /);
    expect(comments[2]).toMatch(/^flowsteer: drop: action drop; rule "telnet"; why \(as frame 2\): /);
    expect(comments[3]).toMatch(/^flowsteer: miss: no rule matched in the root table of nic_rx; why: /);
    expect(comments[4]).toBe(comments[0]);
    expect(text).toContain("flowsteer0 port 1");
    expect(text).toContain("flowsteer0 qp:web");
    expect(decodeAll(new Uint8Array(readFileSync(path))).frames).toHaveLength(5);
  });

  test("a file that cannot be written is refused at the end, not in the middle", async () => {
    const { loaded, annotated, watch } = await watched(false, "/dev/full");
    receive(loaded);
    watch.end();
    expect(() => annotated?.end()).toThrow(CommandRefusal);
  });
});

describe("the record", () => {
  const rulesOf = (record: DeviceRecord): unknown[] =>
    ((JSON.parse(record.text) as { rules?: { name: string }[] }).rules ?? []).map(({ name }) => name);

  test("is the device before rules were destroyed", async () => {
    const loaded = await loadScenario(SCENARIO);
    const record = await DeviceRecord.open(loaded.device);
    loaded.device.hostRules.add({ application: "tc", match: {}, action: "drop", name: "made later" });
    for (const rule of loaded.rules.values()) {
      record.beforeDestruction();
      rule.destroy();
    }
    record.beforeEnd();
    expect(rulesOf(record)).toEqual(["http", "telnet"]);
    expect(record.text).toContain('"made later"');
    expect(record.notes).toEqual([]);
    record.take();
    expect(rulesOf(record)).toEqual([]);
    record.end();
  });

  test("is that at the end of a session, where it has as many rules", async () => {
    const loaded = await loadScenario(SCENARIO);
    const record = await DeviceRecord.open(loaded.device);
    loaded.device.hostRules.add({ application: "tc", match: {}, action: "drop", name: "first" });
    record.beforeDestruction();
    loaded.rules.get("telnet")?.destroy();
    loaded.device.hostRules.add({ application: "tc", match: {}, action: "drop", name: "second" });
    record.beforeEnd();
    expect(rulesOf(record)).toEqual(["http"]);
    expect(record.text).toContain('"second"');
  });
});

describe("frames of a capture", () => {
  const writer = new PcapWriter({ linkType: 1 });
  const frames = [80, 23, 443].map((port) => writer.frame({ time: 0n, bytes: tcp(port), wireLength: 54 }));
  const path = scratch("arrivals.pcap", Buffer.concat([writer.header(), ...frames]));

  async function arrivals(document: object, rate: number | null) {
    const loaded = await loadScenario(document);
    const seen: number[] = [];
    const options = {
      files: await openFiles([path]),
      rate,
      arrive: ({ number }: { number: number }) => seen.push(number),
    };
    return { seen, arriving: new Arrivals(loaded, options) };
  }

  test.each([null, 1_000_000])("arrive once there is a receiver, at rate %s", async (rate) => {
    const document = { ...SCENARIO, queues: [{ name: "web", buffers: 4 }] };
    const { seen, arriving } = await arrivals(document, rate);
    arriving.begin();
    await vi.waitUntil(() => arriving.complete, { timeout: 600_000 });
    await arriving.end();
    expect(seen).toEqual([1, 2, 3]);
  });

  test("do not arrive without one", async () => {
    const { seen, arriving } = await arrivals({ flowsteer: 1 }, null);
    arriving.begin();
    await arriving.end();
    expect({ seen, complete: arriving.complete, frames: arriving.frames }).toEqual({
      seen: [],
      complete: false,
      frames: 0,
    });
  });
});

test("rules of a program with their hits, and what it never destroyed", () => {
  const rules = Array.from({ length: 22 }, (_, n) => ({
    kind: n === 0 ? ("rule" as const) : ("flow" as const),
    name: n === 0 ? "rule0" : `flow${n}`,
    call: n === 0 ? "mlx5dv_dr_rule_create" : "ibv_create_flow",
    packets: BigInt(n),
    bytes: BigInt(64 * n),
    destroyed: n === 21,
  }));
  const leaks = new Map([
    ["QueuePair", 2],
    ["CompletionQueue", 1],
  ]);
  const line = sessionLine({ pid: 42, command: "./program\n-x", calls: 1234, rules, leaks });
  expect(JSON.parse(JSON.stringify(line))).toEqual(line);
  const lines = sessionText(NO_PAINT, line).split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "./program\\x0a-x (process 42): 1,234 calls, 1 rule, 21 flows",
    "Rule    made by          packets  bytes",
    "flow21  ibv_create_flow       21  1,344  destroyed",
  ]);
  expect(lines.slice(-3)).toEqual([
    "2 more rules with 1 packet",
    "never destroyed: 2 QueuePair, 1 CompletionQueue",
    "",
  ]);
});
