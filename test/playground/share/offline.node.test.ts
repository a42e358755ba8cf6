/** The page without a network, below any path of a site, and its new versions. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Page } from "playwright-core";
import { servePage, type PageServer } from "../../../src/cli/serve/pageServer.js";
import { PAGE_PATIENCE } from "../../support/browser.js";
import { BUILT, openPlayground, USE, type Playground } from "../support/page.js";
import { expectRules, rulesTo, typeRules } from "./support/rules.js";

const SW: { serviceWorkers: "allow" } = { serviceWorkers: "allow" };

let playground: Playground;
let folder: string;
let site: PageServer;
/** The page at a path of the site. */
let address: string;
beforeAll(async () => {
  playground = await openPlayground();
  folder = mkdtempSync(join(tmpdir(), "flowsteer-site-"));
  cpSync(BUILT, join(folder, "tools/steering"), { recursive: true });
  site = await servePage(folder, new Map(), 0);
  address = `${site.url}tools/steering/index.html`;
});
afterAll(async () => {
  await playground.close();
  await site.close();
  rmSync(folder, { recursive: true });
});

/** Waits until the page can do without its server. */
async function cached(page: Page): Promise<void> {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
}

const caches = (page: Page): Promise<string[]> => page.evaluate(() => globalThis.caches.keys());

it("works without its server after the first visit", async () => {
  const { page, context, faults } = await playground.open({ context: SW });
  await cached(page);
  await context.setOffline(true);
  await page.reload();
  await expectRules(page, "flowsteer");
  // What the first visit did not load is there too: every example, and all code that is loaded on demand.
  const wanted = readFileSync(join(BUILT, "sw.js"), "utf8").match(/"[\w./-]+\.(js|json|pcap|wasm|txt)"/g) ?? [];
  expect(wanted.length).toBeGreaterThan(20);
  const missing = await page.evaluate(
    async (files) => {
      const answers = await Promise.all(files.map(async (file) => [file, (await fetch(`./${file}`)).ok] as const));
      return answers.filter(([, ok]) => !ok);
    },
    wanted.map((text) => JSON.parse(text) as string),
  );
  expect(missing).toEqual([]);
  await typeRules(page, rulesTo("offline"));
  await expectRules(page, "offline");
  // Files of the command are never cached.
  expect(await page.evaluate(async () => (await fetch("./opened/index.json").catch(() => null))?.status ?? null)).toBe(
    null,
  );
  expect(faults.filter((one) => !one.includes("ERR_INTERNET_DISCONNECTED"))).toEqual([]);
  await context.close();
});

it("is sent no file twice on the first visit, though the cache asks for all of them", async () => {
  const sent: string[] = [];
  const { port: to } = new URL(playground.url);
  const counting = createServer((asked, answer) => {
    const { url, headers } = asked;
    const on = request({ port: to, path: url, headers: { ...headers, host: `127.0.0.1:${to}` } }, (from) => {
      if (from.statusCode === 200) sent.push(url ?? "");
      answer.writeHead(from.statusCode ?? 500, from.headers);
      from.pipe(answer);
    });
    on.end();
  });
  await new Promise<void>((resolve) => counting.listen(0, "127.0.0.1", resolve));
  const context = await playground.browser.newContext(SW);
  await context.addInitScript({ content: USE });
  try {
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(counting.address() as AddressInfo).port}/`);
    await expectRules(page, "flowsteer");
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null, null, { timeout: PAGE_PATIENCE });
    expect(sent).toContain("/core.wasm");
    expect(sent.filter((path, at) => sent.indexOf(path) < at && path !== "/")).toEqual([]);
  } finally {
    await context.close();
    counting.closeAllConnections();
    counting.close();
  }
});

it("offers a new version, keeps what was edited, and removes the old files", async () => {
  const context = await playground.browser.newContext(SW);
  context.setDefaultTimeout(PAGE_PATIENCE);
  await context.addInitScript(USE);
  const page = await context.newPage();
  await page.goto(address);
  await cached(page);
  await page.goto(address);
  await expectRules(page, "flowsteer");
  const [old] = await caches(page);
  expect(old).toContain(`${site.url}tools/steering/ `);
  await typeRules(page, rulesTo("mine"));
  // The next version: another page, and so another hash.
  const built = join(folder, "tools/steering");
  const edit = (name: string, change: (text: string) => string): void =>
    writeFileSync(join(built, name), change(readFileSync(join(built, name), "utf8")));
  edit("index.html", (text) => text.replace("<title>", "<title>New "));
  edit("sw.js", (text) => text.replace(old?.split(" ").at(-1) ?? "?", "0123456789abcdef"));
  await page.reload();
  await page.getByText("A new version is ready. What you edited is kept.").waitFor();
  expect(await page.title()).not.toContain("New");
  await page.getByRole("button", { name: "Reload" }).click();
  await vi.waitFor(async () => expect(await page.title()).toContain("New"), { timeout: PAGE_PATIENCE, interval: 50 });
  await expectRules(page, "mine");
  await vi.waitFor(
    async () => expect(await caches(page)).toEqual([`flowsteer ${site.url}tools/steering/ 0123456789abcdef`]),
    { timeout: PAGE_PATIENCE, interval: 50 },
  );
  await context.close();
});
