import { readFileSync } from "node:fs";
import { parseJson } from "../base/json.js";

/** The version of the package that contains this file. */
export function version(): string {
  // dist/*.js or src/cli/version.ts
  const file = new URL(import.meta.bundled ? "../package.json" : "../../package.json", import.meta.url);
  return (parseJson(readFileSync(file, "utf8")) as { version: string }).version;
}
