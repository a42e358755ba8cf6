/** The checks that a frame failed: connection tracking and ESP, with the numbers that were compared. */
import { describe, expect, it } from "vitest";
import { openTracer, printTrace, why, type FailedCheck, type Trace, type Tracer } from "../../../src/explain/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { ACK, FIN, PSH, RST, segmentFrame, SYN, type SegmentFields } from "../../assembly/act/support/connections.js";
import { seedFor } from "../../assembly/support/core.js";
import { emptyConnection, trackReference, type PlainConnection, type Tracked } from "../../oracle/act/connection.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds } from "../../support/tier.js";

const track = (flags: string): object => ({ aso: { object: "connections", offset: 0, flags, return_reg_c: 1 } });

/** Frames of port 1 are of the initiator, those of port 2 of the responder. */
async function open(): Promise<Tracer> {
  const rules = [
    { name: "initiator", table: "root", match: { "ext.port": 1 }, actions: [track("ct_direction_initiator")] },
    { name: "responder", table: "root", match: { "ext.port": 2 }, actions: [track("ct_direction_responder")] },
  ].map((rule) => ({ ...rule, actions: [...rule.actions, { table: "judged" }] }));
  const judged = [
    {
      name: "invalid",
      table: "judged",
      priority: 0,
      match: { "misc2.metadata_reg_c_1": "0x40/0x40" },
      actions: ["drop"],
    },
    { name: "good", table: "judged", priority: 1, actions: [{ queue: "q" }] },
  ];
  const { device } = await loadScenario(
    JSON.stringify({
      flowsteer: 1,
      device: { ports: 2 },
      queues: [{ name: "q" }],
      asoObjects: [{ name: "connections", log_obj_range: 0, conn_track: {} }],
      tables: [
        { name: "root", level: 0 },
        { name: "judged", level: 1 },
      ],
      rules: [...rules, ...judged],
    }),
  );
  return openTracer(device);
}

function failedIn({ steps }: Trace): readonly FailedCheck[] {
  return steps.flatMap((step) => (step.kind === "action" ? (step.failed ?? []) : []));
}

function send(tracer: Tracer, original: boolean, segment: SegmentFields): readonly FailedCheck[] {
  return failedIn(tracer.trace(original ? 1 : 2, segmentFrame(segment), { commit: true, time: 5n }));
}

async function established(): Promise<Tracer> {
  const tracer = await open();
  expect(send(tracer, true, { flags: SYN, seq: 1000, win: 2000 })).toEqual([]);
  expect(send(tracer, false, { flags: SYN | ACK, seq: 3000, ack: 1001, win: 2000 })).toEqual([]);
  expect(send(tracer, true, { flags: ACK, seq: 1001, ack: 3001, win: 2000 })).toEqual([]);
  expect(send(tracer, false, { flags: ACK | PSH, seq: 3001, ack: 1001, data: 399, win: 2000 })).toEqual([]);
  return tracer;
}

describe("connection tracking", () => {
  it("names an acknowledgement beyond what was sent, with both numbers", async () => {
    const tracer = await established();
    const frame = segmentFrame({ flags: ACK, seq: 1001, ack: 4001 });
    const trace = tracer.trace(1, frame, { time: 5n });
    const sentence = "acknowledges 4001, beyond 3400, the highest sequence number seen from the other side";
    expect(failedIn(trace)).toEqual([
      { check: "ack_beyond", numbers: { reach: "4001", sent_end: "3400", ack: "4001" }, sentence },
    ]);
    expect(printTrace(trace, { width: 200 })).toContain(`the frame ${sentence}`);
    const answer = await why(tracer.device, 1, frame, { kind: "end" }, { time: 5n });
    const [, state] = answer.reasons;
    expect(state).toMatchObject({ kind: "state", failed: [{ check: "ack_beyond" }] });
    expect(state?.sentence).toBe(
      `connection "connections" found the frame invalid (syndrome 64): it ${sentence}; rule "invalid" takes register C1 0x40/0x40`,
    );
  });

  it.each<[string, SegmentFields, string]>([
    ["seq_beyond", { flags: ACK, seq: 9999, ack: 3400 }, "9999, beyond 3001"],
    ["seq_old", { flags: ACK, seq: 5001 - 2 ** 16, ack: 3400 }, "before 1001"],
    ["ack_old", { flags: ACK, seq: 1001, ack: 3400 + 2 ** 31 }, "3400"],
    ["rst_seq", { flags: RST, seq: 77 }, "77: 1001"],
    ["tcp_flags", { flags: SYN | FIN, seq: 1001 }, "0x3"],
  ])("names %s", async (check, segment, text) => {
    const [one] = send(await established(), true, { ...segment, seq: segment.seq >>> 0 });
    expect(one?.check).toBe(check);
    expect(one?.sentence).toContain(text);
  });

  it("names data after a FIN", async () => {
    const tracer = await established();
    expect(send(tracer, true, { flags: ACK | FIN, seq: 1001, ack: 3400, win: 2000 })).toEqual([]);
    expect(send(tracer, true, { flags: ACK, seq: 1002, ack: 3400, data: 10 })).toMatchObject([
      { check: "after_fin", numbers: { end: "1012", sent_end: "1002" } },
    ]);
  });

  it("names the kind that a state does not accept, and a connection that timed out", async () => {
    expect(send(await open(), true, { flags: ACK, seq: 1, ack: 1 })).toMatchObject([
      { check: "kind", sentence: "is an ACK, which a connection in the state empty does not accept" },
    ]);
    const tracer = await open();
    expect(send(tracer, true, { flags: SYN, seq: 1000 })).toEqual([]);
    const late = tracer.trace(2, segmentFrame({ flags: SYN | ACK, seq: 3000, ack: 1001 }), { time: 200_000_000_005n });
    expect(failedIn(late).map(({ check, numbers }) => [check, numbers["seconds"] ?? null])).toEqual([
      ["timed_out", "200"],
      ["kind", null],
    ]);
  });

  it("agrees with the reference on random lives: what failed, and the numbers of the connection", async () => {
    const random = new Random(seedFor("failed checks"));
    const seen = new Map<string, number>();
    for (let life = 0; life < rounds(40) + 2; life++) {
      const tracer = await established();
      const tracked: Tracked = { context: emptyConnection(), time: null };
      const reference = (original: boolean, segment: SegmentFields): number => {
        const bytes = segmentFrame(segment);
        return trackReference(tracked, { bytes, wireLength: bytes.length, linkType: 1, time: 5n }, original).syndrome;
      };
      reference(true, { flags: SYN, seq: 1000, win: 2000 });
      reference(false, { flags: SYN | ACK, seq: 3000, ack: 1001, win: 2000 });
      reference(true, { flags: ACK, seq: 1001, ack: 3001, win: 2000 });
      reference(false, { flags: ACK | PSH, seq: 3001, ack: 1001, data: 399, win: 2000 });
      for (let n = 0; n < 60; n++) {
        const original = random.chance(0.5);
        const context = structuredClone(tracked.context);
        const segment = randomSegment(random, context, original);
        const failed = send(tracer, original, segment);
        const syndrome = reference(original, segment);
        const about = JSON.stringify({ context, segment, original, failed });
        expect(failed.length > 0, about).toBe((syndrome & 0x40) !== 0);
        for (const one of failed) {
          seen.set(one.check, (seen.get(one.check) ?? 0) + 1);
          expect(isTrue(one, segment, context, original), about).toBe(true);
        }
      }
    }
    const all = ["seq_beyond", "seq_old", "ack_beyond", "ack_old", "after_fin", "rst_seq", "kind", "not_old"];
    checkReached(() => expect(all.filter((check) => !seen.has(check))).toEqual([]));
    expect(seen.size).toBeGreaterThan(4);
  });
});

describe("ESP", () => {
  const run = async (first: number, sequence: number, more: object = {}): Promise<Trace> => {
    const esp = {
      direction: "decrypt",
      spi: 8,
      seq: first,
      key: "00".repeat(16),
      salt: "00000000",
      esn: 0,
      replay: 32,
    };
    const headers = [
      { header: "ethernet" },
      { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
      { header: "esp", spi: 8, sequence, ...more },
      { header: "payload", bytes: "00".repeat(40) },
    ];
    const flow = { name: "in", queue: "q", specs: [{ ipv4: {} }, { esp: {} }, { action: "sa" }] };
    const { device, frames } = await loadScenario(
      JSON.stringify({
        flowsteer: 1,
        queues: [{ name: "q" }],
        flowActions: [{ name: "sa", esp: { ...esp, encap: [{ ipv4: {} }] } }],
        flows: [flow],
        frames: [{ headers }],
      }),
    );
    return (await openTracer(device)).trace(1, frames[0]?.bytes as Uint8Array);
  };

  it.each<[string, number, number, object, string, string]>([
    [
      "late",
      1000,
      900,
      {},
      "esp_replay",
      "has the sequence number 900, before 969, where the replay window that ends at 1000 begins",
    ],
    [
      "far ahead",
      1000,
      0x9000_0000,
      {},
      "esp_jump",
      "has the sequence number 2415919104, 2415918104 after the highest, 1000, and the limit is 2^31",
    ],
    ["of another SPI", 1000, 1001, { spi: 9 }, "esp_spi", "has the SPI 0x00000009, and the action has 0x00000008"],
    [
      "below 0",
      10,
      0xffff_fff0,
      {},
      "esp_replay",
      "has the lower half 4294967280 of a sequence number, which lies in the window before 0: the highest number so far is 10",
    ],
    [
      "forged",
      1000,
      1001,
      {},
      "esp_authentication",
      "has another ICV than the key, the salt and the sequence number 1001 give",
    ],
  ])("names the numbers of a packet that is %s", async (_, first, sequence, more, reason, sentence) => {
    const trace = await run(first, sequence, more);
    expect(trace.outcome).toMatchObject({ verdict: "drop", reason });
    expect(failedIn(trace).map((one) => one.sentence)).toEqual([sentence]);
    expect(printTrace(trace, { width: 400 })).toContain(`refuses the frame: it ${sentence}`);
  });
});

function randomSegment(random: Random, context: PlainConnection, original: boolean): SegmentFields {
  const [own, other] = original ? [context.original, context.reply] : [context.reply, context.original];
  const about = (number: number): number =>
    (number + random.pick([0, 0, 0, 1, -1, 200, -200, 3000, -3000, 70_000, -70_000, 2 ** 31])) >>> 0;
  return {
    flags: random.pick([ACK, ACK, ACK, ACK, ACK | PSH, ACK | FIN, SYN, SYN | ACK, RST]),
    seq: about(random.pick([own.sent_end, own.sent_end, own.reply_end])),
    ack: about(other.sent_end),
    win: random.pick([2000, 0, 500]),
    data: random.pick([0, 0, 100]),
  };
}

const after = (a: number, b: number): boolean => ((a - b) | 0) > 0;

/** Whether a check says what the frame and the connection before it have. */
function isTrue({ check, numbers }: FailedCheck, segment: SegmentFields, context: PlainConnection, original: boolean) {
  const [own, other] = original ? [context.original, context.reply] : [context.reply, context.original];
  const { flags, seq, ack = 0, data = 0 } = segment;
  const end = (seq + data + (flags & (SYN | FIN) ? 1 : 0)) >>> 0;
  const has = (name: string, value: number): boolean => numbers[name] === String(value);
  switch (check) {
    case "seq_beyond":
      return has("seq", seq) && has("reply_end", own.reply_end) && after(seq, own.reply_end);
    case "seq_old":
      return (
        has("end", end) && has("sent_end", own.sent_end) && has("max_win", other.max_win) && after(own.sent_end, end)
      );
    case "ack_beyond":
      return has("reach", ack) && has("sent_end", other.sent_end) && after(ack, other.sent_end);
    case "ack_old":
      return has("reach", ack) && has("sent_end", other.sent_end) && after(Number(numbers["oldest"]), ack);
    case "after_fin":
      return has("end", end) && has("sent_end", own.sent_end) && own.close_initiated === 1 && after(end, own.sent_end);
    case "not_old":
      return has("end", end) && has("sent_end", own.sent_end) && after(end, own.sent_end);
    case "rst_seq":
      return has("seq", seq) && has("sent_end", own.sent_end) && has("reply_end", own.reply_end) && flags === RST;
    case "rst_half_open":
      return has("seq", seq) && flags === RST;
    case "answers_last":
    case "answers_first_again":
    case "answers_first":
    case "no_last_syn":
      return has("ack", ack) && flags === (SYN | ACK);
    case "no_syn":
      return flags === (SYN | ACK);
    case "kind":
      return context.valid === 0;
    default:
      return false;
  }
}
