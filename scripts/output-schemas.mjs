#!/usr/bin/env node
// Writes the schemas of what commands print with --json from the TypeScript types of the lines; tests hold them equal:
//
//     node scripts/output-schemas.mjs

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Schemas by name: the type of a line, and the file that exports it. */
const SCHEMAS = {
  "explain-1": {
    title: "A line of flowsteer trace --json and flowsteer why --json",
    file: "src/cli/report/explainLines.ts",
    type: "ExplainLine",
  },
  "check-1": {
    title: "A line of flowsteer check --json",
    file: "src/cli/report/checkLines.ts",
    type: "CheckLine",
  },
  "diff-1": {
    title: "A line of flowsteer diff --json",
    file: "src/cli/report/diffLines.ts",
    type: "DiffLine",
  },
  "exec-1": {
    title: "A line of flowsteer exec --json",
    file: "src/cli/exec/report/execLines.ts",
    type: "ExecLine",
  },
  "cover-1": {
    title: "A line of flowsteer cover --json",
    file: "src/cli/report/coverLines.ts",
    type: "CoverLine",
  },
};

/** The published schemas as text, by name. */
export function outputSchemas() {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const files = Object.values(SCHEMAS).map(({ file }) => `${ROOT}${file}`);
  const program = ts.createProgram(files, { ...options, noEmit: true });
  return Object.keys(SCHEMAS).map((name) => [name, outputSchema(program, name)]);
}

/** A schema as text: a line for each named type. */
function outputSchema(program, name) {
  const { title, file, type } = SCHEMAS[name];
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(`${ROOT}${file}`);
  const line = checker.getExportsOfModule(checker.getSymbolAtLocation(source)).find((one) => one.name === type);
  const defs = new Map();
  const root = inline(checker, checker.getDeclaredTypeOfSymbol(line), defs);
  const lines = [...defs].map(([key, schema]) => `    ${JSON.stringify(key)}: ${JSON.stringify(schema)}`);
  const head = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `flowsteer/schema/${name}.schema.json`,
    title,
  };
  const first = Object.entries({ ...head, ...root }).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
  );
  return `{\n${first.join("")}  "$defs": {\n${lines.join(",\n")}\n  }\n}\n`;
}

/** The schema of a type; a type with a name is below $defs once. */
function schemaOf(checker, type, defs) {
  const name = nameOf(type);
  if (name === null) return inline(checker, type, defs);
  if (!defs.has(name)) {
    // Reserves its place, for types that contain themselves.
    defs.set(name, {});
    defs.set(name, inline(checker, type, defs));
  }
  return { $ref: `#/$defs/${name}` };
}

/** The name of an interface or alias of the project. */
function nameOf(type) {
  const symbol = type.aliasSymbol ?? (type.flags & ts.TypeFlags.Object ? type.getSymbol() : undefined);
  const [declaration] = symbol?.declarations ?? [];
  const named =
    declaration !== undefined && (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration));
  return named && declaration.getSourceFile().fileName.startsWith(`${ROOT}src/`) ? symbol.name : null;
}

function inline(checker, type, defs) {
  if (type.flags & ts.TypeFlags.Null) return { type: "null" };
  if (type.flags & ts.TypeFlags.BooleanLiteral) return { const: checker.typeToString(type) === "true" };
  if (type.flags & ts.TypeFlags.Boolean) return { type: "boolean" };
  if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
  if (type.flags & ts.TypeFlags.String) return { type: "string" };
  if (type.flags & ts.TypeFlags.Number) return { type: "number" };
  if (type.isUnion()) return unionOf(checker, type.types, defs);
  if (checker.isArrayType(type))
    return { type: "array", items: schemaOf(checker, checker.getTypeArguments(type)[0], defs) };
  if (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return objectOf(checker, type, defs);
  throw new Error(`no JSON Schema for the type ${checker.typeToString(type)}`);
}

/** The type of an optional property contains `undefined`, which JSON leaves out. */
function unionOf(checker, all, defs) {
  const types = all.filter((type) => !(type.flags & ts.TypeFlags.Undefined));
  if (types.length === 1) return schemaOf(checker, types[0], defs);
  const words = types.filter((type) => type.isStringLiteral()).map(({ value }) => value);
  const booleans = types.filter((type) => type.flags & ts.TypeFlags.BooleanLiteral);
  const others = types.filter((type) => !type.isStringLiteral() && !booleans.includes(type));
  const parts = [
    ...(words.length > 0 ? [{ type: "string", enum: words.sort() }] : []),
    ...(booleans.length === 2 ? [{ type: "boolean" }] : booleans.map((type) => inline(checker, type, defs))),
    ...others.map((type) => schemaOf(checker, type, defs)),
  ];
  // The compiler orders the parts of a union by when it met them.
  parts.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return parts.length === 1 ? parts[0] : { anyOf: parts };
}

function objectOf(checker, type, defs) {
  const index = checker.getIndexInfoOfType(type, ts.IndexKind.String);
  if (index !== undefined) return { type: "object", additionalProperties: schemaOf(checker, index.type, defs) };
  const symbols = checker.getPropertiesOfType(type);
  const properties = symbols.map((symbol) => {
    const description = ts.displayPartsToString(symbol.getDocumentationComment(checker));
    const schema = schemaOf(checker, checker.getTypeOfSymbol(symbol), defs);
    return [symbol.name, description === "" ? schema : { description, ...schema }];
  });
  const required = symbols.filter(({ flags }) => !(flags & ts.SymbolFlags.Optional)).map(({ name }) => name);
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(`${ROOT}schema`, { recursive: true });
  for (const [name, text] of outputSchemas()) writeFileSync(`${ROOT}schema/${name}.schema.json`, text);
}
