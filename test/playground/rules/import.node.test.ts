/** Rules of other programs in the page: pasted and dropped, imported, opened, exported again, to why a frame missed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { root } from "../../cli/support/command.js";
import { AXE, violations } from "../support/axe.js";
import { openPlayground, type OpenPage, type Playground } from "../support/page.js";
import { counts, grid } from "../frames/support.js";
import { editor, until, untilText } from "./support/editor.js";

let playground: Playground;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

beforeEach(async () => {
  opened = await playground.open({ script: AXE });
  page = opened.page;
  await untilText(page, "flowsteer");
});
afterEach(async () => {
  expect(opened.faults).toEqual([]);
  await opened.context.close();
});

/** Gives a text, or files, to a part of the page. */
async function give(target: Locator, kind: "paste" | "drop", text: string, file?: string): Promise<void> {
  await target.evaluate(
    (element, [event, given, name]) => {
      const data = new DataTransfer();
      if (name === undefined) data.setData("text/plain", given);
      else data.items.add(new File([given], name, { type: "text/plain" }));
      const init = { bubbles: true, cancelable: true, composed: true };
      const made =
        event === "paste"
          ? new ClipboardEvent("paste", { ...init, clipboardData: data })
          : new DragEvent("drop", { ...init, dataTransfer: data });
      element.dispatchEvent(made);
    },
    [kind, text, file] as const,
  );
}

const dialog = (): Locator => page.getByRole("dialog", { name: "Import rules" });

const TESTPMD = `testpmd> flow create 0 group 1 priority 0 ingress pattern eth / ipv4 dst is 192.0.2.10 / tcp dst is 443 / end actions queue index 3 / end
Flow rule #0 created
testpmd> flow create 0 ingress pattern eth / end actions jump group 1 / end`;

test("a pasted testpmd rule becomes a scenario", async () => {
  await give(editor(page), "paste", TESTPMD);
  await dialog().waitFor();
  await until(async () => expect(await dialog().getByRole("status").innerText()).toContain("2 rules"));
  expect(await violations(page)).toEqual([]);
  await dialog().getByRole("button", { name: "Open as rules" }).click();
  // The editor draws what is visible: the queues are first.
  await untilText(page, "queue 3");
  expect(await dialog().count()).toBe(0);
});

test("a dropped dump and a dropped capture lead to why the frame missed", async () => {
  const dump = readFileSync(join(root, "examples/vanished.csv"), "utf8");
  await give(page.locator(".pane.rules"), "drop", dump, "vanished.csv");
  await dialog().getByRole("button", { name: "Open as rules" }).click({ timeout: 30_000 });
  await untilText(page, "nic_rx level 1");
  const capture = readFileSync(join(root, "examples/vanished.pcap")).toString("base64");
  await page.locator(".pane.frames").evaluate((element, bytes) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], "vanished.pcap"));
    element.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
  }, capture);
  await counts(page, "4 frames");
  await grid(page).getByRole("row").nth(3).click();
  await until(async () => expect(await page.locator(".pane.way").innerText()).toContain("outer.ip_dscp"));
});

test("rules go out as a C program", async () => {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("dialog", { name: "Export" }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download: C program" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.c$/);
  expect(readFileSync(await download.path(), "utf8")).toContain("mlx5dv_dr_rule_create");
});
