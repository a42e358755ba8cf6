/** flowsteer fields: the fields that rules match and that header changes write. */
import { nearest } from "../../index.js";
import { matchFields, modifyFields, type FieldInfo, type ModifyFieldInfo } from "../../scenario/index.js";
import { readCommandLine } from "../commandLine.js";
import { Output } from "../output/output.js";
import { badUsage, CommandRefusal } from "../refusal.js";
import { painter, table, type Paint } from "../text.js";

/** The most names to suggest when several are equally near. */
const MAX_SHOWN = 8;

/** @returns the exit code */
export async function fields(args: readonly string[]): Promise<number> {
  const { operands } = readCommandLine(args, "fields", {});
  if (operands.length > 1) throw badUsage(operands[1] ?? "", "expected one name: flowsteer fields [NAME]");
  const output = new Output();
  const paint = painter(process.stdout);
  const [name] = operands;
  await output.write(name === undefined ? listText(paint) : detailText(paint, name));
  await output.flush();
  return 0;
}

function listText(paint: Paint): string {
  const columns = (title: string) => [
    { title },
    { title: "bits", right: true },
    { title: "header" },
    { title: "written as" },
  ];
  const row = ({ name, bits, header, written }: FieldInfo) => ({ cells: [name, String(bits), header, written] });
  return [
    table(paint, columns("Match field"), matchFields().map(row)),
    table(paint, columns("Field of header changes"), modifyFields().map(row)),
    "flowsteer fields NAME describes one of them.\n",
  ].join("\n");
}

function detailText(paint: Paint, name: string): string {
  const matched = matchFields().find((field) => field.name === name);
  const modified = modifyFields().find((field) => field.name === name);
  const field = matched ?? modified;
  if (field === undefined) throw unknownField(name);
  const rows: [label: string, text: string][] = [
    ["bits", String(field.bits)],
    ["written as", field.written],
    ...(matched === undefined ? [] : matchRows(matched)),
    ...(modified === undefined ? [] : modifyRows(modified)),
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}\n`);
  return `${paint("bold", name)}\n${lines.join("")}`;
}

function matchRows({ name, header }: FieldInfo): [label: string, text: string][] {
  return [
    ["match", `"match": { ${JSON.stringify(name)}: ... }`],
    ["header", header],
  ];
}

function modifyRows({ name, header, device }: ModifyFieldInfo): [label: string, text: string][] {
  return [
    ["change", `"modify": [{ "set": ${JSON.stringify(name)}, "to": ... }]`],
    ["changed in", header],
    ["device fields", device.join(", ")],
  ];
}

/**
 * The nearest names: those with the same last part, or that contain the word, or the most similar
 * one.
 */
function unknownField(name: string): Error {
  const names = [...new Set([...matchFields(), ...modifyFields()].map((field) => field.name))];
  const last = (one: string): string => one.split(".").at(-1) ?? one;
  const same = names.filter((known) => last(known) === last(name));
  const holding = names.filter((known) => known.toLowerCase().includes(name.toLowerCase()));
  const near = nearest(name, names);
  const meant = same.length > 0 ? same : holding.length > 0 ? holding : near === undefined ? [] : [near];
  const shown = meant.slice(0, MAX_SHOWN).join(", ");
  const more = meant.length > MAX_SHOWN ? `, ... (${meant.length})` : "";
  const hint = meant.length === 0 ? "" : `did you mean ${shown}${more}? `;
  const refusal = { code: "EINVAL", call: "flowsteer", reason: "bad_field", path: name } as const;
  return new CommandRefusal(null, { ...refusal, hint: `${hint}flowsteer fields lists all names` });
}
