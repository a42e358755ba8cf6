/** The package as a user has it: in the node_modules of a folder. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./root.js";

/** Makes a folder of ES modules that has the built package installed. The caller removes it. */
export function installedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-installed-"));
  const home = join(folder, "node_modules", "flowsteer");
  mkdirSync(join(home, "dist"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
  for (const name of readdirSync(join(ROOT, "dist"))) {
    if (/\.(js|wasm)$/.test(name)) cpSync(join(ROOT, "dist", name), join(home, "dist", name));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}
