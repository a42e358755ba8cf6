/** Parses JSON text. Errors have line and column; a key that occurs twice is refused, not lost. */
import { JsonError, parseJson as parseText, readJson, type JsonNode, type TextPlace } from "../base/json.js";
import { refuse } from "../errors.js";

/**
 * Parses JSON. @throws bad_json with line and column; duplicate_name for a key that an object has
 * twice
 */
export function parseJson(text: string): unknown {
  const value = parsed(text);
  if (keysIn(value) !== keysWritten(text)) refuseRepeatedKeys(readJson(text), "");
  return value;
}

function keysIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, one) => sum + keysIn(one), own);
}

function keysWritten(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) count++;
  return count;
}

function parsed(text: string): unknown {
  try {
    return parseText(text);
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
