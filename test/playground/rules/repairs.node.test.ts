/** Repairs of explanations as edits of the document: with them the frame comes to its target. */
import { readFileSync } from "node:fs";
import { applyEdits } from "jsonc-parser";
import { expect, test } from "vitest";
import { applyRepair } from "../../../playground/src/state/edits.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { ENTRIES } from "../../explain/catalogue/entries.js";
import { explained } from "../../explain/catalogue/support/explained.js";
import { reached } from "../../explain/catalogue/support/reached.js";

const folder = new URL("../../explain/catalogue/", import.meta.url);

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
