/**
 * Reads scenario documents: checks them against the schema and resolves their names, without a
 * device.
 */
import { inCall, mistyped, named, refuse } from "../errors.js";
import { describe } from "../base/checks.js";
import { SCENARIO, type Scenario } from "./document.js";
import { frameBytes } from "./frame/bytes.js";
import { parseJson } from "./json.js";
import { checkNames } from "./names.js";
import { attempt, throwFirst, type Report } from "./report.js";
import { below } from "./schema/path.js";
import { validate } from "./schema/validator.js";

const VERSION = 1;

/**
 * Checks a scenario: JSON text, or the document itself.
 *
 * @throws SteeringError bad_json with line and column; bad_version; bad_scenario, unknown_name,
 *   duplicate_name with the path in the document. Loading checks the meaning of matches and
 *   actions.
 * @throws TypeError neither text nor an object
 */
export function parseScenario(source: string | object): Scenario {
  return readScenario(source, throwFirst) as Scenario;
}

/** The document; null where it was refused and the report did not throw. */
export function readScenario(source: string | object, report: Report): Scenario | null {
  return inCall("parseScenario", () => {
    let good = true;
    const noting: Report = (refusal) => {
      good = false;
      report(named("parseScenario", refusal));
    };
    const document = attempt(noting, () => documentOf(source));
    if (!good) return null;
    validate(SCENARIO, document, noting);
    if (!good) return null;
    const scenario = document as Scenario;
    checkNames(scenario, noting);
    scenario.frames?.forEach((frame, i) => attempt(noting, () => frameBytes(below("frames", i), frame)));
    return good ? scenario : null;
  });
}

function documentOf(source: string | object): unknown {
  if (typeof source !== "string" && (typeof source !== "object" || source === null)) {
    mistyped(`a scenario is text or an object, not ${describe(source)}`);
  }
  const document = typeof source === "string" ? parseJson(source) : source;
  checkVersion(document);
  return document;
}

function checkVersion(document: unknown): void {
  if (typeof document !== "object" || document === null) return;
  const { flowsteer } = document as { flowsteer?: unknown };
  if (!Number.isInteger(flowsteer) || flowsteer === VERSION) return;
  const hint = `this release reads version ${VERSION}`;
  refuse({ code: "EINVAL", reason: "bad_version", path: "flowsteer", value: flowsteer, hint });
}
