/** What was edited survives a reload, and links do not take its place unasked. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Page } from "playwright-core";
import { encodeLink, type Shared } from "../../../playground/src/state/link.js";
import { PAGE_PATIENCE } from "../../support/browser.js";
import { openPlayground, type Playground } from "../support/page.js";
import { editor, expectRules, rulesTo, typeRules } from "./support/rules.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

const linkTo = (queue: string, more: Partial<Shared> = {}): Promise<string> =>
  encodeLink({
    rules: rulesTo(queue),
    source: null,
    name: `to ${queue}`,
    frame: 1,
    step: 1,
    path: null,
    field: null,
    filter: {},
    capture: null,
    left: null,
    ...more,
  });

/** Waits until rules with this text are kept. */
async function kept(page: Page, part: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const all = await page.evaluate(
        () =>
          new Promise<string>((resolve, reject) => {
            const opening = indexedDB.open("flowsteer-playground");
            opening.onerror = () => reject(new Error("no database"));
            opening.onsuccess = () => {
              const names = opening.result.objectStoreNames;
              if (!names.contains("work")) {
                resolve("");
                return;
              }
              const request = opening.result.transaction("work").objectStore("work").getAll();
              request.onsuccess = () => {
                opening.result.close();
                resolve(JSON.stringify(request.result));
              };
            };
          }),
      );
      expect(all).toContain(part);
    },
    { timeout: PAGE_PATIENCE, interval: 50 },
  );
}

describe("a reload", () => {
  it("shows what was edited", async () => {
    const { page, context, faults } = await playground.open();
    await expectRules(page, "flowsteer");
    await typeRules(page, rulesTo("apples"));
    await kept(page, "apples");
    await page.reload();
    await expectRules(page, "apples");
    expect(faults).toEqual([]);
    await context.close();
  });

  it("with an error in the text shows the last good answer, and says so", async () => {
    const { page, context, faults } = await playground.open();
    await expectRules(page, "flowsteer");
    await typeRules(page, rulesTo("apples"));
    await page.getByRole("grid", { name: "Frames" }).getByText("qp:apples").waitFor();
    await typeRules(page, rulesTo("apples").replace('"table":"root"', '"table":"rood"'));
    await page.locator(".strip").getByText("From the last rules without errors").waitFor();
    await kept(page, "rood");
    await page.reload();
    await expectRules(page, "rood");
    await page.locator(".strip").getByText("From the last rules without errors").waitFor();
    await page.getByRole("grid", { name: "Frames" }).getByText("qp:apples").waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it("of each of two tabs shows its own work; a new tab begins with the newest", async () => {
    const { page, context } = await playground.open();
    await expectRules(page, "flowsteer");
    await typeRules(page, rulesTo("apples"));
    await kept(page, "apples");
    const second = await context.newPage();
    await second.goto(playground.url);
    await expectRules(second, "apples");
    await typeRules(second, rulesTo("pears"));
    await kept(second, "pears");
    await page.reload();
    await expectRules(page, "apples");
    await second.reload();
    await expectRules(second, "pears");
    // The browser copies the id of a tab that is duplicated.
    const copy = await context.newPage();
    const id = await second.evaluate(() => sessionStorage.getItem("flowsteer.tab") ?? "");
    await copy.addInitScript((text) => sessionStorage.setItem("flowsteer.tab", text), id);
    await copy.goto(playground.url);
    await expectRules(copy, "pears");
    await typeRules(copy, rulesTo("plums"));
    await kept(copy, "plums");
    await second.reload();
    await expectRules(second, "pears");
    await context.close();
  });

  it("works where nothing can be kept, and says so once", async () => {
    const { page, context, faults } = await playground.open();
    await expectRules(page, "flowsteer");
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, "indexedDB", {
        get: () => ({
          open: () => {
            throw new DOMException("no", "SecurityError");
          },
        }),
      });
    });
    await page.reload();
    await expectRules(page, "flowsteer");
    await page.getByText("This browser keeps nothing for this page").waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await typeRules(page, rulesTo("apples"));
    await expectRules(page, "apples");
    // The selection is kept too; the failure of that is not told again.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    expect(await page.getByText("keeps nothing").count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe("files of the command", () => {
  const files = (text: string) =>
    new Map<string, Buffer>([
      ["opened/index.json", Buffer.from(JSON.stringify({ rules: "mine.json", capture: null, reading: null }))],
      ["opened/rules.json", Buffer.from(text)],
    ]);

  it("that were edited are shown so after a reload, and can be opened as they are", async () => {
    const served = files(rulesTo("apples"));
    const own = await openPlayground(served);
    const { page, context, faults } = await own.open({ path: "?opened" });
    await expectRules(page, "apples");
    await typeRules(page, rulesTo("pears"));
    await kept(page, "pears");
    await page.reload();
    await expectRules(page, "pears");
    await page.getByText('Your edits of "mine.json" are shown.').waitFor();
    await page.getByRole("button", { name: "Open the file as it is" }).click();
    await expectRules(page, "apples");
    // The file has changed since.
    served.set("opened/rules.json", Buffer.from(rulesTo("plums")));
    await page.reload();
    await expectRules(page, "plums");
    await page.getByRole("button", { name: "Go back to them" }).click();
    await expectRules(page, "pears");
    expect(faults).toEqual([]);
    await context.close();
    await own.close();
  });
});

describe("a shared link", () => {
  it("shows its rules, keeps the person's own, and offers them", async () => {
    const { page, context, faults } = await playground.open();
    await expectRules(page, "flowsteer");
    await typeRules(page, rulesTo("mine"));
    await kept(page, "mine");
    await page.goto("about:blank");
    await page.goto(playground.url + (await linkTo("theirs")));
    await expectRules(page, "theirs");
    await page.getByText("You opened a shared link. Your own rules are kept.").waitFor();
    // It is not kept until it is edited.
    await page.reload();
    await expectRules(page, "theirs");
    await page.getByRole("button", { name: "Go back to them" }).click();
    await expectRules(page, "mine");
    expect(page.url()).toBe(playground.url);
    await page.reload();
    await expectRules(page, "mine");
    expect(faults).toEqual([]);
    await context.close();
  });

  it("is kept once it is edited, beside the person's own rules", async () => {
    const { page, context } = await playground.open();
    await expectRules(page, "flowsteer");
    await typeRules(page, rulesTo("mine"));
    await kept(page, "mine");
    await page.goto("about:blank");
    await page.goto(playground.url + (await linkTo("theirs")));
    await expectRules(page, "theirs");
    await typeRules(page, rulesTo("ours"));
    await kept(page, "ours");
    expect(page.url()).toBe(playground.url);
    await kept(page, "mine");
    await page.getByRole("button", { name: "Go back to them" }).click();
    await expectRules(page, "mine");
    await context.close();
  });

  it("that comes while the page is open asks first", async () => {
    const { page, context } = await playground.open();
    await expectRules(page, "flowsteer");
    await typeRules(page, rulesTo("mine"));
    const link = await linkTo("theirs");
    await page.evaluate((fragment) => (location.hash = fragment), link);
    await page.getByText('The address has shared rules, "to theirs".').waitFor();
    await expectRules(page, "mine");
    await page.getByRole("button", { name: "Open shared rules" }).click();
    await expectRules(page, "theirs");
    await page.getByRole("button", { name: "Go back to them" }).click();
    await expectRules(page, "mine");
    await context.close();
  });

  it("says what it left out, and what is wrong with it", async () => {
    const { page, context, faults } = await playground.open({
      path: await linkTo("theirs", { left: { name: "big.pcap", size: 1_234_567 } }),
    });
    await page.getByText('The capture "big.pcap" (1.2 MB) of "to theirs" is not in the link.').waitFor();
    await page.goto("about:blank");
    await page.goto(playground.url + (await linkTo("theirs")).slice(0, -9));
    await page.getByText(/The link was truncated/).waitFor();
    await expectRules(page, "flowsteer");
    await editor(page).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});
