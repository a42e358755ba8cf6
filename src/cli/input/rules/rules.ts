/**
 * The rules of a command: a scenario, or rules as other programs have them, which are imported first. Rules of the latter
 * are called by their places: `rules.sh:3`.
 */
import type { ImportedRules, ImportFinding, ImportOptions, ImportSource, Respelling } from "../../../import/index.js";
import type { Device, DeviceOptions } from "../../../index.js";
import { loadScenario, type LoadedScenario, type Scenario } from "../../../scenario/index.js";
import type { CommandLine } from "../../commandLine.js";
import { badUsage, CommandRefusal, withFile } from "../../refusal.js";
import { leftOut, printable } from "../../text.js";
import { inputName, textOf } from "../chunks.js";
import { IMPORT_OPTIONS, importOptions, profileOption } from "./options.js";
import { rulesAndCaptures } from "./operands.js";

/** Rules that cannot be imported; the elements that were refused have been printed. */
export class ImportRefusal extends CommandRefusal {
  readonly source: string;
  readonly findings: readonly ImportFinding[];

  /** @param findings of the elements that were refused */
  constructor(source: string, findings: readonly ImportFinding[]) {
    const hint = leftOut(findings.length, "imported");
    super(source, { code: "EINVAL", call: "flowsteer", reason: "bad_usage", hint });
    this.source = source;
    this.findings = findings;
  }
}

export interface Rules {
  /** The name of the first file in messages. */
  readonly name: string;
  /** What `loadScenario` takes. */
  readonly document: string | Scenario;
  /** What the command line says of the device, in place of the document. */
  readonly device: Pick<ImportOptions, "profile">;
  /** The text of the first file. */
  readonly text: string;
  /** Null for a scenario. */
  readonly imported: ImportedRules | null;
}

/** Reads the rules that a file has. */
export function readRules(path: string, line: CommandLine): Promise<Rules> {
  return rulesOf([path], line);
}

/** Reads the rules that the first operands have. @returns them, and the other operands */
export async function readRulesAndCaptures(line: CommandLine): Promise<[Rules, captures: readonly string[]]> {
  const [first = "", ...others] = line.operands;
  const text = await textOf(first);
  if (await isScenario(text)) return [await rulesOf([first], line, text), others];
  const { more, captures } = await rulesAndCaptures(others);
  return [await rulesOf([first, ...more], line, text), captures];
}

/** @param text that of the first file, if it has been read */
export async function rulesOf(paths: readonly string[], line: CommandLine, text?: string): Promise<Rules> {
  const [first = "", ...more] = paths;
  const name = inputName(first);
  const known = text ?? (await textOf(first));
  if (await isScenario(known)) {
    if (more.length > 0)
      throw badUsage(null, `${name} is a scenario: rules of several files are those of other programs`);
    const option = Object.keys(IMPORT_OPTIONS).find((one) => line.values.has(one) || line.flags.has(one));
    if (option !== undefined) throw badUsage(`--${option}`, `${name} is a scenario: there is nothing to import`);
    return { name, document: known, device: profileOption(line), text: known, imported: null };
  }
  const sources = [{ file: name, text: known }];
  for (const path of more) sources.push({ file: inputName(path), text: await textOf(path) });
  const imported = await importedFrom(name, sources, line);
  return { name, document: imported.scenario, device: {}, text: known, imported };
}

/** Loads rules on a device. */
export function loadRules(
  { name, document, device }: Rules,
  open?: (options: DeviceOptions) => Promise<Device>,
): Promise<LoadedScenario> {
  return withFile(name, () => loadScenario(document, device, open));
}

/** The rules of a file as another program has them, to be mended; null for a scenario. */
export async function respelledRules(
  path: string,
  line: CommandLine,
): Promise<{ readonly text: string; readonly made: readonly Respelling[] } | null> {
  const source = { file: inputName(path), text: await textOf(path) };
  if (await isScenario(source.text)) return null;
  const { respelled } = await import("../../../import/index.js");
  const { sources, made } = await withFile(source.file, () => respelled([source], importOptions(line)));
  return { text: sources[0]?.text ?? source.text, made };
}

/** Whether a text is a scenario, or a text whose fault the reader of scenarios names. */
async function isScenario(text: string): Promise<boolean> {
  const isObject = /^\s*\{/.test(text);
  if ((isObject && /"flowsteer"\s*:/.test(text)) || text.trim() === "" || text.includes("\0")) return true;
  const { recognizes } = await import("../../../import/index.js");
  return isObject && !recognizes(text);
}

async function importedFrom(name: string, sources: readonly ImportSource[], line: CommandLine): Promise<ImportedRules> {
  const { ImportedRules, importScenario, printFinding } = await import("../../../import/index.js");
  const options: ImportOptions = { ...importOptions(line), namePlaces: true };
  const result = await withFile(name, () => importScenario(sources, options));
  const { scenario, findings } = result;
  const refused = findings.filter(({ severity }) => severity === "refused");
  for (const finding of line.flags.has("quiet") ? refused : findings)
    process.stderr.write(`${printable(printFinding(finding))}\n`);
  if (scenario === null) throw new ImportRefusal(name, refused);
  return new ImportedRules(sources, options, scenario, result);
}
