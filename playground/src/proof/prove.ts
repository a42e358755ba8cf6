/** Findings, dead rules and witnesses of rules, at their places in the text. */
import type { CoreSource } from "flowsteer";
import { cover, lint, type Finding, type RuleCoverage } from "flowsteer/explain";
import { checkScenario, DocumentPlaces, sendersOf, unusedFindings } from "flowsteer/scenario";
import { without } from "../text/json.js";
import { pathOf } from "../text/places.js";
import type { Proved, ProvedFinding } from "./api.js";

/** @returns null for rules that are refused */
export async function prove(text: string, core: CoreSource): Promise<Proved | null> {
  const { scenario, loaded } = await checkScenario(text, { core });
  if (scenario === null || loaded === null) return null;
  const places = new DocumentPlaces(text, scenario);
  const found = [...(await lint(loaded.device, { senders: sendersOf(loaded), core })), ...unusedFindings(scenario)];
  const findings = await Promise.all(found.map((one) => placed(text, places, one, core)));
  const { rules } = await cover(loaded.device, { core });
  return { findings, ...split(places, rules) };
}

function split(places: DocumentPlaces, rules: readonly RuleCoverage[]): Pick<Proved, "dead" | "live"> {
  const dead = [];
  const live = [];
  for (const { rule, coverage } of rules) {
    const { kind, name } = rule;
    const keys = kind === "connection" ? null : places.keysOf({ kind, name });
    if (keys === null) continue;
    const path = pathOf(keys);
    if (coverage.status === "none") dead.push({ path, why: coverage.proof.sentence });
    if (coverage.status === "witness") live.push({ path, name, witness: coverage.witness });
  }
  return { dead, live };
}

type Found = Pick<Finding, "id" | "severity" | "sentence" | "objects" | "field" | "fix">;

async function placed(text: string, places: DocumentPlaces, found: Found, core: CoreSource): Promise<ProvedFinding> {
  const { id, severity, sentence, objects, field, fix } = found;
  const keys = objects[0] === undefined ? null : places.keysOf(objects[0], field);
  const path = keys === null ? null : pathOf(keys);
  return {
    id,
    objects: objects.map(({ kind, name }) => ({ kind, name })),
    severity,
    text: sentence,
    path,
    fix: await sure(text, places, fix, core),
  };
}

/** The repair, if it removes a value and the document is accepted without that. */
async function sure(
  text: string,
  places: DocumentPlaces,
  fix: Finding["fix"],
  core: CoreSource,
): Promise<ProvedFinding["fix"]> {
  const keys = places.removedBy(fix);
  if (fix === null || keys === null) return null;
  const path = pathOf(keys);
  const { refusals } = await checkScenario(without(text, path), { core });
  return refusals.length === 0 ? { sentence: fix.sentence, path } : null;
}
