/** The findings of a scenario file: refusals, those of `lint`, and objects that the document does not use. */
import { lint, type Finding } from "../../explain/index.js";
import { REFUSALS, type SteeringError } from "../../index.js";
import {
  checkScenario,
  DocumentPlaces,
  placeOfPath,
  sendersOf,
  unusedFindings,
  type NamedInDocument,
  type Scenario,
} from "../../scenario/index.js";
import type { FindingLine } from "../report/checkLines.js";

/** What was found in a file. */
export interface CheckedFile {
  readonly name: string;
  readonly text: string;
  readonly refusals: readonly SteeringError[];
  /** Null for a file that was refused. */
  readonly scenario: Scenario | null;
  readonly findings: readonly FindingLine[];
}

export async function checkFile(name: string, text: string): Promise<CheckedFile> {
  const { scenario, refusals, loaded } = await checkScenario(text);
  if (scenario === null || loaded === null) {
    return { name, text, refusals, scenario: null, findings: refusals.map((one) => refusalLine(name, text, one)) };
  }
  const places = new DocumentPlaces(text, scenario);
  const found = [...(await lint(loaded.device, { senders: sendersOf(loaded) })), ...unusedFindings(scenario)];
  return { name, text, refusals, scenario, findings: found.map((one) => placed(name, places, one)) };
}

function placed(file: string, places: DocumentPlaces, finding: Finding): FindingLine {
  const placeOf = (object: NamedInDocument, field: string | null): FindingLine["place"] => {
    const keys = places.keysOf(object, field);
    return keys === null ? null : places.at(keys);
  };
  const [first] = finding.objects;
  return {
    kind: "finding",
    file,
    place: first === undefined ? null : placeOf(first, finding.field),
    ...finding,
    objects: finding.objects.map((object) => ({ ...object, place: placeOf(object, null) })),
  };
}

function refusalLine(file: string, text: string, { reason, path = "", hint }: SteeringError): FindingLine {
  return {
    kind: "finding",
    file,
    place: placeOfPath(text, path),
    id: reason,
    severity: "error",
    objects: [],
    field: null,
    sentence: `${path === "" ? "" : `${path}: `}${REFUSALS[reason]}${hint === undefined ? "" : `; ${hint}`}`,
    witness: null,
    proof: null,
    fix: null,
  };
}
