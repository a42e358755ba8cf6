/** The site: every link of its pages leads to a file and an anchor, and the example of the front page works. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { servePage, type PageServer } from "../src/cli/serve/pageServer.js";
import { launchBrowser, PAGE_LIMITS } from "./support/browser.js";

vi.setConfig(PAGE_LIMITS);
const root = fileURLToPath(new URL("..", import.meta.url));
let folder: string;
let server: PageServer;
let browser: Browser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "flowsteer-site-"));
  // The API reference takes half a minute; `npm run lint` makes it too.
  execFileSync(process.execPath, ["scripts/site.mjs", folder, "--no-api"], { cwd: root, stdio: "inherit" });
  server = await servePage(folder, new Map(), 0);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

test("every link leads somewhere", () => {
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));
  expect(pages.length).toBeGreaterThan(25);
  const anchors = new Map(
    pages.map((page) => [
      page,
      new Set([...readFileSync(join(folder, page), "utf8").matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)),
    ]),
  );
  const dead: string[] = [];
  for (const page of pages) {
    for (const [, href = ""] of readFileSync(join(folder, page), "utf8").matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:/i.test(href)) continue;
      const [path = "", anchor] = href.split("#");
      const target = path === "" ? page : posix.join(posix.dirname(page), path);
      if (target.startsWith("api/")) continue;
      const there = existsSync(join(folder, target)) && statSync(join(folder, target)).isFile();
      if (!there || (anchor !== undefined && anchors.get(target)?.has(anchor) === false)) dead.push(`${page}: ${href}`);
    }
  }
  expect(dead).toEqual([]);
});

test("the example of the front page answers as one types", async () => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  await page.goto(server.url);
  const verdict = page.getByRole("status");
  await verdict.filter({ hasText: "Not delivered: miss" }).waitFor();
  expect(await page.getByLabel("Explanation").textContent()).toContain("8472");
  await page
    .getByRole("textbox", { name: "Packet" })
    .fill("eth / ipv4 dst 203.0.113.7 / udp dport 4789 / vxlan vni 5001");
  await verdict.filter({ hasText: "Delivered to queue blue" }).waitFor();
  await page.getByRole("textbox", { name: "Packet" }).fill("eth / ipv9");
  await verdict.filter({ hasText: "Not a packet yet" }).waitFor();
  await page.goto(`${server.url}docs/why.html`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});
