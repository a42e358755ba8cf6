/** flowsteer serve --live: rates by rule, by reason and by wire. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { LiveView, type LiveStream } from "../../../src/cli/serve/live.js";
import { ratesOf, type Counts, type Reading } from "../../../src/cli/serve/rates.js";
import { setColorMode } from "../../../src/cli/text.js";
import { flowsteer } from "../support/command.js";
import { frameOf, Served, SWITCH, tcpFrame, UdpPeer } from "./support/served.js";

const NONE: Reading = { age: 0n, rules: new Map(), dropped: new Map(), in: new Map(), out: new Map(), lost: new Map() };

function counts(all: Readonly<Record<string, number>>): Counts {
  return new Map(Object.entries(all).map(([name, frames]) => [name, { frames, bytes: 100 * frames }]));
}

/** A part of what is written: text, or a code that moves up, goes to the beginning of the line, or erases. */
const [ESC, CR] = ["\u001b", "\r"];
const CODES = new RegExp(`${ESC}\\[(\\d+)A|${CR}|${ESC}\\[J|[^${ESC}${CR}]+`, "g");

/** A terminal that does what the codes of the view say. */
class Terminal implements LiveStream {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  lines = [""];
  written: string[] = [];

  constructor(size: readonly [number, number] | null) {
    this.isTTY = size !== null;
    [this.columns, this.rows] = size ?? [undefined, undefined];
  }

  write(text: string): void {
    this.written.push(text);
    for (const [part, up] of text.matchAll(CODES)) {
      if (up !== undefined) this.lines.length -= Number(up) + 1;
      else if (part === "\u001b[J") this.lines.push("");
      else if (part !== "\r") this.#print(part);
    }
  }

  #print(text: string): void {
    const [first = "", ...more] = text.split("\n");
    this.lines.push(`${this.lines.pop() ?? ""}${first}`, ...more);
  }
}

/** A view whose seconds are `next`. */
function live(
  stream: LiveStream,
  json = false,
): { view: LiveView; next: (reading: Partial<Reading>) => void; isStopped: () => boolean } {
  let now = NONE;
  let work: (() => void) | null = null;
  const view = new LiveView(() => now, stream, json);
  view.begin((each) => {
    work = each;
    return () => (work = null);
  });
  return {
    view,
    next: (reading) => {
      now = { ...now, ...reading, age: now.age + 1_000_000_000n };
      work?.();
    },
    isStopped: () => work === null,
  };
}

beforeEach(() => setColorMode("never"));
afterEach(() => setColorMode("auto"));

it("has rates between two readings, the highest first", () => {
  const before = { ...NONE, rules: counts({ a: 10, b: 10, gone: 5 }) };
  const now = { ...NONE, age: 2_000_000_000n, rules: counts({ a: 12, b: 30, "made again": 4, unused: 0 }) };
  expect(ratesOf(before, now).rules).toEqual([
    { name: "b", framesPerSecond: 10, bitsPerSecond: 8000, frames: 30 },
    { name: "made again", framesPerSecond: 2, bitsPerSecond: 1600, frames: 4 },
    { name: "a", framesPerSecond: 1, bitsPerSecond: 800, frames: 12 },
  ]);
  const [again] = ratesOf({ ...NONE, rules: counts({ a: 10 }) }, { ...now, rules: counts({ a: 4 }) }).rules;
  expect(again).toMatchObject({ framesPerSecond: 2, frames: 4 });
});

it("is drawn again each second on a terminal", () => {
  const terminal = new Terminal([60, 24]);
  const { view, next, isStopped } = live(terminal);
  terminal.write("ready\n");
  next({ in: counts({ "port:1": 3000 }), rules: counts({ all: 3000, "no telnet": 1000 }) });
  next({
    in: counts({ "port:1": 4500 }),
    out: counts({ "qp:vm1": 1500 }),
    rules: counts({ all: 4500, "no telnet": 1000, "to vm1": 1500 }),
    dropped: counts({ drop_action: 1000 }),
    lost: counts({ "port:1 too_slow": 7 }),
  });
  expect(terminal.lines).toEqual([
    "ready",
    "2 s: 1,500/s in, 1,500/s out",
    "",
    "Rule       frames/s  Mbit/s  frames",
    "all           1,500     1.2   4,500",
    "to vm1        1,500     1.2   1,500",
    "no telnet         0     0.0   1,000",
    "",
    "Dropped      frames/s  Mbit/s  frames",
    "drop_action     1,000     0.8   1,000",
    "",
    "Lost by wires    frames/s  frames",
    "port:1 too_slow         7       7",
    "",
  ]);
  view.write("the file changed\n");
  expect(terminal.lines.slice(0, 3)).toEqual(["ready", "the file changed", "2 s: 1,500/s in, 1,500/s out"]);
  expect(terminal.lines).toHaveLength(15);
  view.end();
  expect(isStopped()).toBe(true);
  view.write("the end\n");
  expect(terminal.lines.slice(-3)).toEqual(["port:1 too_slow         7       7", "the end", ""]);
});

it("fits a small terminal", () => {
  const terminal = new Terminal([40, 12]);
  const { next } = live(terminal);
  const rules = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a rule with a long name ${i}`, 50 - i]));
  next({ rules: counts(rules), dropped: counts({ "\u001b[2Jmiss": 1 }) });
  expect(terminal.lines).toHaveLength(12);
  for (const line of terminal.lines) expect(line.length).toBeLessThanOrEqual(40);
  expect(terminal.lines[3]).toMatch(/^a rule with… +50 /);
  expect(terminal.lines).toContain("and 46 more rules");
  expect(terminal.lines.at(-2)).toMatch(/^\\x1b\[2Jmis/);
});

it("is lines where there is no terminal", () => {
  const terminal = new Terminal(null);
  const { view, next } = live(terminal);
  next({});
  next({
    in: counts({ a: 5, b: 6 }),
    rules: counts({ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }),
    dropped: counts({ miss: 2 }),
  });
  next({});
  view.write("the file changed\n");
  expect(terminal.written).toEqual([
    "2.0 s: 11/s in, 0/s out; rules: f 6/s, e 5/s, d 4/s, c 3/s, b 2/s, 1 more; dropped: miss 2/s\n",
    "the file changed\n",
  ]);
});

it("is JSON where that is asked for", () => {
  const terminal = new Terminal([80, 24]);
  const { next } = live(terminal, true);
  next({ rules: counts({ a: 1 }) });
  expect(terminal.written.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      kind: "live",
      seconds: 1,
      in: [],
      out: [],
      dropped: [],
      lost: [],
      rules: [{ name: "a", framesPerSecond: 1, bitsPerSecond: 800, frames: 1 }],
    },
  ]);
});

it("tells what a served device does", async () => {
  const [one, two] = [await UdpPeer.open(), await UdpPeer.open()];
  const served = await Served.start(SWITCH, "--live", "--wire", `vm1=${one.wire}`, "--wire", `vm2=${two.wire}`);
  const port = await served.portOf("qp:vm1");
  await one.send(frameOf(1, 2, "hello"), port);
  await one.send(tcpFrame(1, 2, 23), port);
  await two.frames(1);
  const line = await served.line("live");
  expect(line).toMatchObject({
    in: [{ name: "qp:vm1", frames: 2 }],
    out: [{ name: "qp:vm2", frames: 1 }],
    dropped: [{ name: "drop_action", frames: 1 }],
    lost: [],
  });
  const names = (line["rules"] as { name: string }[]).map(({ name }) => name).sort();
  expect(names).toEqual(["all", "all of vm2", "no telnet", "to vm2"]);
  expect((await served.end()).kind).toBe("sum");
  one.close();
  two.close();
});

it("is text, which --quiet leaves out", async () => {
  expect(await flowsteer(["serve", SWITCH, "--live", "--quiet"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("--live and --quiet cannot be used together") as string,
  });
});
