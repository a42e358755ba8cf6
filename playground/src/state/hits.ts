/** The rules that the selected frame hit, by their path in the document. */
import { computed } from "@preact/signals";
import { pipeline } from "./answer.js";
import { way } from "./selection.js";

/** The paths of rules by their names. */
export const pathsByName = computed(
  () => new Map((pipeline.value?.tables ?? []).flatMap(({ rules }) => rules.map(({ name, path }) => [name, path]))),
);

/** By path, such as `rules[2]`: the tables where it hit, in words. */
export const hitRules = computed<ReadonlyMap<string, string>>(() => {
  const shown = way.value;
  const hits = new Map<string, string>();
  if (shown === null) return hits;
  const paths = pathsByName.value;
  for (const step of shown.trace.steps) {
    if (step.kind !== "lookup" || step.rule === null || step.passedOver) continue;
    for (const name of [step.rule.name, ...step.rule.name.split(" = ")]) {
      const path = paths.get(name);
      if (path !== undefined) hits.set(path, `frame ${shown.frame} hit it in table ${step.table.table}`);
    }
  }
  return hits;
});
