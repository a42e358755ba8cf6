/** The built playground in a real browser, driven as a person does. */
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { servePage, type PageServer, type ServedFile } from "../../../src/cli/serve/pageServer.js";
import { launchBrowser, PAGE_LIMITS, PAGE_PATIENCE } from "../../support/browser.js";

vi.setConfig(PAGE_LIMITS);

export const BUILT = fileURLToPath(new URL("../../../dist/playground", import.meta.url));

export interface Playground {
  readonly url: string;
  readonly browser: Browser;
  /** A page in a profile of its own. Errors of the page and requests that leave it fail the test at `close`. */
  open(options?: OpenOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** What follows the address: `#...`, `?...`. */
  readonly path?: string;
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly context?: Parameters<Browser["newContext"]>[0];
  /** A script that runs in every document before those of the page; the content security policy does not apply to it. */
  readonly script?: string;
  /** Nobody touches the page. */
  readonly still?: boolean;
}

/** The editor of the rules. The picture that is shown until it is loaded takes no keys. */
export const rulesEditor = (page: Page): Locator =>
  page.getByRole("textbox", { name: "Rules", exact: true }).and(page.locator(".cm-content"));

/** A hand on the mouse, as soon as a page is there: the editor comes with the first sign of use. */
export const USE = `addEventListener("load", () => setTimeout(() => dispatchEvent(new PointerEvent("pointermove", { movementX: 1 }))));`;

/** Milliseconds that the engine is late with each answer, so that races show: `FLOWSTEER_LATE=400`. */
const LATE = Number(process.env["FLOWSTEER_LATE"] ?? 0);

/** Messages reach a worker late, in their order. */
const LATE_ENGINE = `{
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (...message) {
    setTimeout(() => postMessage.apply(this, message), ${LATE});
  };
}`;

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the page, messages of the console at level "error", and requests that left its origin. */
  readonly faults: string[];
}

export async function openPlayground(extra: ReadonlyMap<string, ServedFile> = new Map()): Promise<Playground> {
  const server: PageServer = await servePage(BUILT, extra, 0);
  const browser = await launchBrowser();
  return {
    url: server.url,
    browser,
    async open({ path = "", width = 1440, height = 900, dark = false, context: more, script, still } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? "dark" : "light",
        // It caches all files: only tests of that need it.
        serviceWorkers: "block",
        ...more,
      });
      context.setDefaultTimeout(PAGE_PATIENCE);
      if (still !== true) await context.addInitScript({ content: USE });
      if (LATE > 0) await context.addInitScript({ content: LATE_ENGINE });
      const page = await context.newPage();
      if (script !== undefined) await page.addInitScript({ content: script });
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") faults.push(message.text());
      });
      context.on("request", (request) => {
        if (!request.url().startsWith(server.url) && !/^(blob|data):/.test(request.url())) faults.push(request.url());
      });
      await page.goto(server.url + path);
      return { page, context, faults };
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
