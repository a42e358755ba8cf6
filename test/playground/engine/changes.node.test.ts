/** Edits of the rules: what supersedes what, comparisons, refusals with their places, and how long an answer takes. */
import { expect, test } from "vitest";
import { CaptureDecoder } from "flowsteer";
import { buildFrame } from "flowsteer/packet";
import { framesIn, repeated } from "./support/captures.js";
import { exampleBytes, exampleText, good, newSession } from "./support/session.js";

const RULES = exampleText("everyday.json");
const CAPTURE = repeated(exampleBytes("everyday.pcap"), 500);
const silent = (): void => undefined;

test("a newer load ends an older one, and the capture that is being opened keeps both", async () => {
  const session = newSession();
  const first = session.load(RULES);
  const second = session.load(RULES.replace('"vxlan"', '"tunnels"'));
  expect(await first).toBeNull();
  good(await second);
  const opening = session.openCapture(new Blob([CAPTURE]), "long.pcap", silent);
  const third = session.load(RULES);
  const [opened, loaded] = await Promise.all([opening, third]);
  expect(opened?.frames).toBe(43_000);
  expect(loaded === null || loaded.frames === 0 || loaded.frames === 43_000).toBe(true);
  expect((await session.rows(42_999, 10)).map(({ number }) => number)).toEqual([43_000]);
});

/** A capture that calls `then` when its `nth` piece is read: a fast machine opens a file between two timers. */
class WatchedBlob extends Blob {
  readonly #nth: number;
  readonly #then: () => void;
  #reads = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>, nth: number, then: () => void) {
    super([bytes]);
    [this.#nth, this.#then] = [nth, then];
  }

  override slice(start?: number, end?: number): Blob {
    if (++this.#reads === this.#nth) this.#then();
    return super.slice(start, end);
  }
}

test.each([
  ["while it is read", 5],
  ["while it is steered", 25],
])("stop ends the opening of a capture %s, and the frames stay", async (_, nth) => {
  const session = newSession();
  good(await session.load(RULES));
  let stopped = false;
  const file = new WatchedBlob(CAPTURE, nth, () => {
    stopped = true;
    session.stop();
  });
  expect(await session.openCapture(file, "long.pcap", silent)).toBeNull();
  expect(stopped).toBe(true);
  const answer = good(await session.load(RULES));
  expect(answer.capture).toBeNull();
  expect(answer.frames).toBe(0);
});

test("a newer filter ends an older one", async () => {
  const session = newSession();
  good(await session.load(RULES));
  good(await session.openCapture(new Blob([CAPTURE]), "long.pcap", silent));
  const older = session.filter({ text: "vxlan" });
  const newer = session.filter({ text: "arp" });
  expect(await older).toBeNull();
  expect(await newer).toBe(500 * 6);
});

test("the comparison counts and groups the frames that end in another way", async () => {
  const session = newSession();
  good(await session.load(RULES));
  good(await session.openCapture(new Blob([CAPTURE]), "long.pcap", silent));
  const same = good(await session.compareWith(RULES));
  expect(same).toMatchObject({ changed: 0, changes: [] });
  const before = await session.rows(0, 86);
  const edited = RULES.replace('"actions": [{ "action": "to-software" }]', '"actions": ["drop"]');
  const answer = good(await session.load(edited));
  const after = await session.rows(0, 86);
  const changed = after.filter(
    ({ verdict, to }, i) => verdict !== before[i]?.verdict || to.join() !== before[i]?.to.join(),
  );
  expect(changed.length).toBeGreaterThan(0);
  expect(answer.changed).toBe(500 * changed.length);
  expect(after.filter((row) => row.changed).map(({ number }) => number)).toEqual(changed.map(({ number }) => number));
  expect(answer.changes.reduce((sum, { frames }) => sum + frames, 0)).toBe(answer.changed);
  const [group] = answer.changes;
  expect(group).toMatchObject({
    before: { verdict: "deliver", to: ["qp:slow"] },
    after: { verdict: "drop", reason: "drop_action", to: [] },
    first: changed[0]?.number,
  });
  expect(await session.filter({ change: group?.id ?? "" })).toBe(group?.frames);
  expect(await session.filter({ changed: true })).toBe(answer.changed);
  expect(await session.before(changed[0]?.number ?? 0)).toMatchObject({ verdict: "deliver", to: ["qp:slow"] });
  expect(await session.compareWith(null)).toMatchObject({ changed: null, changes: [] });
  expect(await session.filter({ changed: true })).toBe(0);
});

test("frames of a document that name what the other rules do not have are no failure", async () => {
  const session = newSession();
  good(await session.load(exampleText("flows-sending.json")));
  const answer = good(await session.compareWith(exampleText("why-vxlan.json")));
  expect(answer.changed).toBeGreaterThan(0);
  expect(await session.before(1)).toMatchObject({ verdict: null, skipped: expect.stringContaining("app") as string });
});

test("refusals say what is wrong and where", async () => {
  const session = newSession();
  const notJson = await session.load('{\n  "flowsteer": 1,\n  "tables": [}\n}');
  expect(notJson?.refusals).toEqual([
    {
      message: expect.stringContaining("line 3, column 14") as string,
      text: "the text is not JSON",
      hint: expect.any(String) as string,
      path: null,
      offset: 33,
    },
  ]);
  const twice = await session.load('{ "flowsteer": 1, "queues": [], "queues": [] }');
  expect(twice?.refusals).toMatchObject([{ path: "queues", offset: 32 }]);
  const wrong = await session.load(
    JSON.stringify({
      flowsteer: 1,
      queues: [{ name: "a" }],
      tables: [{ name: "root", level: 0 }],
      rules: [
        { name: "one", table: "root", match: { "outer.tcp_dpor": 1 }, actions: [{ queue: "a" }] },
        { name: "two", table: "root", match: { "outer.tcp_dport": 70000 }, actions: [{ queue: "a" }] },
      ],
    }),
  );
  expect(wrong?.refusals.map(({ path }) => path)).toEqual([
    "rules[0].match.outer.tcp_dpor",
    "rules[1].match.outer.tcp_dport",
  ]);
  const long = await session.load(" ".repeat(9_000_000));
  expect(long?.refusals[0]?.text).toMatch(/at most 8000000/);
});

test("what is written of a capture has its frames, with comments, and as they arrived", async () => {
  const session = newSession();
  good(await session.load(RULES));
  const file = exampleBytes("everyday.pcap");
  good(await session.openCapture(new Blob([file]), "everyday.pcap", silent));
  const annotated = new Uint8Array(await (await session.annotated(silent))!.arrayBuffer());
  const text = new TextDecoder("latin1").decode(annotated);
  expect(framesIn(annotated).map(({ bytes, time }) => [bytes, time])).toEqual(
    framesIn(file).map(({ bytes, time }) => [bytes, time]),
  );
  expect(text).toContain('flowsteer: deliver to qp:control; rule "arp"');
  expect(text).toContain("flowsteer: miss: ");
  const out = new Uint8Array(await (await session.captureOut(silent))!.arrayBuffer());
  const rows = await session.rows(0, 100);
  const decoder = new CaptureDecoder();
  const arrived = decoder
    .push(out)
    .map(({ interfaceId, bytes }) => [decoder.interfaces[interfaceId]?.name, bytes.length]);
  expect(arrived).toEqual(rows.flatMap(({ to, length }) => to.map((name) => [name, length])));
});

test("what is written of the frames of a document has all of them", async () => {
  const session = newSession();
  const { frames } = good(await session.load(exampleText("rules-eswitch.json")));
  const annotated = new Uint8Array(await (await session.annotated(silent))!.arrayBuffer());
  expect(framesIn(annotated).length).toBe(frames);
  const out = new Uint8Array(await (await session.captureOut(silent))!.arrayBuffer());
  const rows = await session.rows(0, 100);
  expect(framesIn(out).length).toBe(rows.flatMap(({ to, copies }) => [...to, ...copies]).length);
});

test("an edit of 100 rules over 1,000 frames: how long its answer takes", async () => {
  const frame = (i: number): string =>
    Buffer.from(
      buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: i % 128 }]),
    ).toString("hex");
  const text = (edit: number): string =>
    JSON.stringify({
      flowsteer: 1,
      queues: [{ name: "a" }],
      tables: [{ name: "root", level: 0 }],
      rules: Array.from({ length: 100 }, (_, i) => ({
        name: `rule ${i}`,
        table: "root",
        priority: i,
        match: { "outer.tcp_dport": i + edit },
        actions: [{ queue: "a" }],
      })),
      frames: Array.from({ length: 1000 }, (_, i) => ({ hex: frame(i) })),
    });
  const session = newSession();
  const took: number[] = [];
  for (let edit = 0; edit < 12; edit++) took.push(good(await session.load(text(edit))).took);
  const sorted = took.slice(2).sort((a, b) => a - b);
  console.log(`answers took ${took.map((one) => one.toFixed(0)).join(", ")} ms; median ${sorted[5]?.toFixed(1)} ms`);
  expect((await session.rows(0, 1)).length).toBe(1);
});
