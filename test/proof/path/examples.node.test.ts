/** Every frame of the examples: its way is in the graph, and its keys are those that the edges make. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openTracer } from "../../../src/explain/index.js";
import type { LookupRecord } from "../../../src/explain/trace/steps.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { graphOf } from "../../../src/proof/path/deviceGraph.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { agreement } from "./support/agree.js";
import { edgesBetween, pairsOf } from "./support/steps.js";
import { sampleOf } from "../../support/tier.js";

const EXAMPLES = new URL("../../../examples/", import.meta.url);
const FILES = readdirSync(EXAMPLES).filter((name) => name.endsWith(".json"));

it.each(sampleOf(FILES))("%s", async (file) => {
  const { device, frames, queues } = await loadScenario(readFileSync(new URL(file, EXAMPLES), "utf8"));
  const tracer = await openTracer(device);
  const graph = graphOf(tracer);
  for (const { bytes, port = 1, send, metadata = 0, linkType = 1, wireLength = bytes.length } of frames) {
    const from = send === undefined ? null : (queues.get(send)?.queue as QueuePair);
    const { trace, lookups } =
      from === null ? tracer.walk(port, bytes, { linkType, wireLength }) : tracer.walkSent(from, bytes, { metadata });
    const copies = lookups.map((one): LookupRecord => ({ ...one, key: one.key.slice() }));
    for (const { before, after, looped } of pairsOf(trace, copies)) {
      if (before === null && !looped) {
        const entry = graph.entries.find(({ source }) => JSON.stringify(source) === JSON.stringify(trace.from));
        expect(entry?.table).toBe(after.table);
        continue;
      }
      const starts = looped ? copies : [before as LookupRecord];
      const found = starts.flatMap((one) =>
        edgesBetween(graph, one, after)
          .filter(({ move }) => (move === "loop") === looped)
          .map((edge) => agreement(tracer, edge, one.key, after.key, true).difference),
      );
      expect(found).toContain(null);
    }
  }
});
