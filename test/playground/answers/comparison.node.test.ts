/** The comparison in a browser: what an edit changes, as it is typed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { typeRules } from "../share/support/rules.js";
import { openPlayground, type Playground } from "../support/page.js";
import { MAIL, openTotals, rulesOn, verdict, WEB } from "./support.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

const PORTS = [443, 443, 443, 25, 80];

test("frames that end otherwise are counted, grouped, and shown before and after", async () => {
  const { page, context, faults } = await playground.open();
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
  await typeRules(page, rulesOn([WEB, MAIL], PORTS));
  await verdict(page, "deliver", 4).waitFor();
  const totals = await openTotals(page);
  await totals.getByRole("button", { name: "Pin these rules" }).click();
  await totals.getByText("Every frame ends up where it did before.").waitFor();

  await typeRules(page, rulesOn([{ ...WEB, port: 80 }, MAIL], PORTS));
  const changed = page.getByRole("button", { name: "4 frames changed" });
  await changed.click();
  expect(await changed.getAttribute("aria-pressed")).toBe("true");
  const groups = totals.getByRole("list", { name: "Changes" }).getByRole("button");
  expect(await groups.count()).toBe(2);
  await groups.first().press("Enter");
  expect(await groups.first().getAttribute("aria-pressed")).toBe("true");
  const frame = totals.getByRole("table", { name: "Frame 1 before and after" });
  await frame.waitFor();
  expect(await frame.getByRole("row", { name: /^Outcome/ }).textContent()).toMatch(/deliver.*qp:web.*miss.*no_rule/);
  expect(await frame.getByRole("row", { name: /^Rules hit/ }).textContent()).toBe("Rules hitwebnone");

  await page.getByRole("button", { name: "Compare with the pinned rules" }).click();
  await changed.waitFor({ state: "detached" });
  await frame.waitFor({ state: "detached" });
  expect(faults).toEqual([]);
  await context.close();
});

test("the rules as opened are compared with, by keyboard", async () => {
  const { page, context } = await playground.open();
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
  await page.getByRole("button", { name: "Compare with the rules as opened" }).press("Enter");
  await page.getByText("0 frames changed").first().waitFor();
  await typeRules(page, rulesOn([WEB], [443, 443, 443]));
  await page.getByRole("button", { name: /frames? changed/ }).waitFor();
  await context.close();
});
