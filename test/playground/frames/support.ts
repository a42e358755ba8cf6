/** The pane of frames, as a person uses it. */
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";

export const grid = (page: Page): Locator => page.getByRole("grid", { name: "Frames" });
export const filterInput = (page: Page): Locator => page.getByRole("combobox", { name: "Filter frames" });
export const selectedRow = (page: Page): Locator => grid(page).locator('[role="row"][aria-selected="true"]');
export const count = (page: Page): Locator => page.locator(".frames-count");

export function exampleOf(name: string): string {
  return fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));
}

/** Waits until the list counts so: `86 frames`, `2 of 86 frames`. */
export async function counts(page: Page, text: string): Promise<void> {
  await count(page).getByText(text, { exact: true }).waitFor();
}

/** Waits until the selected row has the number of a frame. */
export async function selects(page: Page, number: number): Promise<void> {
  await selectedRow(page).locator(".number").getByText(String(number), { exact: true }).waitFor();
}

interface GivenFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/** Opens files with the button of the pane. */
export async function openFiles(page: Page, files: string[] | GivenFile[]): Promise<void> {
  const chosen = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Open capture" }).first().click();
  await (await chosen).setFiles(files);
}

/** Drops a file on the page. */
export async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  const data = await page.evaluateHandle(
    ({ name, base64 }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      return transfer;
    },
    { name, base64: bytes.toString("base64") },
  );
  await page.dispatchEvent("body", "dragover", { dataTransfer: data });
  await page.getByText("Drop to open").waitFor();
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
}

/** Builds a packet from its notation, and adds it to the frames. */
export async function addPacket(page: Page, notation: string): Promise<void> {
  await page.getByRole("button", { name: "Build packet" }).first().click();
  await page.getByRole("combobox", { name: "Packet notation" }).fill(notation);
  await page.getByRole("button", { name: "Add to frames" }).click();
}
