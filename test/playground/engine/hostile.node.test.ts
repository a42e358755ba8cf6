/** Rules that keep the engine busy are stopped from the page, which goes on with the last good ones. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeLink } from "../../../playground/src/state/link.js";
import { openPlayground, type Playground } from "../support/page.js";

/** The refusals of so many rules take the engine minutes: the document is searched for each. */
const RULES = 40_000;

describe.runIf(process.env["FLOWSTEER_DEEP"] === "1")("hostile rules", () => {
  let playground: Playground;
  beforeAll(async () => {
    playground = await openPlayground();
  });
  afterAll(async () => playground.close());

  test("a link whose rules keep the engine busy is stopped, and the last good rules answer", async () => {
    const rules = JSON.stringify({
      flowsteer: 1,
      queues: [{ name: "a" }],
      tables: [{ name: "root", level: 0 }],
      rules: Array.from({ length: RULES }, (_, i) => ({
        name: `r${i}`,
        table: "root",
        match: { "outer.ipv4_src": "10.0.0.0/33", "outer.tcp_dport": `${i}-${i + 1}` },
        actions: [{ queue: "a" }],
      })),
    });
    const shared = {
      rules,
      name: "hostile",
      capture: null,
      frame: null,
      path: null,
      step: 0,
      filter: {},
      field: null,
    };
    const link = await encodeLink({ ...shared, left: null });
    const { page, faults } = await playground.open();
    await page.getByText("miss").first().waitFor();
    await page.evaluate((fragment) => {
      location.hash = fragment;
    }, link);
    await page.getByRole("button", { name: "Open shared rules" }).click();
    const began = performance.now();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("these rules were stopped").first().waitFor();
    console.log(`stopped ${(performance.now() - began).toFixed(0)} ms after they were opened`);
    // The last good rules answer.
    await page.getByRole("row").filter({ hasText: "198.51.100.4" }).click();
    await page.getByText("no VXLAN header was read").first().waitFor();
    expect(faults).toEqual([]);
  });
});
