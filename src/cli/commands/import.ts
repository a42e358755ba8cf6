/** flowsteer import: turns the rules of devices and other programs into a scenario. */
import { setFlagsFromString } from "node:v8";
import {
  IMPORT_FORMATS,
  importScenario,
  printFinding,
  printNote,
  type ImportFinding,
  type ImportSource,
} from "../../import/index.js";
import { parseScenario, type Scenario } from "../../scenario/index.js";
import { readCommandLine } from "../commandLine.js";
import { checkInputOnce } from "../input/captures.js";
import { inputName, textOf } from "../input/chunks.js";
import { importOptions, RULE_OPTIONS } from "../input/rules/options.js";
import { jsonPieces } from "../output/jsonPieces.js";
import { Output } from "../output/output.js";
import { writeOutput } from "../output/wholeFile.js";
import { badUsage, EXIT, withFile } from "../refusal.js";
import { leftOut, printable } from "../text.js";

/** @returns the exit code */
export async function importCommand(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "import", {
    json: "flag",
    output: "value",
    format: "value",
    into: "value",
    ...RULE_OPTIONS,
    explain: "flag",
  });
  const { operands, flags, values } = line;
  if (operands.length === 0) throw badUsage("import", "name a file: flowsteer import FILE...");
  checkInputOnce(operands);
  limitHeapGrowth();
  const format = oneOf("--format", IMPORT_FORMATS, values.get("format"));
  const sources: ImportSource[] = [];
  for (const file of operands) sources.push({ file: inputName(file), text: await textOf(file) });
  const into = await intoOf(values.get("into"));
  const {
    scenario,
    findings,
    driver: notes,
  } = await withFile(sources.map(({ file }) => file).join(", "), () =>
    importScenario(sources, {
      ...(format === undefined ? {} : { format }),
      ...(into === undefined ? {} : { into }),
      ...importOptions(line),
    }),
  );
  tell(findings, flags);
  if (flags.has("explain")) for (const note of notes) process.stderr.write(`${printable(printNote(note))}\n`);
  if (scenario === null) {
    if (!flags.has("quiet")) {
      const refused = findings.filter(({ severity }) => severity === "refused").length;
      process.stderr.write(`${leftOut(refused, "imported")}\n`);
    }
    return EXIT.refused;
  }
  const pieces = jsonPieces(scenario);
  const path = values.get("output");
  if (path !== undefined) {
    writeOutput(path, pieces);
    return 0;
  }
  const output = new Output();
  for (const piece of pieces) await output.write(piece);
  await output.flush();
  return 0;
}

/** Collects garbage before the heap has grown by half. V8 lets it grow fourfold, most of that garbage. */
function limitHeapGrowth(): void {
  try {
    setFlagsFromString("--heap-growing-percent=40");
  } catch {
    // A runtime without V8.
  }
}

/** The scenario that rules are added to. */
async function intoOf(path: string | undefined): Promise<Scenario | undefined> {
  if (path === undefined) return undefined;
  const text = await textOf(path);
  return withFile(inputName(path), () => parseScenario(text));
}

function tell(findings: readonly ImportFinding[], flags: ReadonlySet<string>): void {
  if (flags.has("json")) for (const finding of findings) process.stderr.write(`${JSON.stringify(finding)}\n`);
  else if (!flags.has("quiet")) {
    for (const finding of findings) process.stderr.write(`${printable(printFinding(finding))}\n`);
  }
}

/** The value of an option with a list of values; undefined without the option. */
function oneOf<Name extends string>(
  option: string,
  names: readonly Name[],
  text: string | undefined,
): Name | undefined {
  const found = names.find((one) => one === text);
  if (text !== undefined && found === undefined)
    throw badUsage(`${option} ${text}`, `expected one of ${names.join(", ")}`);
  return found;
}
