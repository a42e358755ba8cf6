/** The folder of the repository: from a source, and from a bundle of sources in build/. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(folder: string): string {
  return existsSync(join(folder, "asconfig.json")) ? folder : rootAbove(dirname(folder));
}
