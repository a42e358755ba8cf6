/** The dialogs "Share a link" and "Export", driven as a person does. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { Page } from "playwright-core";
import { decodeLink } from "../../../playground/src/state/link.js";
import { flowsteer, root } from "../../cli/support/command.js";
import { AXE, violations } from "../support/axe.js";
import { openPlayground, type Playground } from "../support/page.js";
import { expectRules, rulesTo, typeRules } from "./support/rules.js";

const RULES = join(root, "examples/why-vxlan.json");

let playground: Playground;
beforeAll(async () => {
  const opened = new Map<string, string | Uint8Array>([
    ["opened/index.json", Buffer.from('{"rules":"strongswan.json","capture":"strongswan.pcap","isSource":false}')],
    ["opened/rules.json", join(root, "examples/flows-strongswan.json")],
    ["opened/capture", join(root, "examples/strongswan.pcap")],
  ]);
  playground = await openPlayground(opened);
});
afterAll(async () => playground.close());

/** Opens a dialog by its button in the bar. */
async function dialog(page: Page, button: string, title: string): Promise<ReturnType<Page["getByRole"]>> {
  await page.getByRole("button", { name: button, exact: true }).click();
  const shown = page.getByRole("dialog", { name: title });
  await shown.waitFor();
  return shown;
}

/** Downloads an item, and gives its name and text. */
async function downloaded(page: Page, item: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: `Download: ${item}` }).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

describe("share a link", () => {
  it("copies a link that opens the same rules, frame and step", async () => {
    const { page, context, faults } = await playground.open({
      context: { permissions: ["clipboard-read", "clipboard-write"] },
    });
    await expectRules(page, "flowsteer");
    await typeRules(page, rulesTo("apples"));
    await page
      .getByRole("row", { name: /deliver/ })
      .first()
      .waitFor();
    const shown = await dialog(page, "Share", "Share a link");
    await shown.getByRole("button", { name: "Copy link" }).click();
    await shown.getByText("Copied.").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(await shown.getByRole("textbox", { name: "Link" }).inputValue()).toBe(link);
    await shown.getByText(`${link.length} characters`).waitFor();
    await page.keyboard.press("Escape");
    await shown.waitFor({ state: "detached" });
    expect(await decodeLink(new URL(link).hash)).toMatchObject({ rules: rulesTo("apples"), capture: null, left: null });
    const other = await playground.open({ path: link.slice(playground.url.length) });
    await expectRules(other.page, "apples");
    expect([...faults, ...other.faults]).toEqual([]);
    await other.context.close();
    await context.close();
  });

  it("takes a small capture along", async () => {
    const { page, context, faults } = await playground.open({ path: "?opened", script: AXE });
    await page.getByText("51 frames").first().waitFor();
    const shown = await dialog(page, "Share", "Share a link");
    await shown.getByText("goes along").waitFor();
    const link = await shown.getByRole("textbox", { name: "Link" }).inputValue();
    expect(await violations(page)).toEqual([]);
    const other = await playground.open({ path: link.slice(playground.url.length) });
    await other.page.getByText("51 frames").first().waitFor();
    expect([...faults, ...other.faults]).toEqual([]);
    await other.context.close();
    await context.close();
  });
});

describe("export", () => {
  it("gives what the command writes", async () => {
    const { page, context, faults } = await playground.open({
      context: { permissions: ["clipboard-read", "clipboard-write"] },
      script: AXE,
    });
    await page
      .getByRole("row", { name: /no_rule/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByRole("button", { name: "Download: Test of frame 2" }).waitFor();
    expect(await violations(page)).toEqual([]);
    const rules = await downloaded(page, "Scenario");
    expect(rules.name).toBe("why-vxlan.json");
    expect(rules.bytes.equals(readFileSync(RULES))).toBe(true);
    const csv = await downloaded(page, "Outcomes as CSV");
    expect(csv.name).toBe("why-vxlan.csv");
    expect(csv.bytes.toString()).toBe((await flowsteer(["run", RULES, "--format", "csv"])).out);
    expect((await downloaded(page, "Test of frame 2")).bytes.toString()).toContain("slice(1, 2)");
    const explanation = (await downloaded(page, "Text")).bytes.toString();
    expect(explanation).toContain((await flowsteer(["trace", RULES, "--frame", "2"])).out.trimEnd());
    const [line = ""] = (await downloaded(page, "JSON")).bytes.toString().split("\n");
    expect(JSON.parse(line)).toMatchObject({ kind: "trace", frame: 2 });
    for (const item of ["Annotated capture", "Capture out"]) {
      const { name, bytes } = await downloaded(page, item);
      expect(name).toMatch(/\.pcapng$/);
      // The section header block of pcapng.
      expect(bytes.readUInt32LE(0)).toBe(0x0a0d0d0a);
    }
    await page.getByRole("button", { name: "Copy: TypeScript" }).click();
    await page.getByText("why-vxlan.ts was copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("loaded.run()");
    expect(faults).toEqual([]);
    await context.close();
  });

  it("gives the rules alone while they have errors", async () => {
    const { page, context } = await playground.open();
    await expectRules(page, "flowsteer");
    await typeRules(page, '{"flowsteer":1,"rules":[{"table":"nowhere"}]}');
    await page.getByText("1 error").first().waitFor();
    const shown = await dialog(page, "Export", "Export");
    await shown.getByText("The rules have errors").waitFor();
    expect(await shown.getByRole("button", { name: /^Download/ }).count()).toBe(1);
    await context.close();
  });
});

test("an export is previewed before it is copied or downloaded", async () => {
  const { page, context, faults } = await playground.open();
  await expectRules(page, "flowsteer");
  const shown = await dialog(page, "Export", "Export");
  const button = shown.getByRole("button", { name: "Preview: C program" });
  await button.click();
  const preview = shown.getByLabel("Preview of C program");
  await preview.getByText("#include").first().waitFor();
  expect(await button.getAttribute("aria-expanded")).toBe("true");
  await shown.getByRole("button", { name: "Preview: Scenario" }).click();
  await shown.getByLabel("Preview of Scenario").getByText('"flowsteer": 1').waitFor();
  expect(await preview.count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});
