/**
 * Bundles the measurements as the library itself is bundled, and runs them. Loaders that compile while running wrap
 * every function to keep its name, which costs a call more than some of what is measured here.
 */
import { build } from "esbuild";
import { fileURLToPath, pathToFileURL } from "node:url";

const outfile = fileURLToPath(new URL("../build/bench/main.mjs", import.meta.url));

await build({
  entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2022",
  packages: "external",
  logLevel: "warning",
});
await import(pathToFileURL(outfile).href);
