/** The rules on the page, read and typed as a person does. */
import { expect, vi } from "vitest";
import type { Page } from "playwright-core";
import { PAGE_PATIENCE } from "../../../support/browser.js";
import { rulesEditor } from "../../support/page.js";

export { rulesEditor as editor } from "../../support/page.js";

/** The text in the editor. An editor that shows a part of a long text has that part. */
export async function rulesOf(page: Page): Promise<string> {
  return rulesEditor(page).innerText();
}

/** Replaces all of the rules. */
export async function typeRules(page: Page, text: string): Promise<void> {
  await rulesEditor(page).click();
  await page.keyboard.press("ControlOrMeta+A");
  // Chromium gives text that replaces coloured text an inline style, which the page's policy refuses.
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

/** Waits until the editor shows this. */
export async function expectRules(page: Page, part: string): Promise<void> {
  await vi.waitFor(async () => expect(await rulesOf(page)).toContain(part), { timeout: PAGE_PATIENCE, interval: 50 });
}

/** Short rules that send every frame to a queue of this name. */
export function rulesTo(queue: string): string {
  return `{"flowsteer":1,"queues":[{"name":"${queue}"}],"tables":[{"name":"root","level":0}],"rules":[{"name":"all to ${queue}","table":"root","actions":[{"queue":"${queue}"}]}],"frames":[{"headers":[{"header":"ethernet"},{"header":"ipv4"},{"header":"udp"}]}]}`;
}
