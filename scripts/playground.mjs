#!/usr/bin/env node
/**
 * Builds the playground: static files in dist/playground/.
 *
 *   node scripts/playground.mjs    after scripts/build.mjs has made the cores
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(root, "playground");

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** How the code of pages is bundled. */
export const PAGE_OPTIONS = {
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  target: "es2022",
  platform: "browser",
  logLevel: "warning",
  tsconfig: join(SOURCE, "tsconfig.json"),
  define: { "import.meta.bundled": "true" },
  legalComments: "none",
};

/** @param folder where the files go */
export async function buildPlayground(folder = join(root, "dist/playground")) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: {
      page: join(SOURCE, "src/main.tsx"),
      engine: join(SOURCE, "src/engine/worker.ts"),
    },
    outdir: folder,
    chunkNames: "chunk-[hash]",
    ...PAGE_OPTIONS,
  });
  await build({
    ...PAGE_OPTIONS,
    entryPoints: {
      speed: join(SOURCE, "src/speed/main.tsx"),
      "speed-worker": join(SOURCE, "src/speed/worker.ts"),
    },
    outdir: folder,
    chunkNames: "speed-[hash]",
    define: { ...PAGE_OPTIONS.define, FLOWSTEER_VERSION: JSON.stringify(version) },
  });
  await build({
    entryPoints: { page: join(SOURCE, "styles/page.css"), speed: join(SOURCE, "styles/speed.css") },
    outdir: folder,
    bundle: true,
    minify: true,
    logLevel: "warning",
  });
  for (const name of ["index.html", "speed.html", "icon.svg"]) cpSync(join(SOURCE, name), join(folder, name));
  cpSync(join(root, "build/release/core.wasm"), join(folder, "core.wasm"));
  cpSync(join(root, "build/traced/core.wasm"), join(folder, "traced.wasm"));
  mkdirSync(join(folder, "examples"));
  for (const name of readdirSync(join(root, "examples"))) {
    if (/\.(json|pcap|pcapng)$/.test(name)) cpSync(join(root, "examples", name), join(folder, "examples", name));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPlayground();
