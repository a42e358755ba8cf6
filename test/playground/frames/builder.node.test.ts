/** The packet builder: line and form are one packet, which is added to the frames of the document. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlayground, type Playground } from "../support/page.js";
import { counts, grid, selects } from "./support.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

test("a packet is written as a line, changed in the form, and added", async () => {
  const { page, context, faults } = await playground.open();
  await selects(page, 2);
  await page.getByRole("button", { name: "Build packet" }).click();
  const dialog = page.getByRole("dialog", { name: "Build packet" });
  const line = dialog.getByRole("combobox", { name: "Packet notation" });
  await line.fill("ipv4 198.51.100.9 > 203.0.113.7 / udp / vxlan vni 5002 / ipv4 / tcp > 44x");
  await dialog.getByText(/^Column \d+: /).waitFor();
  await line.fill("ipv4 198.51.100.9 > 203.0.113.7 / udp / vxlan vni 5002 / ipv4 / tcp > 443 [S]");
  await dialog.getByText("qp:green").waitFor();
  const vxlan = dialog.getByRole("group", { name: "vxlan, header 4" });
  await vxlan.getByLabel("vni").fill("5001");
  await dialog.getByText("qp:blue").waitFor();
  await expect.poll(() => line.inputValue()).toContain("vxlan vni 5001");
  await vxlan.getByLabel("vni").fill("99999999");
  await vxlan.getByRole("alert").waitFor();
  expect(await dialog.getByRole("button", { name: "Add to frames" }).isDisabled()).toBe(true);
  await vxlan.getByLabel("vni").fill("5001");
  await dialog.getByRole("button", { name: "Remove tcp, header 7" }).click();
  await expect.poll(() => line.inputValue()).not.toContain("tcp");
  await dialog.getByLabel("Header", { exact: true }).selectOption("udp");
  await dialog.getByRole("button", { name: "Add header" }).click();
  await expect.poll(() => line.inputValue()).toMatch(/udp[^/]*$/);
  await dialog.getByLabel("Name").fill("built");
  await dialog.getByRole("button", { name: "Add to frames" }).click();
  await counts(page, "3 frames");
  await selects(page, 3);
  await grid(page).getByText("built").waitFor();
  await page.getByRole("heading", { name: "Path of frame 3" }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("headers and fields are completed, and a frame is edited as a new one", async () => {
  const { page, context, faults } = await playground.open();
  await selects(page, 2);
  await page.getByRole("heading", { name: "Path of frame 2" }).waitFor();
  await grid(page).focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Edit as new frame" }).click();
  const line = page.getByRole("combobox", { name: "Packet notation" });
  expect(await line.inputValue()).toContain("198.51.100.4 > 203.0.113.7 / udp 49152 > 8472");
  await line.fill("vx");
  await page.getByRole("option", { name: "vxlan header" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(() => line.inputValue()).toBe("vxlan ");
  await page.keyboard.type("vn");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(() => line.inputValue()).toBe("vxlan vni ");
  await page.keyboard.type("7");
  await page.getByRole("group", { name: "vxlan, header 4" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(faults).toEqual([]);
  await context.close();
});
