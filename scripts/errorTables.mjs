/** Tables for docs/errors.md: identities of refusals, errno values, reasons of outcomes. Made from the sources that declare them. */
import { readFileSync } from "node:fs";

/** The table of a name: `refusals`, `errnos` or `reasons`. */
export function errorTable(name) {
  const tables = { refusals, errnos, reasons, "missing verbs": missingVerbs, "missing mlx5dv": missingMlx5dv };
  if (!(name in tables)) throw new Error(`no table of errors is called ${name}`);
  return tables[name]();
}

/** REFUSALS of src/errors.ts, a table for each of its groups. */
function refusals() {
  const lines = bodyOf("src/errors.ts", "export const REFUSALS = {").split("\n");
  const groups = [];
  for (const line of lines) {
    const group = /^ *\/\/ (.+)$/.exec(line)?.[1];
    if (group !== undefined) groups.push({ group, rows: [] });
    const [, id, text] = /^ *(\w+): "(.*)",$/.exec(line) ?? [];
    if (id !== undefined) groups.at(-1).rows.push([`\`${id}\``, text]);
  }
  return groups
    .map(
      ({ group, rows }) =>
        `### ${group[0].toUpperCase()}${group.slice(1)}\n\n${table(["reason", "what is wrong"], rows)}`,
    )
    .join("\n\n");
}

/** ERRNO of src/errors.ts. */
function errnos() {
  const members = bodyOf("src/errors.ts", "export const ERRNO = {").matchAll(/^ *(E\w+): (\d+),/gm);
  return table(
    ["code", "errno"],
    [...members].map(([, name, number]) => [`\`${name}\``, number]),
  );
}

/** The enum Reason of src/abi/outcome.ts, with the comment of each member. */
function reasons() {
  const body = bodyOf("src/abi/outcome.ts", "export enum Reason {");
  const members = [...body.matchAll(/(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s*)?\b(\w+) = (\d+),/g)].slice(1);
  const rows = members.map(([, comment, name, number]) => {
    if (comment === undefined) throw new Error(`src/abi/outcome.ts: Reason.${name} has no comment`);
    return [number, `\`${name}\``, comment.replace(/\s*\n\s*\*\s*/g, " ").trim()];
  });
  return table(["number", "reason", "what happened"], rows);
}

/** The tables of src/verbs/missing.ts and src/mlx5dv/missing.ts. */
function missingVerbs() {
  return missing("src/verbs/missing.ts", "export const MISSING_VERBS = {");
}

function missingMlx5dv() {
  return missing("src/mlx5dv/missing.ts", "export const MISSING_MLX5DV = {");
}

function missing(file, start) {
  const rows = [...bodyOf(file, start).matchAll(/^ {2}"([^"]+)": \[([^\]]*)\]/gm)].map(([, what, names]) => [
    what,
    [...names.matchAll(/"(\w+)"/g)].map(([, name]) => `\`${name}\``).join(", "),
  ]);
  return table(["what is missing", "functions"], rows);
}

/** The text between the braces of a declaration. */
function bodyOf(file, start) {
  const text = readFileSync(file, "utf8");
  const from = text.indexOf(start);
  if (from < 0) throw new Error(`${file} has no "${start}"`);
  return text.slice(from + start.length, text.indexOf("\n}", from));
}

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
