/** The findings of a scenario file: refusals, those of `lint`, and objects that the document does not use. */
import { lint, type Finding } from "../../explain/index.js";
import { REFUSALS, type SteeringError } from "../../index.js";
import {
  checkScenario,
  loadScenario,
  DocumentPlaces,
  placeOfPath,
  sendersOf,
  unusedFindings,
  type NamedInDocument,
  type Scenario,
} from "../../scenario/index.js";
import type { SourceElement } from "../../import/index.js";
import type { ImportedRules, Rules } from "../input/rules/rules.js";
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

/** Checks a scenario, or rules that were imported. */
export function checkRules({ name, text, imported }: Rules): Promise<CheckedFile> {
  return imported === null ? checkFile(name, text) : checkImported(name, text, imported);
}

/** Findings of `lint` about rules of other programs are where these rules stand. */
async function checkImported(name: string, text: string, { scenario, elementOf }: ImportedRules): Promise<CheckedFile> {
  const loaded = await loadScenario(scenario);
  const places = new DocumentPlaces(JSON.stringify(scenario), scenario);
  const placeOf = (object: NamedInDocument): { element: SourceElement; path: string } | null => {
    const keys = places.keysOf(object);
    const path = keys === null ? "" : places.at(keys).path;
    const element = elementOf(path);
    return element === undefined ? null : { element, path };
  };
  const placed = (finding: Finding): FindingLine => {
    const objects = finding.objects.map((object) => {
      const found = placeOf(object);
      if (found === null) return { ...object, place: null };
      const { line, column } = found.element;
      return { ...object, place: { path: "", pointer: "", line, column } };
    });
    const elements = finding.objects.flatMap((object) => {
      const found = placeOf(object);
      return found === null ? [] : [[object.name, found.element] as const];
    });
    const [first] = elements;
    return {
      kind: "finding",
      ...finding,
      file: first?.[1].file ?? name,
      place: objects[0]?.place ?? null,
      objects,
      fix: null,
      ...(elements.length === 0 ? {} : { elements: Object.fromEntries(elements) }),
    };
  };
  const found = await lint(loaded.device, { senders: sendersOf(loaded) });
  return { name, text, refusals: [], scenario, findings: found.map(placed) };
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
