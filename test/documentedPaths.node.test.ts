/** The guides name files: each of them exists. `*` and `<name>` stand for a part of a path. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["src", "assembly", "test", "scripts", "docs", "bench", "playground", "native"];

/** Every file and folder, one a line, each after a slash. */
const ALL = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  ),
]
  .map((path) => `/${path.replaceAll("\\", "/")}\n`)
  .join("");

const GUIDES = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"],
  ...readdirSync(join(ROOT, "docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
];

/** A path from the root, or the end of the path of a source file: `base/clock.ts`. */
const PATH = new RegExp(`\`((?:${FOLDERS.join("|")})/[\\w./*<>-]+|[\\w./*<>-]+\\.(?:tsx?|mjs))\``, "g");

test.each(GUIDES)("%s names files that exist", (guide) => {
  const named = [...readFileSync(join(ROOT, guide), "utf8").matchAll(PATH)].map(([, path = ""]) => path);
  expect([...new Set(named)].filter((path) => !exists(path))).toEqual([]);
});

function exists(path: string): boolean {
  const form = path
    .replace(/(?:\/\.\.\.|\/)$/, "")
    .replace(/[.\\-]/g, "\\$&")
    .replace(/\*+|<\w+>/g, (part) => (part === "**" ? ".*" : "[^/\\n]+"));
  return new RegExp(`/${form}\n`).test(ALL);
}
