/** The editor of the rules, used as a person does. */
import { expect, vi } from "vitest";
import type { Locator, Page } from "playwright-core";
import { PAGE_PATIENCE } from "../../../support/browser.js";
import { rulesEditor } from "../../support/page.js";

export const editor = rulesEditor;

/** Waits for a condition. */
export function until(condition: () => Promise<void>): Promise<void> {
  return vi.waitFor(condition, { timeout: PAGE_PATIENCE, interval: 30 });
}

/** Waits until the visible text has a part, or lacks it. */
export function untilText(page: Page, part: string, has = true): Promise<void> {
  return until(async () => expect((await editor(page).innerText()).includes(part)).toBe(has));
}

/** Replaces all of the text. */
export async function write(page: Page, text: string): Promise<void> {
  await editor(page).focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText(text);
}

/** Puts the cursor after the first place of a text. The find panel goes there. */
export async function cursorAfter(page: Page, text: string): Promise<void> {
  await editor(page).focus();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.press("ControlOrMeta+F");
  const field = page.getByRole("textbox", { name: "Find", exact: true });
  await field.press("ControlOrMeta+A");
  await field.pressSequentially(text);
  await field.press("Enter");
  await until(async () => expect(await page.locator(".cm-searchMatch-selected").count()).toBeGreaterThan(0));
  await page.keyboard.press("Escape");
  await editor(page).focus();
  await page.keyboard.press("ArrowRight");
}

/** The list of completions. */
export const completions = (page: Page): Locator => page.getByRole("listbox", { name: "Completions" });

/** The list below the editor. */
export const problems = (page: Page): Locator => page.getByRole("region", { name: "Problems in the rules" });
