/** The pages tell the truth: programs compile and print what is shown, scenarios load, links lead somewhere. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { pages, programs } from "../scripts/pages.mjs";
import { diagnosticsOf } from "./support/programs.js";
import { DEEP } from "./support/tier.js";
import { parseScenario } from "../src/scenario/index.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (page: string): string => readFileSync(join(root, page), "utf8");
const samples = pages().flatMap((page) => programs(read(page)).map((program) => ({ page, ...program })));

test("README.md has at most 200 lines", () => {
  expect(read("README.md").split("\n").length).toBeLessThanOrEqual(201);
});

test.runIf(DEEP)("programs compile in strict mode", { timeout: 120_000 }, () => {
  expect(samples.length).toBeGreaterThan(5);
  expect(diagnosticsOf(samples)).toEqual([]);
});

test.runIf(DEEP)("programs and commands print what their page shows", { timeout: 120_000 }, () => {
  const hidden = samples.filter(({ shown, browser }) => shown === browser);
  expect(hidden.map(({ page, line }) => `${page}:${line} shows no output`)).toEqual([]);
  execFileSync(process.execPath, ["scripts/samples.mjs", "--check"], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe"],
  });
});

test("scenarios of pages load", () => {
  const blocks = pages().flatMap((page) => [...read(page).matchAll(/```json\n(\{\n[\s\S]*?\n\})\n```/g)]);
  const scenarios = blocks.map(([, text]) => text ?? "").filter((text) => text.includes('"flowsteer": 1'));
  expect(scenarios.length).toBeGreaterThan(0);
  for (const text of scenarios) parseScenario(text);
});

test("links lead to files and titles that are there", () => {
  const others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"];
  const broken = [...pages(), ...others].flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`));
  expect(broken).toEqual([]);
});

test("sections of pages that sources cite are there", () => {
  const sources = ["src", "assembly", "test", "bench"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const wrong = sources
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => {
      const cited = [...read(name).matchAll(/(docs\/[\w-]+\.md),? \(?"([A-Z][^"\n]*)"/g)];
      return cited
        .filter(([, page = "", title = ""]) => !titlesOf(page).has(slug(title)))
        .map(([text]) => `${name}: ${text}`);
    });
  expect(wrong).toEqual([]);
});

/** Links of a page to files or titles that do not exist. */
function brokenLinks(page: string): string[] {
  const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? "");
  return links.filter((link) => {
    if (/^\w+:/.test(link)) return false;
    const [path = "", title] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return title !== undefined && !titlesOf(target).has(title);
  });
}

/** The titles of a page as GitHub names them in links. */
function titlesOf(page: string): Set<string> {
  return new Set([...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) => slug(title ?? "")));
}

function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
