/** Parses JSON text. Errors have line and column; a key that occurs twice is refused, not lost. */
import { JsonError, MAX_JSON_DEPTH, readJson, type JsonNode, type TextPlace } from "../base/json.js";
import { refuse } from "../errors.js";

/**
 * Parses JSON. @throws bad_json with line and column; duplicate_name for a key that an object has
 * twice
 */
export function parseJson(source: string): unknown {
  // A byte order mark is not part of the text.
  const text = source.replace(/^\uFEFF/, "");
  const value = parsedNatively(text);
  // The tree takes ten times as long, so it is read only to find what is wrong.
  if (value === undefined || keysIn(value, 0) !== keysWritten(text)) refuseRepeatedKeys(treeOf(text), "");
  return value;
}

/** Undefined for a text that is not JSON. */
function parsedNatively(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined for a value that is too deep. */
function keysIn(value: unknown, depth: number): number | undefined {
  if (typeof value !== "object" || value === null) return 0;
  if (depth === MAX_JSON_DEPTH) return undefined;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const one of Object.values(value)) {
    const below = keysIn(one, depth + 1);
    if (below === undefined) return undefined;
    count += below;
  }
  return count;
}

function keysWritten(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) count++;
  return count;
}

function treeOf(text: string): JsonNode {
  try {
    return readJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { message: hint, token, place } = error;
    const value = token === "" ? undefined : token.slice(0, 40);
    return refuse({ code: "EINVAL", reason: "bad_json", path: lineOf(place), value, hint });
  }
}

function refuseRepeatedKeys(node: JsonNode, path: string): void {
  if (node.kind === "array") node.items.forEach((item, i) => refuseRepeatedKeys(item, `${path}[${i}]`));
  if (node.kind !== "object") return;
  const keys = new Set<string>();
  for (const [{ text: key, place }, value] of node.entries) {
    const below = path === "" ? key : `${path}.${key}`;
    if (keys.has(key)) {
      const hint = "write the key once";
      refuse({ code: "EINVAL", reason: "duplicate_name", path: `${below} (${lineOf(place)})`, hint });
    }
    keys.add(key);
    refuseRepeatedKeys(value, below);
  }
}

function lineOf({ line, column }: TextPlace): string {
  return `line ${line}, column ${column}`;
}
