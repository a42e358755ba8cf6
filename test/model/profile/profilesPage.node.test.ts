/**
 * Checks docs/profiles.md against the tables of the profiles; a table names each check in order.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { profilesPage } from "../../../scripts/profilesPage.js";
import { PROFILES } from "../../../src/model/profile/profiles.js";

test("docs/profiles.md is up to date: node --import tsx scripts/profilesPage.ts", async () => {
  const page = readFileSync(new URL("../../../docs/profiles.md", import.meta.url), "utf8");
  expect(page).toBe(await profilesPage());
});

test("numbers of steering formats are those that the library tells generations apart by", () => {
  const formats = PROFILES.map(({ name, steeringFormat }) => [name, steeringFormat]);
  expect(Object.fromEntries(formats)).toEqual({ manual: 2, connectx5: 0, connectx6dx: 1, connectx7: 2, connectx8: 3 });
});

test("part ids are those of the cards in the PCI database", () => {
  expect(PROFILES.map(({ partId }) => partId)).toEqual([0x1021, 0x1017, 0x101d, 0x1021, 0x1023]);
});
