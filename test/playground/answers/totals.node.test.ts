/** The totals in a browser: the strip, and the view that it opens. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { typeRules } from "../share/support/rules.js";
import { exampleOf, filterInput, openFiles, selects } from "../frames/support.js";
import { openPlayground, type Playground } from "../support/page.js";
import { until } from "../rules/support/editor.js";
import { MAIL, openTotals, rulesOn, TELNET, verdict, WEB } from "./support.js";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

const PORTS = [443, 443, 443, 25, 80];

test("the strip has verdicts with shares, rules that no frame hit, and the amount", async () => {
  const page = await withRules(rulesOn([WEB, MAIL, TELNET], PORTS));
  expect(await verdict(page, "deliver", 4).textContent()).toContain("80 %");
  expect(await verdict(page, "miss", 1).textContent()).toContain("20 %");
  await page.getByText(/^5 frames · 270 bytes · /).waitFor();
  await page.getByRole("button", { name: "Hits by rule: 2 of 3 rules hit. Open the totals" }).waitFor();
  const telnet = page.getByRole("button", { name: "telnet", exact: true });
  await telnet.click();
  expect(await telnet.getAttribute("aria-pressed")).toBe("true");
  await page.context().close();
});

test("a verdict is pressed while the list is narrowed to it, by mouse and by keyboard", async () => {
  const page = await withRules(rulesOn([WEB, MAIL, TELNET], PORTS));
  const miss = verdict(page, "miss", 1);
  const pressed = async (): Promise<string | null> => miss.getAttribute("aria-pressed");
  await miss.click();
  expect(await pressed()).toBe("true");
  await page.getByText("1 of 5 frames", { exact: true }).waitFor();
  await miss.press("Enter");
  expect(await pressed()).toBe("false");
  await miss.press("Space");
  expect(await pressed()).toBe("true");
  await verdict(page, "deliver", 4).click();
  expect(await pressed()).toBe("false");
  await page.context().close();
});

test("the opened totals have destinations, reasons in words, and rules in three orders", async () => {
  const page = await withRules(rulesOn([TELNET, MAIL, WEB], PORTS));
  const totals = await openTotals(page);
  const destinations = totals.getByRole("list", { name: "Destinations" }).getByRole("button");
  await until(async () =>
    expect(await destinations.allTextContents()).toEqual([
      expect.stringMatching(/^qp:web3 frames,60 %, 162 bytes/),
      expect.stringMatching(/^qp:mail1 frame,20 %, 54 bytes/),
    ]),
  );
  await totals.getByText("No rule of the root table matched the frame, and no later stage accepted it.").waitFor();
  const names = totals.getByRole("table", { name: "Hits by rule" }).locator("tbody th");
  expect(await names.allTextContents()).toEqual(["telnet", "mail", "web"]);
  await totals.getByRole("button", { name: "Sort by hits" }).press("Enter");
  expect(await names.allTextContents()).toEqual(["web", "mail", "telnet"]);
  await totals.getByRole("button", { name: "Sort by rule" }).click();
  expect(await names.allTextContents()).toEqual(["mail", "telnet", "web"]);
  const telnet = totals.getByRole("row", { name: /telnet/ });
  expect(await telnet.textContent()).toContain("never hit by these frames");
  await totals.getByLabel("Only rules that these frames never hit (1)").check();
  expect(await names.allTextContents()).toEqual(["telnet"]);
  await page.context().close();
});

test("rules that are refused leave the totals, greyed, with the reason", async () => {
  const page = await withRules(rulesOn([WEB, MAIL], PORTS));
  const colour = async (): Promise<string> =>
    verdict(page, "deliver", 4).evaluate((one) => getComputedStyle(one).color);
  const before = await colour();
  await typeRules(page, "{");
  await page.getByText("From the last rules without errors", { exact: true }).waitFor();
  expect(await colour()).not.toBe(before);
  await typeRules(page, rulesOn([WEB, MAIL], PORTS));
  await page.getByText("From the last rules without errors", { exact: true }).waitFor({ state: "detached" });
  expect(await colour()).toBe(before);
  await page.context().close();
});

test("rules without frames say so", async () => {
  const page = await withRules(rulesOn([WEB], []));
  await page.getByText("No frames: open a capture or build a packet").waitFor();
  await page.context().close();
});

test("expectations that fail lead to their place in the rules", async () => {
  const expected = {
    expect: {
      frames: [
        { frame: 1, to: ["qp:mail"] },
        { frame: 4, to: ["qp:mail"] },
      ],
    },
  };
  const page = await withRules(rulesOn([WEB, MAIL], PORTS, expected));
  await page.getByRole("button", { name: "1 expectation not met" }).click();
  const totals = page.getByRole("region", { name: "All totals" });
  await totals.getByText("1 of 2 hold").waitFor();
  const place = totals.getByRole("button", { name: "expect.frames[0].to" });
  await place.click();
  expect(await place.getAttribute("aria-pressed")).toBe("true");
  await page.context().close();
});

test("meters have a line for each answer, a slider and a table", async () => {
  const example = readFileSync(new URL("../../../examples/state-meter.json", import.meta.url), "utf8");
  const page = await withRules(JSON.stringify(JSON.parse(example)));
  const totals = await openTotals(page);
  const meter = totals.getByRole("figure").filter({ hasText: "two a millisecond" });
  await meter.locator("canvas").waitFor();
  const legend = meter.getByRole("list", { name: "Answers of meter two a millisecond" });
  expect(await legend.getByRole("listitem").allTextContents()).toEqual(["green 4", "red 2"]);
  await meter.getByRole("slider").press("Home");
  await meter.getByRole("slider").press("ArrowRight");
  await meter.getByText(/^frames from /).waitFor();
  await meter.getByText("As a table").click();
  const sums = await meter
    .locator("tbody tr")
    .evaluateAll((rows) =>
      rows.reduce(
        (sum, row) =>
          sum + [...row.querySelectorAll("td")].reduce((all, { textContent }) => all + Number(textContent), 0),
        0,
      ),
    );
  expect(sums).toBe(6);
  await totals.getByText("11 of 11 hold").waitFor();
  await page.context().close();
});

async function withRules(text: string): Promise<Page> {
  const { page } = await playground.open();
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
  await typeRules(page, text);
  await page.getByRole("list", { name: "Frames by verdict" }).or(page.getByText("No frames:")).waitFor();
  return page;
}

test("conversations and intervals of time narrow the list, and a frame's conversation is followed by a key", async () => {
  const { page, context, faults } = await playground.open();
  await page.getByText("2 frames").first().waitFor();
  await openFiles(page, [exampleOf("everyday.json"), exampleOf("everyday.pcap")]);
  await selects(page, 48);
  const totals = await openTotals(page);
  const conversations = totals.getByRole("list", { name: "Conversations" });
  const first = conversations.getByRole("button").first();
  const frames = Number(/(\d+) frames/.exec((await first.textContent()) ?? "")?.[1]);
  await first.click();
  await page.getByText(`${frames} of 86 frames`, { exact: true }).waitFor();
  expect(await filterInput(page).inputValue()).toMatch(/^ipv6\.addr == \S+ && ipv6\.addr == \S+/);
  await first.click();
  await page.getByText("86 frames", { exact: true }).waitFor();
  const interval = totals.getByRole("slider", { name: "Interval of all frames" });
  await interval.press("End");
  await totals.getByRole("button", { name: "Show these frames" }).click();
  await page.getByText(/^\d+ of 86 frames$/).waitFor();
  expect(await filterInput(page).inputValue()).toMatch(/^frame\.time_relative > \S+ && frame\.time_relative <= \S+$/);
  await filterInput(page).fill("fs.reason == table_miss && geneve");
  await page.getByRole("grid", { name: "Frames" }).press("Home");
  await page.keyboard.press("C");
  await expect.poll(() => filterInput(page).inputValue()).toMatch(/^ip\.addr == 30\.0\.0\.1 && ip\.addr == 30\./);
  expect(faults).toEqual([]);
  await context.close();
});
