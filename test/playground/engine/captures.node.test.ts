/** Captures in the engine of the playground: rows, totals, broken and packed files, what is written of them. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { FrameRow } from "../../../playground/src/engine/api.js";
import type { Session } from "../../../playground/src/engine/session.js";
import { framesIn, plainly, repeated } from "./support/captures.js";
import { exampleBytes, exampleText, good, newSession } from "./support/session.js";

const EVERYDAY = exampleBytes("everyday.pcap");
const RULES = exampleText("everyday.json");
/** More than one piece of a file. */
const MANY = repeated(EVERYDAY, 100);
const silent = (): void => undefined;

async function opened(file: Uint8Array<ArrayBuffer>, rules = RULES): Promise<Session> {
  const session = newSession();
  good(await session.load(rules));
  good(await session.openCapture(new Blob([file]), "one.pcap", silent));
  return session;
}

test("rows and totals of a capture over several pieces are those of each frame by itself", async () => {
  const session = await opened(MANY);
  const frames = framesIn(MANY);
  const { loaded, outcomes } = await plainly(RULES, frames);
  const answer = good(await session.load(RULES));
  expect(answer.capture).toEqual({
    name: "one.pcap",
    bytes: MANY.length,
    frames: frames.length,
    broken: null,
    skipped: [],
  });
  const rows = await session.rows(0, frames.length);
  for (const [i, { verdict, reason, to, copies, rules, length, wireLength, number }] of rows.entries()) {
    const [frame, outcome] = [frames[i], outcomes[i]];
    expect({ number, length, wireLength }).toEqual({
      number: frame?.number,
      length: frame?.bytes.length,
      wireLength: frame?.wireLength,
    });
    expect({ verdict, reason, to, copies, rules }).toMatchObject({
      verdict: outcome?.verdict,
      reason: outcome?.reason,
      to: outcome?.to,
      copies: outcome?.copies,
      rules: outcome?.rules,
    });
  }
  expect(answer.totals.frames).toBe(loaded.tally.all.frames);
  expect(answer.totals.bytes).toBe(loaded.tally.all.bytes);
  for (const { name, frames: hits } of answer.totals.rules) {
    const rule = [...loaded.rules.values()].find((one) => one.name === name);
    expect(hits).toBe(rule === undefined ? 0 : loaded.tally.rule(rule).frames);
  }
  const counters = Object.fromEntries(answer.totals.counters.map((one) => [one.name, one.packets]));
  expect(counters).toEqual(
    Object.fromEntries([...loaded.counters].map(([name, counter]) => [name, Number(counter.read().packets)])),
  );
});

test("a filter gives the frames whose rows meet it", async () => {
  const session = await opened(MANY);
  const all = await session.rows(0, 10_000);
  const narrowed = async (filter: Parameters<Session["filter"]>[0]): Promise<number[]> => {
    const count = await session.filter(filter);
    const rows = await session.rows(0, 10_000);
    expect(rows.length).toBe(count);
    return rows.map(({ number }) => number);
  };
  const those = (wanted: (row: (typeof all)[number]) => boolean): number[] =>
    all.filter(wanted).map(({ number }) => number);
  expect(await narrowed({ verdicts: ["drop", "miss"] })).toEqual(
    those(({ verdict }) => verdict === "drop" || verdict === "miss"),
  );
  expect(await narrowed({ to: "qp:web" })).toEqual(those(({ to }) => to.includes("qp:web")));
  expect(await narrowed({ rule: "vxlan" })).toEqual(those(({ rules }) => rules.includes("vxlan")));
  expect(await narrowed({ reason: "table_miss" })).toEqual(those(({ reason }) => reason === "table_miss"));
  const text = await narrowed({ text: "VXLAN echo" });
  expect(text).toEqual(those(({ summary }) => summary.includes("VXLAN") && summary.includes("echo")));
  expect(text.length).toBeGreaterThan(100);
  expect(await session.placeOf(text[7] ?? 0)).toBe(7);
  expect(await session.placeOf((text[7] ?? 0) + 1)).toBe(-1);
  // Words of the outcome count too, and the list stays narrowed by the filter after an edit.
  const web = await narrowed({ text: "deliver web syn" });
  expect(web).toEqual(those(({ summary, to }) => summary.includes("SYN") && to.includes("qp:web")));
  good(await session.load(RULES));
  expect((await session.rows(0, 10_000)).map(({ number }) => number)).toEqual(web);
});

test("fields are compared with fields, counted, and asked of all their values", async () => {
  const session = await opened(EVERYDAY);
  const columns = ["ip.src", "ip.dst", "tcp.port", "ip.addr"];
  const all = await session.rows(0, 100, columns);
  const valuesOf = ({ cells }: FrameRow, column: string): string[] => (cells[column] ?? "").split(", ").filter(Boolean);
  for (const [fields, wanted] of [
    [
      "ip.src == ip.dst",
      (row: FrameRow) => valuesOf(row, "ip.src").some((one) => valuesOf(row, "ip.dst").includes(one)),
    ],
    ["count(ip.addr) > 2", (row: FrameRow) => valuesOf(row, "ip.addr").length > 2],
    [
      "all tcp.port >= 80 && frame.len == frame.cap_len",
      (row: FrameRow) =>
        valuesOf(row, "tcp.port").length > 0 &&
        valuesOf(row, "tcp.port").every((port) => Number(port) >= 80) &&
        row.length === row.wireLength,
    ],
    [
      'lower(fs.verdict) == "miss" || fs.tag == 200',
      ({ verdict, rules }: FrameRow) => verdict === "miss" || rules.includes("service tag"),
    ],
  ] as const) {
    await session.filter({ fields });
    const found = await session.rows(0, 100);
    const expected = all.filter(wanted).map(({ number }) => number);
    expect(expected.length, fields).toBeGreaterThan(0);
    expect(
      found.map(({ number }) => number),
      fields,
    ).toEqual(expected);
  }
});

test("the list is sorted by any field, and rows have the texts of columns", async () => {
  const session = await opened(MANY);
  const columns = ["tcp.srcport || udp.srcport", "ip.dst", "fs.tag", "fs.table", "ip.proto"];
  const all = await session.rows(0, 10_000, columns);
  expect(all.slice(0, 86).find(({ rules }) => rules.includes("service tag"))?.cells["fs.tag"]).toBe("200");
  const [port = ""] = columns;
  for (const [by, key] of [
    ["frame.len", (row: FrameRow) => row.wireLength],
    [port, ({ cells }: FrameRow) => Number(cells[port] || Number.NaN)],
    ["ip.dst", ({ cells }: FrameRow) => addressOf(cells["ip.dst"] ?? "")],
    ["fs.verdict", ({ verdict }: FrameRow) => verdict ?? ""],
  ] as const) {
    for (const descending of [false, true]) {
      await session.filter({}, { by, descending });
      const found = await session.rows(0, 10_000, columns);
      const keyed = all.map((row) => ({ number: row.number, key: key(row) }));
      const known = keyed.filter((one) => !Number.isNaN(one.key));
      const sign = descending ? -1 : 1;
      known.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.number - b.number));
      const rest = keyed.filter((one) => Number.isNaN(one.key));
      expect(found.map(({ number }) => number)).toEqual([...known, ...rest].map(({ number }) => number));
      expect(await session.placeOf(found[77]?.number ?? 0)).toBe(77);
    }
  }
  // A sorted list stays sorted after an edit, and can be narrowed.
  await session.filter({ verdicts: ["drop"] }, { by: "frame.len", descending: true });
  good(await session.load(RULES));
  const dropped = await session.rows(0, 10_000);
  expect(dropped.every(({ verdict }) => verdict === "drop")).toBe(true);
  expect(dropped.every(({ wireLength }, i) => wireLength <= (dropped[i - 1]?.wireLength ?? wireLength))).toBe(true);
});

/** The first address of a cell as a number; NaN without one. */
function addressOf(cell: string): number {
  const [first = ""] = cell.split(", ");
  const values = cell.split(", ").map((one) => one.split(".").reduce((sum, part) => 256 * sum + Number(part), 0));
  return first === "" ? Number.NaN : values.reduce((sum, one) => sum + one / 2 ** 40, values[0] ?? 0);
}

test("a gzip file is unpacked, and one that is cut off gives the frames before the cut", async () => {
  const packed = gzipSync(MANY);
  const whole = await opened(Uint8Array.from(packed));
  expect((await whole.rows(0, 10_000)).length).toBe(8600);
  const session = newSession();
  good(await session.load(RULES));
  const half = Uint8Array.from(packed.subarray(0, packed.length / 2));
  const answer = good(await session.openCapture(new Blob([half]), "half.pcap.gz", silent));
  expect(answer.capture?.broken).toMatch(/gzip data is cut off or damaged/);
  expect(answer.frames).toBeGreaterThan(0);
  expect(answer.frames).toBeLessThan(8600);
});

test("a file that breaks off gives the frames before, and says where", async () => {
  const session = newSession();
  good(await session.load(RULES));
  const cut = EVERYDAY.slice(0, EVERYDAY.length - 20);
  const answer = good(await session.openCapture(new Blob([cut]), "cut.pcap", silent));
  expect(answer.frames).toBe(85);
  expect(answer.capture?.broken).toMatch(/^breaks off at byte \d+/);
});

test("a file that is no capture is refused, and the frames stay", async () => {
  const session = await opened(EVERYDAY);
  const text = new Blob([exampleText("everyday.json")]);
  await expect(session.openCapture(text, "everyday.json", silent)).rejects.toThrow(/not_a_capture|neither a pcap/);
  expect((await session.rows(0, 1000)).length).toBe(86);
});

test("frames without rules are counted, and steered once rules come", async () => {
  const session = newSession();
  expect(await session.openCapture(new Blob([EVERYDAY]), "a.pcap", silent)).toMatchObject({ frames: 86, totals: null });
  const refused = await session.load("{");
  expect(refused).toMatchObject({ totals: null, refusals: [{ offset: 1 }] });
  expect(good(await session.load(RULES)).totals.frames).toBe(86);
  expect(good(await session.closeCapture()).frames).toBe(0);
});

test("refused rules leave the last good ones, also for a capture that is opened then", async () => {
  const session = newSession();
  good(await session.load(RULES));
  const refused = await session.load(RULES.replace('"table": "overlay"', '"table": "overlai"'));
  expect(refused?.refusals).toMatchObject([{ path: expect.stringMatching(/^rules\[0\]/) as string, offset: null }]);
  const answer = await session.openCapture(new Blob([EVERYDAY]), "a.pcap", silent);
  expect(answer?.refusals.length).toBe(1);
  expect(answer?.totals?.frames).toBe(86);
});

test("the bytes of a short capture are given, those of a long one are not", async () => {
  const session = await opened(EVERYDAY);
  expect(await session.captureBytes(EVERYDAY.length)).toEqual(EVERYDAY);
  expect(await session.captureBytes(EVERYDAY.length - 1)).toBeNull();
});

test("a way in a capture is that of its outcome, in any order of frames", async () => {
  const session = await opened(EVERYDAY);
  const rows = await session.rows(0, 100);
  for (const { number, verdict, rules } of [...rows].reverse()) {
    const way = await session.way(number);
    expect({ verdict: way?.trace.outcome.verdict, rules: way?.trace.outcome.rules }).toEqual({ verdict, rules });
    expect(way?.why === null).toBe(verdict !== "drop" && verdict !== "miss");
  }
  expect(await session.way(87)).toBeNull();
  expect(await session.why(58, { kind: "queue", name: "tenant-blue" })).toMatchObject({ reached: false });
});
