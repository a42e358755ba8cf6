/** The part of the report about rules that no frame of the run hit: why none can. */
import type { ImportedRules } from "../../import/index.js";
import { Device, SteeringError } from "../../index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import { printable, table, type Paint, type Row } from "../text.js";

/** Proofs about more rules would take longer than the run: `flowsteer check` has them. */
const MAX_RULES = 200;

/** The rules that no frame can hit, and the proofs. Packets of messages hit rules that the report does not count. */
export async function neverHitText(
  paint: Paint,
  { device, hitRules, tally, messages }: LoadedScenario,
  imported: ImportedRules | null,
): Promise<string> {
  const never = new Set(hitRules.filter((rule) => tally.rule(rule).frames === 0).map(({ name }) => name));
  if (never.size === 0 || hitRules.length > MAX_RULES || messages.length > 0 || !(device instanceof Device)) return "";
  const { cover } = await import("../../explain/index.js");
  const found = await cover(device).catch((error: unknown) => {
    // The copy of the device does not fit: the run is reported all the same.
    if (error instanceof SteeringError && error.code === "ENOMEM") return null;
    throw error;
  });
  const rules = found?.rules ?? [];
  const dead = rules.flatMap(({ rule, coverage }) =>
    coverage.status === "none" && never.has(rule.name)
      ? [{ id: "dead-rule", rule, objects: [rule], sentence: coverage.proof.sentence }]
      : [],
  );
  const said = imported === null ? dead : imported.inOwnNames(imported.aboutElements(dead));
  const rows = said.map(({ rule, sentence }): Row => ({
    cells: [printable(rule.name), printable(sentence)],
    style: "dim",
  }));
  return rows.length === 0 ? "" : table(paint, [{ title: "No frame can hit" }, { title: "because" }], rows);
}
