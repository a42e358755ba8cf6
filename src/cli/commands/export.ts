/** flowsteer export: writes a scenario as rules of another program, as a program, or as a graph. */
import { EXPORT_FORMATS, exportRules, printExportFinding, type ExportFormat } from "../../export/index.js";
import { readCommandLine } from "../commandLine.js";
import { inputName, textOf } from "../input/chunks.js";
import { Output } from "../output/output.js";
import { writeOutput } from "../output/wholeFile.js";
import { badUsage, EXIT, withFile } from "../refusal.js";
import { leftOut, printable } from "../text.js";

/** @returns the exit code */
export async function exportCommand(args: readonly string[]): Promise<number> {
  const { operands, flags, values } = readCommandLine(args, "export", {
    lenient: "flag",
    json: "flag",
    output: "value",
    format: "value",
  });
  const [file, ...others] = operands;
  if (file === undefined || others.length > 0)
    throw badUsage("export", "name one scenario: flowsteer export SCENARIO --format FORMAT");
  const format = formatOf(values.get("format"));
  const source = await textOf(file);
  const { text, findings } = await withFile(inputName(file), () =>
    exportRules(source, { format, lenient: flags.has("lenient") }),
  );
  for (const finding of findings) {
    if (flags.has("json")) process.stderr.write(`${JSON.stringify(finding)}\n`);
    else if (!flags.has("quiet")) {
      process.stderr.write(`${printable(`${inputName(file)}: ${printExportFinding(finding)}`)}\n`);
    }
  }
  if (text === null) {
    if (!flags.has("quiet")) process.stderr.write(`${leftOut(findings.length, "exported")}\n`);
    return EXIT.refused;
  }
  const path = values.get("output");
  if (path !== undefined) {
    writeOutput(path, text);
    return 0;
  }
  const output = new Output();
  await output.write(text);
  await output.flush();
  return 0;
}

function formatOf(text: string | undefined): ExportFormat {
  const known = `one of ${EXPORT_FORMATS.join(", ")}`;
  if (text === undefined) throw badUsage("export", `--format FORMAT, ${known}`);
  return EXPORT_FORMATS.find((one) => one === text) ?? badFormat(text, known);
}

function badFormat(text: string, known: string): never {
  throw badUsage(`--format ${text}`, known);
}
