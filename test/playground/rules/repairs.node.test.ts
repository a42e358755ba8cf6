/** Repairs of explanations as edits of the document: with them the frame comes to its target. */
import { readFileSync } from "node:fs";
import { applyEdits } from "jsonc-parser";
import { expect, test } from "vitest";
import { applyRepair } from "../../../playground/src/state/edits.js";
import { why, whySend, type Explanation, type Target } from "../../../src/explain/index.js";
import { QueuePair } from "../../../src/model/queue/queuePair.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import { ENTRIES } from "../../explain/catalogue/entries.js";
import { reached } from "../../explain/catalogue/support/reached.js";

const folder = new URL("../../explain/catalogue/", import.meta.url);

/** Explains the last frame, after the others have had their effect. */
function explained(loaded: LoadedScenario, target: Target): Promise<Explanation> {
  const frames = [...loaded.frames];
  const frame = frames.pop();
  if (frame === undefined) throw new Error("a scenario without frames");
  loaded.run(frames);
  const { bytes, send, metadata, port = 1, time, linkType, wireLength } = frame;
  loaded.advance(time);
  const given = Object.fromEntries(
    Object.entries({ time, linkType, wireLength }).filter(([, value]) => value !== undefined),
  );
  if (send === undefined) return why(loaded.device, port, bytes, target, given);
  const queue = loaded.queues.get(send)?.queue;
  if (!(queue instanceof QueuePair)) throw new Error(`${send} sends no frames`);
  return whySend(loaded.device, queue, bytes, target, metadata === undefined ? {} : { metadata });
}

/** What follows from the type of a flow is no field of the document. */
const UNSAID = ["verbs/multicast-default-only", "rdma/not-rdma"];

test.each(ENTRIES)("$file", async ({ file, target }) => {
  const text = readFileSync(new URL(`${file}.json`, folder), "utf8");
  const loaded = await loadScenario(text);
  const { repairs } = await explained(loaded, target);
  for (const repair of repairs) {
    const edits = applyRepair(text, repair, loaded.frames.length);
    expect(edits === null, repair.sentence).toBe(repair.of === "rule" && UNSAID.includes(file));
    if (edits === null) continue;
    const after = applyEdits(text, edits);
    const outcome = (await loadScenario(after)).run().at(-1);
    expect(outcome !== undefined && reached(outcome, target), `${repair.sentence}\n${after}`).toBe(true);
  }
});
