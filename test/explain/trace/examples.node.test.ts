/** Traces of all example scenarios: a dry run changes nothing, and its outcome is that of the frame. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openTracer, type Trace } from "../../../src/explain/index.js";
import { traceOutcome } from "../../../src/explain/trace/outcome.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { sampleOf } from "../../support/tier.js";

const EXAMPLES = new URL("../../../examples/", import.meta.url);
const FILES = readdirSync(EXAMPLES).filter((name) => name.endsWith(".json"));

describe("traces of examples", () => {
  it.each(sampleOf(FILES))("%s", async (file) => {
    const { device, frames, queues } = await loadScenario(readFileSync(new URL(file, EXAMPLES), "utf8"));
    const tracer = await openTracer(device);
    for (const { bytes, port = 1, send, metadata = 0, linkType = 1, wireLength = bytes.length } of frames) {
      const from = send === undefined ? null : (queues.get(send)?.queue as QueuePair);
      const options = { linkType, wireLength };
      const dry = (): Trace =>
        from === null ? tracer.trace(port, bytes, options) : tracer.traceSend(from, bytes, { metadata });
      const before = device.core.u8.slice();
      const trace = dry();
      expect(Buffer.compare(device.core.u8, before)).toBe(0);
      expect(dry()).toEqual(trace);
      expect(structuredClone(trace)).toEqual(trace);
      expect(JSON.parse(JSON.stringify(trace))).toEqual(trace);
      const outcome = from === null ? device.receive(port, bytes, options) : device.send(from, bytes, { metadata });
      expect(trace.outcome).toEqual(traceOutcome(outcome));
      expect(trace.complete).toBe(true);
    }
  });
});
