/** Hostile links and captures: no script runs, no request leaves, nothing freezes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { encodeLink, RULES_LIMIT, type Shared } from "../../../playground/src/state/link.js";
import { BUILT, openPlayground, type OpenPage, type Playground } from "../support/page.js";
import { expectRules, rulesTo, typeRules } from "./support/rules.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

/** What a stranger writes where a name is expected. */
const EVIL =
  '<img src=x onerror="globalThis.evil=1"><script>globalThis.evil=1</script>\'"`${globalThis.evil=1}\u202eevil\u2066\u0007</bdi>';

const SHARED: Shared = {
  rules: rulesTo("q"),
  name: "shared",
  source: null,
  frame: 1,
  step: 0,
  path: null,
  field: null,
  filter: {},
  capture: null,
  left: null,
};

async function openLink(changes: Partial<Shared>): Promise<OpenPage> {
  return playground.open({ path: await encodeLink({ ...SHARED, ...changes }) });
}

/** The page still answers to what is typed, and no script of the stranger ran. */
async function stillWorks({ page, faults }: OpenPage, frames = true): Promise<void> {
  expect(await page.evaluate(() => "evil" in globalThis)).toBe(false);
  await typeRules(page, rulesTo("alive"));
  await expectRules(page, "alive");
  if (frames) await page.getByRole("row", { name: /qp:alive/ }).waitFor();
  expect(await page.evaluate(() => "evil" in globalThis)).toBe(false);
  expect(faults).toEqual([]);
}

/** The longest time, in milliseconds, in which the page did nothing else. */
function watchPauses(page: Page): Promise<void> {
  return page.evaluate(() => {
    const watched = globalThis as unknown as { longest: number };
    watched.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) watched.longest = Math.max(watched.longest, duration);
    }).observe({ type: "longtask", buffered: true });
  });
}

describe("a hostile link", () => {
  it("with scripts, bidi and control characters in every text", async () => {
    const document = {
      flowsteer: 1,
      title: EVIL,
      description: EVIL,
      queues: [{ name: EVIL }],
      tables: [{ name: EVIL, level: 0 }],
      rules: [{ name: EVIL, table: EVIL, actions: [{ queue: EVIL }] }],
      frames: [{ name: EVIL, headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }] }],
    };
    const opened = await openLink({
      rules: JSON.stringify(document, null, 2),
      name: EVIL,
      path: EVIL,
      field: EVIL,
      left: { name: EVIL, size: 5 },
    });
    const { page, context } = opened;
    await page
      .getByRole("row", { name: /deliver/ })
      .first()
      .click();
    await page.getByText(/is not in the link/).waitFor();
    // All of it is text: there is no element of the stranger's.
    expect(await page.locator("img, body script, #app script").count()).toBe(0);
    // Where one line of the page has a name, nothing after it is turned around.
    const notices = (await page.locator(".notices").textContent()) ?? "";
    expect(notices).toContain("<img src=x");
    expect(notices).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    await stillWorks(opened);
    await context.close();
  });

  it("with rules that nest a million deep", { timeout: 400_000 }, async () => {
    const opened = await openLink({ rules: "[".repeat(1_000_000) });
    // Seconds alone, and more than a minute beside other browsers.
    await opened.page.getByText(/error/).first().waitFor({ timeout: 180_000 });
    await stillWorks(opened);
    await opened.context.close();
  });

  it("with 10 MB of rules is refused, and with as many as a link may have the page works", async () => {
    const long = (length: number): string => {
      const start = rulesTo("q").replace('"flowsteer":1', '"flowsteer":1,"description":"');
      return start.replace('"description":"', `"description":"${"x".repeat(length - start.length - 1)}"`);
    };
    const refused = await openLink({ rules: long(10_000_000) });
    await refused.page.getByText(/The link unpacks to more than|"rules" is too long/).waitFor();
    await expectRules(refused.page, "why-vxlan");
    await refused.context.close();
    const opened = await openLink({ rules: long(RULES_LIMIT) });
    await watchPauses(opened.page);
    await stillWorks(opened);
    const longest = await opened.page.evaluate(() => (globalThis as unknown as { longest: number }).longest);
    console.log(`1 MB of rules in a line: the page paused for ${Math.round(longest)} ms at most`);
    await opened.context.close();
  });

  it("with a capture of garbage", async () => {
    for (const [name, bytes] of [
      ["noise.pcap", Uint8Array.from({ length: 20_000 }, (_, i) => (i * 7919) & 255)],
      // A header of pcap, and a record that says it is 4 GB long.
      [
        "long.pcap",
        Uint8Array.of(
          0xd4,
          0xc3,
          0xb2,
          0xa1,
          2,
          0,
          4,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          255,
          255,
          255,
          255,
          1,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          255,
          255,
          255,
          255,
          255,
          255,
          255,
          255,
        ),
      ],
      ["empty.pcap", new Uint8Array()],
    ] as const) {
      const opened = await openLink({ capture: { name, bytes } });
      await expectRules(opened.page, '"q"');
      // A capture that ends in its first record has no frames.
      await stillWorks(opened, name !== "long.pcap");
      await opened.context.close();
    }
  });

  it("with numbers beyond what there is", async () => {
    const opened = await openLink({ frame: Number.MAX_SAFE_INTEGER, step: Number.MAX_SAFE_INTEGER, path: "rules[99]" });
    await expectRules(opened.page, '"q"');
    await stillWorks(opened);
    await opened.context.close();
  });
});

describe("the content security policy", () => {
  it("is in every page, and allows WebAssembly as its only exception", () => {
    for (const name of ["index.html"]) {
      const html = readFileSync(join(BUILT, name), "utf8");
      const [, policy = ""] = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(html) ?? [];
      expect(policy).toContain("default-src 'none'");
      expect(policy.match(/'unsafe-[\w-]+'|'wasm-unsafe-eval'|\*|https?:|data:|blob:/g)).toEqual([
        "'wasm-unsafe-eval'",
      ]);
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
    }
  });

  it("stops inline scripts, styles, eval and requests to elsewhere", async () => {
    const { page, context } = await playground.open();
    await expectRules(page, "flowsteer");
    // The browser does not apply the policy to code of a debugger, but to what that leaves in the page.
    await page.evaluate(() => {
      const add = (name: string, text: string): void => {
        const element = document.createElement(name);
        element.textContent = text;
        document.body.append(element);
      };
      add("script", "document.body.dataset.script = 'ran'");
      add("style", "body { outline: 7px solid red }");
      document.body.insertAdjacentHTML(
        "beforeend",
        `<button id="evil" style="color: red" onclick="document.body.dataset.handler = 1">x</button>`,
      );
      document.getElementById("evil")?.click();
    });
    const ran = await page.evaluate(
      () =>
        new Promise((resolve) => {
          setTimeout(() => {
            void (async () => {
              const works = (work: () => unknown): boolean => {
                try {
                  work();
                  return true;
                } catch {
                  return false;
                }
              };
              const { script, handler } = document.body.dataset;
              resolve({
                script: script !== undefined,
                handler: handler !== undefined,
                style: getComputedStyle(document.body).outlineWidth === "7px",
                attribute: document.getElementById("evil")?.style.color === "red",
                evaluated: works(() => (0, eval)("1")),
                fetched: await fetch("https://example.com/").then(
                  () => true,
                  () => false,
                ),
                image: await new Promise((loaded) => {
                  const image = new Image();
                  image.onload = () => loaded(true);
                  image.onerror = () => loaded(false);
                  image.src = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>";
                }),
              });
            })();
          });
        }),
    );
    expect(ran).toEqual({
      script: false,
      handler: false,
      style: false,
      attribute: false,
      evaluated: false,
      fetched: false,
      image: false,
    });
    await context.close();
  });

  it("no request leaves the origin while everything is used", async () => {
    const opened = await playground.open();
    const { page, context } = opened;
    const asked: string[] = [];
    context.on("request", (request) => asked.push(request.url()));
    await page.reload();
    await page
      .getByRole("row", { name: /no_rule/ })
      .first()
      .click();
    for (const button of ["Share", "Export"]) {
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
    }
    await stillWorks(opened);
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((url) => !url.startsWith(playground.url))).toEqual([]);
    await context.close();
  });
});
