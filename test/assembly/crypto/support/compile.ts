/** Cores made of changed sources, or with other entries, for tests alone. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withoutTraced } from "../../../../scripts/untraced.mjs";
import { ROOT } from "../../../support/root.js";

/** As asconfig.json makes the release flavour. */
const RELEASE = ["--runtime", "stub", "--enable", "simd", "-O3", "--converge", "--noAssert", "--use", "abort="];

/** Sources by path from the root, in place of the files or beside them. */
export type Sources = Record<string, string>;

/** The module of an entry, a path from the root. */
export async function compile(entry: string, sources: Sources = {}): Promise<Uint8Array<ArrayBuffer>> {
  const { default: asc } = await import("assemblyscript/asc");
  let module: Uint8Array | undefined;
  let said = "";
  const { error } = await asc.main(
    [entry, "--config", "none", "--baseDir", ROOT, "--outFile", "out.wasm", ...RELEASE],
    {
      stderr: { write: (text: string | Uint8Array) => void (said += String(text)) },
      readFile: (name: string, base: string) => {
        const changed = sources[name];
        return changed === undefined ? read(join(base, name)) : withoutTraced(changed);
      },
      writeFile: (_name: string, bytes: string | Uint8Array) => void (module = bytes as Uint8Array),
      listFiles: () => [],
    },
  );
  if (error !== null || module === undefined) throw new Error(`${entry} was not compiled: ${said}`);
  return new Uint8Array(module);
}

function read(path: string): string | null {
  try {
    return withoutTraced(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
