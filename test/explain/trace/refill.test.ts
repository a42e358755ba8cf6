/** When the bucket of a meter has enough again: a frame at that time is green, and one a nanosecond before is not. */
import { describe, expect, test } from "vitest";
import { openTracer, type FailedCheck, type Trace, type Tracer } from "../../../src/explain/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds } from "../../support/tier.js";

const METERS = rounds(120);
const FRAME = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }]);

async function open(meter: object): Promise<Tracer> {
  const aso = { object: "meter", flags: "flow_meter_green", return_reg_c: 1 };
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "q" }],
    asoObjects: [{ name: "meter", flow_meter: meter }],
    tables: [
      { name: "root", level: 0 },
      { name: "all", level: 1 },
    ],
    rules: [
      { name: "meter", table: "root", match: {}, actions: [{ aso }, { table: "all" }] },
      { name: "all", table: "all", match: {}, actions: [{ queue: "q" }] },
    ],
  });
  return openTracer(device);
}

const checksOf = ({ steps }: Trace): readonly FailedCheck[] =>
  steps.flatMap((step) => (step.kind === "action" ? (step.failed ?? []) : []));

/** The checks that the first red one of frames at a time failed; it has no effect. */
function redAt(tracer: Tracer, time: bigint): readonly FailedCheck[] {
  for (;;) {
    const trace = tracer.trace(1, FRAME, { time });
    if (trace.steps.some((step) => step.kind === "action" && step.text.includes(": red in"))) return checksOf(trace);
    tracer.trace(1, FRAME, { time, commit: true });
  }
}

const WAIT = "nanoseconds until enough";

test(`${METERS} meters refill when they are said to`, async () => {
  const random = new Random(seedFor("refills"));
  const seen = new Set<string>();
  for (let n = 0; n < METERS; n++) {
    const meter_mode = random.pick(["ip_len", "l2_len", "l2_ipg_len", "pkt"]);
    const rate = { mantissa: random.chance(0.2) ? 0 : random.below(256), exponent: random.below(24) };
    const size = { mantissa: 1 + random.below(255), exponent: random.below(6) };
    const excess = random.chance(0.5) ? { eir: { ...rate, mantissa: random.below(256) }, ebs: size } : {};
    const options = random.chance(0.2) ? { bucket_overflow: true } : {};
    const tracer = await open({ meter_mode, cir: rate, cbs: size, ...excess, ...options });
    const time = BigInt(random.below(1e9));
    const failed = redAt(tracer, time);
    for (const { check, numbers, sentence } of failed) {
      const wait = numbers[WAIT];
      seen.add(`${check} ${wait === undefined ? "never" : "later"}`);
      if (wait === undefined) {
        expect(sentence).toMatch(/more than a full bucket|its rate is 0|cannot hold/);
        continue;
      }
      const checks = (at: bigint): string[] => checksOf(tracer.trace(1, FRAME, { time: at })).map((one) => one.check);
      const enough = time + BigInt(wait);
      expect(checks(enough), sentence).not.toContain(check);
      // A green frame fails no check: it takes nothing from the excess bucket.
      const before = checks(enough - 1n);
      if (before.length > 0 || check.includes("committed")) expect(before, sentence).toContain(check);
    }
  }
  const kinds = ["committed", "excess"].flatMap((bucket) =>
    ["bytes", "packets"].flatMap((unit) => [`meter_${bucket}_${unit} later`, `meter_${bucket}_${unit} never`]),
  );
  checkReached(() => expect([...seen].sort()).toEqual(kinds.sort()));
});

describe("the sentence", () => {
  const sentences = async (meter: object): Promise<string[]> =>
    redAt(await open(meter), 0n).map(({ sentence }) => sentence);

  test.each<[object, string]>([
    [
      { meter_mode: "pkt", cir: 1000, cbs: 2 },
      "costs 1 packet, and the committed bucket has 0 of 2, which refills at about 998 packets/s: enough in 1.01 ms",
    ],
    [
      { meter_mode: "ip_len", cir: { mantissa: 1, exponent: 3 }, cbs: 60 },
      "costs 28 bytes, and the committed bucket has 4 of 60, which refills at about 125000000 bytes/s: enough in 192 ns",
    ],
    [
      { meter_mode: "ip_len", cir: 1000, cbs: 20 },
      "costs 28 bytes, and the committed bucket has 20 of 20: the frame costs more than a full bucket has",
    ],
    [
      { meter_mode: "ip_len", cir: 0, cbs: 30 },
      "costs 28 bytes, and the committed bucket has 2 of 30, which never refills: its rate is 0",
    ],
  ])("%o", async (meter, sentence) => {
    expect((await sentences(meter))[0]).toBe(sentence);
  });
});
