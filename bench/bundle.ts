/**
 * Bundles a measuring program as the library is bundled, and runs it. Loaders that compile at run
 * time wrap every function to keep its name, which costs a call more than some measured functions.
 */
import { build } from "esbuild";
import { fileURLToPath, pathToFileURL } from "node:url";

/** `source` is in bench/; the bundle is in build/bench/. */
export async function runBundled(source: string, bundle: string): Promise<void> {
  const outfile = fileURLToPath(new URL(`../build/bench/${bundle}`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(new URL(source, import.meta.url))],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    packages: "external",
    logLevel: "warning",
  });
  await import(pathToFileURL(outfile).href);
}
