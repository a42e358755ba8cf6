/**
 * What Linux says of random connections (scripts/golden-conntrack.py) and what the device does. They may differ only where
 * docs/conntrack.md, "Differences from Linux", says so.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ACK, ConnectionWorld, FIN, RST, segmentFrame, SYN } from "./support/connections.js";

/** The state that Linux gives a frame, and the reason that it logs. */
type Verdict = readonly [state: "new" | "established" | "invalid", reason: string];
/** Side 0 is the client; options are hexadecimal digits. */
type Row = readonly [
  side: 0 | 1,
  flags: number,
  seq: number,
  ack: number,
  win: number,
  data: number,
  options: string,
  verdict: number,
];
interface Golden {
  readonly verdicts: readonly Verdict[];
  readonly connections: readonly (readonly Row[])[];
}
const GOLDEN = JSON.parse(readFileSync(new URL("../../golden/conntrack.json", import.meta.url), "utf8")) as Golden;

/** As in the documentation. */
const DIFFERENCES = [
  "ignored",
  "after a reset",
  "RST",
  "after a FIN",
  "SYN of the server",
  "SYN-ACK of the client",
  "SYN-ACK that answers no SYN",
  "SYN while closing",
  "another SYN",
  "before the third ACK",
  "SACK",
  "old ACK",
];

const INVALID = 0x40;
const SACK = "050a";

type Context = ReturnType<ConnectionWorld["context"]>;

/**
 * The difference that explains why one of the two refuses a frame and the other does not.
 * @param opener the side that sent the first SYN
 */
function differenceOf(row: Row, { context, opener }: { context: Context; opener: number }): string | undefined {
  const [side, flags, seq, ack, , data, options, verdict] = row;
  const [state, reason] = GOLDEN.verdicts[verdict] as Verdict;
  const kind = flags & (SYN | FIN | RST | ACK);
  const linuxPasses = state !== "invalid";
  const [sender, other] = side === 0 ? [context.original, context.reply] : [context.reply, context.original];
  const end = seq + data + (flags & SYN ? 1 : 0) + (flags & FIN ? 1 : 0);
  const isAfter = (a: number, b: number): boolean => a !== b && (a - b) >>> 0 < 2 ** 31;
  if (context.valid === 0 && context.last_index === 16) return "after a reset";
  if (kind === SYN && side !== opener && !linuxPasses) return "SYN of the server";
  if (kind === (SYN | ACK) && side === opener) return "SYN-ACK of the client";
  if (kind === (SYN | ACK) && context.valid === 0 && linuxPasses) return "SYN-ACK that answers no SYN";
  if ((kind & SYN) !== 0 && context.valid === 0 && context.last_index === 1 && !linuxPasses) return "another SYN";
  if (linuxPasses && sender.close_initiated === 1 && isAfter(end >>> 0, sender.sent_end)) return "after a FIN";
  if ((kind & RST) !== 0) return "RST";
  if (options.includes(SACK)) return "SACK";
  if (context.valid === 1 && context.state === 0 && reason.startsWith("SEQ is over")) return "before the third ACK";
  const age = (other.sent_end - ack) >>> 0;
  if (linuxPasses && age > 65535 && age <= 66000) return "old ACK";
  return undefined;
}

test("agrees with Linux but for the differences that are documented", async () => {
  const world = await ConnectionWorld.make();
  const differences = new Map<string, number>();
  const count = (name: string): void => void differences.set(name, (differences.get(name) ?? 0) + 1);
  let alike = 0;
  for (const [number, rows] of GOLDEN.connections.entries()) {
    world.open();
    let opener = 0;
    for (const [i, row] of rows.entries()) {
      const [side, flags, seq, ack, win, data, options, verdict] = row;
      const [state, reason] = GOLDEN.verdicts[verdict] as Verdict;
      const before = world.context();
      const bytes = segmentFrame({ flags, seq, ack, win, data, options: [...Buffer.from(options, "hex")] });
      const frame = { bytes, wireLength: bytes.length, linkType: 1, time: BigInt(i), original: side === 0 };
      const [{ syndrome }] = world.send([frame]) as [{ syndrome: number }];
      const passes = (syndrome & INVALID) === 0;
      if (state !== "invalid" && reason !== "") {
        // Linux lets it pass and has changed nothing, but for the window of a side that sends too much.
        count("ignored");
        if (!passes && !reason.startsWith("bytes more")) continue;
        break;
      }
      if (state === "new" && before.valid === 0) opener = side;
      if (passes === (state !== "invalid")) {
        alike++;
        // Linux takes over what a reset says, and begins again with a SYN while the connection closes.
        const apart = (flags & RST) !== 0 ? "RST" : state === "new" ? "SYN while closing" : null;
        if (!passes || apart === null || before.valid === 0 || world.context().valid !== 1) continue;
        count(apart);
        break;
      }
      const difference = differenceOf(row, { context: before, opener });
      expect(
        difference,
        `connection ${number}, frame ${i}: ${row.join(" ")}, syndrome 0x${syndrome.toString(16)}`,
      ).toBeDefined();
      count(difference ?? "");
      // The two have different states from here on.
      break;
    }
  }
  expect(alike).toBeGreaterThan(5500);
  expect([...differences.keys()].sort()).toEqual(DIFFERENCES.toSorted());
});
