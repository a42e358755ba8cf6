/** The playground in a browser: it opens with a working example. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlayground, type Playground } from "./support/page.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

test("the page opens without a fault", async () => {
  const { page, faults } = await playground.open();
  await page.getByRole("heading", { name: "flowsteer" }).waitFor();
  expect(faults).toEqual([]);
});
