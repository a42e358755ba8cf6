/** `flowsteer/import`: rules of other programs and of devices, as scenarios. */
import { checkArray, checkObject, checkOptions, wrongType } from "../checks.js";
import { refuse } from "../errors.js";
import type { Scenario } from "../scenario/index.js";
import { DumpImport } from "./dump/scenario.js";
import { Findings } from "./findings.js";
import type { ImportFinding } from "./finding.js";

export { printFinding, type ImportFinding, type ImportSeverity, type SourcePlace } from "./finding.js";

/** What can be imported. */
export const IMPORT_FORMATS = ["mlx5-dump"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** A text to import, and its name in findings. */
export interface ImportSource {
  readonly file: string;
  readonly text: string;
}

export interface ImportOptions {
  /** Left out, it is recognized from the text. */
  readonly format?: ImportFormat;
  /** Whether elements that cannot be carried over are left out, and listed in the scenario under `notImported`. */
  readonly lenient?: boolean;
}

export interface ImportResult {
  /** Null if an element was refused, unless the import is lenient. */
  readonly scenario: Scenario | null;
  /** In the order of the sources. */
  readonly findings: readonly ImportFinding[];
}

/**
 * Turns rules of a device into a scenario: what `mlx5dv_dump_dr_domain` and the steering dumps of the
 * kernel write. Domains of several sources become one scenario.
 *
 *     const { scenario, findings } = importRules(readFileSync("dump.csv", "utf8"), { lenient: true });
 *     for (const finding of findings) console.warn(printFinding(finding));
 *
 * @param sources a text, or several with their names
 * @throws TypeError an argument of the wrong type; SteeringError EINVAL an unknown option or format
 */
export function importRules(sources: string | readonly ImportSource[], options: ImportOptions = {}): ImportResult {
  const { lenient = false } = checked(sources, options);
  const findings = new Findings();
  const dump = new DumpImport(findings);
  for (const { file, text } of typeof sources === "string" ? [{ file: "input", text: sources }] : sources) {
    findings.file = file;
    const from = findings.list.length;
    dump.add(text);
    findings.sortFrom(from);
  }
  const { list, refused } = findings;
  if (refused.length > 0 && !lenient) return { scenario: null, findings: list };
  const notImported = refused.map(({ file: source, line, column, text, reason }) => ({
    ...{ source, line, column, text, reason },
  }));
  const scenario = dump.scenario();
  return { scenario: notImported.length === 0 ? scenario : { ...scenario, notImported }, findings: list };
}

const CALL = "importRules";

function checked(sources: string | readonly ImportSource[], options: ImportOptions): ImportOptions {
  if (typeof sources !== "string") {
    checkArray(CALL, "sources", sources);
    sources.forEach((source, n) => {
      checkObject(CALL, `sources[${n}]`, source);
      for (const key of ["file", "text"] as const) {
        if (typeof source[key] !== "string") wrongType(CALL, `sources[${n}].${key}`, "a string", source[key]);
      }
    });
  }
  checkOptions(CALL, "", options, { format: "string", lenient: "boolean" });
  const { format } = options;
  if (format !== undefined && !IMPORT_FORMATS.includes(format)) {
    const hint = `formats: ${IMPORT_FORMATS.join(", ")}`;
    refuse({ code: "EINVAL", call: CALL, reason: "unsupported", path: "format", value: format, hint });
  }
  return options;
}
