/** Rules that keep the engine busy are stopped from the page, which goes on with the last good ones. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPlayground, type Playground } from "../support/page.js";

/** The refusals of so many rules take the engine minutes: the document is searched for each. */
const RULES = 40_000;

describe.runIf(process.env["FLOWSTEER_DEEP"] === "1")("hostile rules", () => {
  let playground: Playground;
  beforeAll(async () => {
    playground = await openPlayground();
  });
  afterAll(async () => playground.close());

  test("a file whose rules keep the engine busy is stopped, and the last good rules answer", async () => {
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
    const { page, faults } = await playground.open();
    await page.getByRole("row").filter({ hasText: "198.51.100.4" }).waitFor();
    const choosing = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await (await choosing).setFiles({ name: "hostile.json", mimeType: "", buffer: Buffer.from(rules) });
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
