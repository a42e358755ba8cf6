/** Tasks as a person does them, with their times in the log. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addPacket } from "./frames/support.js";
import { openPlayground, type Playground, rulesEditor } from "./support/page.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

const CAPTURE = readFileSync(new URL("../../examples/everyday.pcap", import.meta.url)).toString("base64");

/** Rules as they are typed: the editor closes braces and quotes. */
const RULES = `{
"flowsteer": 1,
"queues": [{ "name": "dns" }],
"tables": [{ "name": "root", "level": 0 }],
"rules": [{ "name": "dns", "table": "root", "match": { "outer.udp_dport": 5353 }, "actions": [{ "queue": "dns" }] }]
}`;

test("from nothing to why a packet missed: rules typed, a capture dropped", async () => {
  const { page, faults, context } = await playground.open();
  const began = performance.now();
  await answered(page);
  await typeRules(page, RULES);
  await page.getByText("No frames").first().waitFor();
  await dropCapture(page, "everyday.pcap");
  await page.getByRole("button", { name: /^miss/ }).click();
  const rows = page.getByRole("grid").getByRole("row");
  const dns = rows.filter({ hasText: /[:.]53\b|DNS/i }).first();
  await dns.click();
  await page.getByRole("heading", { name: /^Path of frame \d+/ }).waitFor();
  await page
    .getByText(/nearest: rule "dns" does not match/)
    .first()
    .waitFor();
  tell("from nothing to why a packet missed", began);
  expect(faults).toEqual([]);
  await context.close();
});

test("share a link, and open it in another profile", async () => {
  const { page, context, faults } = await playground.open({
    context: { permissions: ["clipboard-read", "clipboard-write"] },
  });
  await answered(page);
  await typeRules(page, RULES.replace("5353", "5354"));
  const began = performance.now();
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const link = await page.getByRole("dialog").getByRole("textbox").inputValue();
  const other = await playground.open({ path: link.slice(playground.url.length) });
  await other.page.locator(".rules-editor").getByText("5354").first().waitFor();
  tell("share and open again", began);
  expect([...faults, ...other.faults]).toEqual([]);
  await context.close();
  await other.context.close();
});

/** Rules of testpmd as somebody has them, comment and all; the frames arrive on another port than the rule names. */
const TESTPMD = `# tenants
flow create 0 ingress pattern eth / ipv4 dst is 192.0.2.10 / tcp dst is 443 / end actions queue index 3 / end
flow create 0 ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 1 / end`;

test("testpmd rules are pasted, mended in their own words, undone, shared, and opened elsewhere as the same text", async () => {
  const { page, context, faults } = await playground.open();
  const began = performance.now();
  await answered(page);
  await rulesEditor(page).evaluate((element, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    element.dispatchEvent(
      new ClipboardEvent("paste", { bubbles: true, cancelable: true, composed: true, clipboardData }),
    );
  }, TESTPMD);
  await page.getByRole("tab", { name: "Rules (testpmd)" }).waitFor();
  await addPacket(page, "ipv4 198.51.100.9 > 192.0.2.10 / tcp > 80 [S]");
  const path = page.locator(".pane.way");
  await path.getByText('nearest: rule "pasted:2" does not match: tcp dst is 80, not 443').waitFor();
  await path.getByRole("button", { name: /^Try repair: pasted:2: change "tcp dst is 443"/ }).click();
  await expect.poll(() => textOf(page)).toBe(TESTPMD.replace("443", "80"));
  await path.getByText("qp:queue 3").first().waitFor();
  const undo = page.locator(".rules-tools").getByRole("button", { name: "Undo", exact: true });
  await undo.click();
  await expect.poll(() => textOf(page)).toBe(TESTPMD);
  while (await undo.isEnabled()) await undo.click();
  await page.getByRole("tab", { name: "Rules (testpmd)" }).waitFor({ state: "detached" });
  const redo = page.getByRole("button", { name: "Redo", exact: true });
  while (await redo.isEnabled()) await redo.click();
  await expect.poll(() => textOf(page)).toBe(TESTPMD.replace("443", "80"));
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const link = await page.getByRole("dialog").getByRole("textbox").inputValue();
  const other = await playground.open({ path: link.slice(playground.url.length) });
  await other.page.getByRole("tab", { name: "Rules (testpmd)" }).waitFor();
  await expect.poll(() => textOf(other.page)).toBe(TESTPMD.replace("443", "80"));
  await other.page.locator(".pane.way").getByText("qp:queue 3").first().waitFor();
  tell("testpmd rules from the clipboard to another profile", began);
  expect([...faults, ...other.faults]).toEqual([]);
  await context.close();
  await other.context.close();
});

test("forced colours keep the bars, the picture and what is selected", async () => {
  const { page, context } = await playground.open({ context: { forcedColors: "active" } });
  await answered(page);
  await page.getByRole("heading", { name: "Path of frame 2" }).waitFor();
  await page.locator(".way-line path").first().waitFor();
  await page.locator(".spark > span").first().waitFor();
  await page.locator('.frame-row[aria-selected="true"]').waitFor();
  const looks = await page.evaluate(() => {
    const of = (selector: string): CSSStyleDeclaration => getComputedStyle(document.querySelector(selector)!);
    const ground = of("body").backgroundColor;
    return {
      bar: of(".spark > span").backgroundColor !== ground,
      verdict:
        of('.strip .verdicts [data-verdict="miss"]').borderBottomColor !== of(".strip .verdicts button").borderTopColor,
      path: of(".way-line path").stroke !== ground,
      row: of('.frame-row[aria-selected="true"]').outlineStyle,
    };
  });
  expect(looks).toEqual({ bar: true, verdict: true, path: true, row: "solid" });
  await context.close();
});

test("a session with the keyboard alone", async () => {
  const { page, context, faults } = await playground.open();
  const began = performance.now();
  const { keyboard } = page;
  await answered(page);
  // Frames, steps, and a repair of the frame that missed.
  await page.locator("body").press("j");
  await page.locator("body").press("j");
  await page.getByRole("heading", { name: "Path of frame 2" }).waitFor();
  await page.getByText("step 1 of 7").waitFor();
  await keyboard.press("n");
  await page.getByText("step 2 of 7").waitFor();
  await page.locator("body").press("3");
  await tabTo(page, "Try repair");
  await keyboard.press("Enter");
  await page.getByRole("list", { name: "Frames by verdict" }).getByText("100 %").waitFor();
  // The palette, totals and the filter.
  await act(page, "show or hide totals");
  await page.getByRole("region", { name: "All totals" }).waitFor();
  await keyboard.press("t");
  await keyboard.press("/");
  await keyboard.type("198.51.100.3");
  await page.getByRole("grid").getByText("from host 4").waitFor({ state: "detached" });
  await keyboard.press("Control+a");
  await keyboard.press("Backspace");
  await act(page, "edit rules");
  await page.waitForFunction(() => document.activeElement?.closest("#panel-rules"));
  await keyboard.press("Control+a");
  await keyboard.insertText(RULES);
  await page.locator(".strip").getByText("No frames").waitFor();
  tell("a session with the keyboard alone", began);
  expect(faults).toEqual([]);
  await context.close();
});

/** The whole text of the editor, which is short enough to be in the page. */
async function textOf(page: Page): Promise<string> {
  return (await rulesEditor(page).locator(".cm-line").allTextContents()).join("\n");
}

async function answered(page: Page): Promise<void> {
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
}

async function typeRules(page: Page, text: string): Promise<void> {
  await rulesEditor(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

/** Drops a file on the list of frames. */
async function dropCapture(page: Page, name: string): Promise<void> {
  const data = await page.evaluateHandle(
    ({ base64, name }) => {
      const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name));
      return transfer;
    },
    { base64: CAPTURE, name },
  );
  const list = page.locator("#panel-frames > *");
  for (const type of ["dragenter", "dragover", "drop"]) await list.dispatchEvent(type, { dataTransfer: data });
  await page.getByText(name).first().waitFor();
}

/** Runs an action by the palette. */
async function act(page: Page, words: string): Promise<void> {
  await page.keyboard.press("Control+k");
  // It is loaded when it is opened for the first time.
  await page.getByRole("combobox", { name: "Search actions" }).waitFor();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
}

/** Presses Tab until a button of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? "");
    if (focused.trim() === name) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not come to "${name}"`);
}

function tell(what: string, began: number): void {
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
