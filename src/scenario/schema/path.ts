/** Paths in documents. */

/** The path of a key below another; the same in every refusal about a document. */
export function below(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!/^[\w$.-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}
