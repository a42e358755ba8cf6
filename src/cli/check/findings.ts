/** The findings of a scenario file: refusals, those of `lint`, and objects that the document does not use. */
import { lint, type Finding } from "../../explain/index.js";
import { REFUSALS, type DeviceOptions, type SteeringError } from "../../index.js";
import {
  checkScenario,
  loadScenario,
  DocumentObjects,
  DocumentPlaces,
  placeOfPath,
  sendersOf,
  unusedFindings,
  type NamedInDocument,
  type Scenario,
} from "../../scenario/index.js";
import type { ImportedRules, ImportFinding, Respelling, SourceElement } from "../../import/index.js";
import type { ImportRefusal, Rules } from "../input/rules/rules.js";
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
export function checkRules({ name, text, imported, device }: Rules): Promise<CheckedFile> {
  return imported === null ? checkFile(name, text, device) : checkImported(name, text, imported);
}

/** Rules that were not imported: an error for each element. */
export function notImportedFile({ source, findings }: ImportRefusal): CheckedFile {
  const lines = findings.map((one) => notImportedLine(one, one.reason));
  return { name: source, text: "", refusals: [], scenario: null, findings: lines };
}

/** A misspelled word that `--fix` has corrected. */
export function respelledLine({ edit: { before, after, ...place }, finding: { text } }: Respelling): FindingLine {
  return notImportedLine({ ...place, text }, `changed "${before}" to "${after}"`);
}

function notImportedLine(
  { file, line, column, text }: Pick<ImportFinding, "file" | "line" | "column" | "text">,
  reason: string,
): FindingLine {
  return {
    kind: "finding",
    file,
    place: { path: "", pointer: "", line, column },
    id: "not-imported",
    severity: "error",
    objects: [],
    field: null,
    sentence: `${text}: ${reason}`,
    witness: null,
    proof: null,
    fix: null,
  };
}

/** Findings of `lint` about rules of other programs are where these rules stand. */
async function checkImported(name: string, text: string, imported: ImportedRules): Promise<CheckedFile> {
  const { scenario, elementOf } = imported;
  const loaded = await loadScenario(scenario);
  const document = new DocumentObjects(scenario);
  const sourceOf = (object: NamedInDocument): SourceElement | undefined => {
    const [section, index] = document.keysOf(object) ?? [];
    const own = index === undefined ? undefined : elementOf(`${section ?? ""}[${index}]`);
    // A chain, or a table of OpenFlow, is said by its rules.
    return own ?? (object.kind === "table" ? imported.elementIn(object.name) : undefined);
  };
  const placed = (finding: Finding): FindingLine => {
    const all = finding.objects.map((object) => ({ object, element: sourceOf(object) }));
    const objects = all.map(({ object, element }) => {
      const place =
        element === undefined ? null : { path: "", pointer: "", line: element.line, column: element.column };
      return { ...object, place };
    });
    const named = all.flatMap(({ object, element }) =>
      element === undefined ? [] : [[object.name, element] as const],
    );
    return {
      kind: "finding",
      ...finding,
      file: named[0]?.[1].file ?? name,
      place: objects[0]?.place ?? null,
      objects,
      fix: null,
      ...(named.length === 0 ? {} : { elements: Object.fromEntries(named) }),
    };
  };
  const found = await lint(loaded.device, { senders: sendersOf(loaded), isOrdered: imported.isOrdered });
  const findings = imported
    .aboutElements(found)
    .map((one) => placed(imported.words.areTried ? imported.inOwnNames(one) : one));
  return { name, text, refusals: [], scenario, findings: findings.map((one) => withReason(one, imported)) };
}

/** What an import assumes of the connections of a rule is why no frame hits it. */
function withReason(finding: FindingLine, { findings }: ImportedRules): FindingLine {
  const { file, place, sentence } = finding;
  if (!/\bct_state\b/.test(sentence)) return finding;
  const reason = findings.find(
    (one) => one.file === file && one.line === place?.line && /\bconnections\b/.test(one.reason),
  );
  return reason === undefined ? finding : { ...finding, sentence: `${sentence.replace(/\.$/, "")}: ${reason.reason}.` };
}

export async function checkFile(name: string, text: string, device: DeviceOptions = {}): Promise<CheckedFile> {
  const { scenario, refusals, loaded } = await checkScenario(text, device);
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
