/** Which other frames each repair would change: the engine steers them by the repaired rules. */
import { signal } from "@preact/signals";
import { applyEdits } from "jsonc-parser";
import type { OwnRepair } from "flowsteer/import";
import type { RulesEffect } from "../../engine/api.js";
import { engine } from "../../engine/client.js";
import { rules, source } from "../../state/document.js";
import { editsOfText } from "../../state/ownWords.js";
import { selectedFrame } from "../../state/selection.js";

/** Milliseconds that an answer is shown before the work begins: whoever goes through frames passes by. */
const REST = 300;

/** By the sentences of repairs. */
export const effects = signal<ReadonlyMap<string, RulesEffect>>(new Map());

/** Begins to look at repairs, one after the other. @returns ends it */
export function lookAtRepairs(repairs: readonly OwnRepair[]): () => void {
  let ended = false;
  effects.value = new Map();
  const look = async (): Promise<void> => {
    for (const repair of repairs) {
      const text = ended || repair.of === "frame" ? null : await repairedRules(repair);
      const effect = text === null || ended ? null : await engine().effectOf(text, selectedFrame.peek());
      if (effect !== null && !ended) effects.value = new Map([...effects.peek(), [repair.sentence, effect]]);
    }
  };
  const timer = setTimeout(() => void look().catch(() => undefined), REST);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** The scenario with a repair made; null where it cannot be made. */
async function repairedRules(repair: OwnRepair): Promise<string | null> {
  const of = source.peek();
  if (of !== null && repair.edits !== undefined) {
    const edits = editsOfText(repair.edits);
    if (edits === null) return null;
    const text = applyEdits(of.text, edits);
    const { asked } = await import("../../importing/client.js");
    return (await asked((importer) => importer.read({ ...of, text }))).scenario;
  }
  const { applyRepair } = await import("../../state/edits.js");
  const edits = applyRepair(rules.peek(), repair, selectedFrame.peek());
  return edits === null ? null : applyEdits(rules.peek(), edits);
}
