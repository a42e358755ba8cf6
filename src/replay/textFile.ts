/** Files of C, which calls write text to: here functions that take it. */

/** The text that each has taken. */
const TEXTS = new WeakMap<object, string>();

type Take = (text: string) => unknown;

/** A file that keeps its text. @param pass gets the text too */
export function textFile(pass?: Take): Take {
  const file: Take = (text) => {
    TEXTS.set(file, (TEXTS.get(file) ?? "") + text);
    return pass?.(text);
  };
  TEXTS.set(file, "");
  return file;
}

/** The text of a file; null for another value. */
export function textOf(file: unknown): string | null {
  return typeof file === "function" ? (TEXTS.get(file) ?? null) : null;
}

/** A file of the program as one that keeps its text; other values as they are. */
export function keptText(value: unknown): unknown {
  if (typeof value === "function") return textFile(value as Take);
  if (typeof value !== "object" || value === null || !("write" in value) || typeof value.write !== "function")
    return value;
  const file = value as { write: Take };
  return textFile((text) => file.write(text));
}
