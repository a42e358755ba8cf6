/** The service worker of the built playground. It knows all other files, so it is built last. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { build } from "esbuild";

/**
 * @param entry the source of the service worker
 * @param folder the built page; sw.js is written there
 */
export async function buildServiceWorker(entry, folder, tsconfig) {
  const files = readdirSync(folder, { recursive: true })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => path.split(sep).join("/"))
    .sort();
  const hash = createHash("sha256");
  for (const path of files)
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(folder, path)))
      .update("\0");
  await build({
    entryPoints: { sw: entry },
    outdir: folder,
    bundle: true,
    minify: true,
    // Firefox runs no modules as service workers.
    format: "iife",
    target: "es2022",
    logLevel: "warning",
    tsconfig,
    define: {
      FILES: JSON.stringify(files.filter((path) => path !== "index.html")),
      VERSION: JSON.stringify(hash.digest("hex").slice(0, 16)),
    },
  });
}
