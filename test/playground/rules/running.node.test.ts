/** Proofs under way: they are stopped by a button, a limit and the next edit, and what was found before is marked as old. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { MAIL, openTotals, rulesOn, verdict, WEB } from "../answers/support.js";
import { AXE, violations } from "../support/axe.js";
import { openPlayground, type OpenPage, type Playground } from "../support/page.js";
import { cursorAfter, problems, until, untilText, write } from "./support/editor.js";

let playground: Playground;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

/** Counts the workers that prove something: the protocol of the browser may miss the end of one that was just begun. */
const COUNTED = `
  window.provers = new Set();
  window.Worker = class extends Worker {
    constructor(url, options) {
      super(url, options);
      if (String(url).endsWith("/prover.js")) provers.add(this);
    }
    terminate() {
      provers.delete(this);
      super.terminate();
    }
  };
`;

beforeEach(async () => {
  opened = await playground.open({ script: AXE + COUNTED });
  page = opened.page;
  await untilText(page, "flowsteer");
  // The engine has its core: what holds that of proofs would hold the engine's.
  await page.getByRole("grid", { name: "Frames" }).getByRole("row").nth(1).waitFor();
});
afterEach(async () => {
  expect(opened.faults).toEqual([]);
  await opened.context.close();
});

/** A rule that is never hit, a counter that nothing names, and a rule without a fault. */
const RULES = `{
  "flowsteer": 1,
  "queues": [{ "name": "web" }, { "name": "other" }],
  "counters": [{ "name": "hits" }],
  "tables": [{ "name": "root", "level": 0 }],
  "rules": [
    { "name": "first", "table": "root", "match": { "outer.tcp_dport": 80 }, "actions": [{ "queue": "web" }] },
    { "name": "dead", "table": "root", "priority": 1, "match": { "outer.tcp_dport": 80 }, "actions": [{ "queue": "web" }] },
    { "name": "last", "table": "root", "match": { "outer.tcp_dport": 25 }, "actions": [{ "queue": "other" }] }
  ]
}`;

/** From now on proofs wait for their core, as on a network that hangs. @returns lets them go on */
async function hold(): Promise<() => Promise<void>> {
  const CORE = "**/traced.wasm";
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(CORE, async (route) => {
    await released;
    await route.continue().catch(() => undefined);
  });
  return async () => {
    release();
    await page.unroute(CORE);
  };
}

/** Waits until so many workers prove something. */
function untilProvers(count: number): Promise<void> {
  return until(async () => expect(await page.evaluate<number>("provers.size")).toBe(count));
}

const deadText = async (): Promise<string> => (await page.locator(".cm-deadRule").allInnerTexts()).join("");

test("a proof under way is stopped with the keyboard, and begun again", async () => {
  const release = await hold();
  await write(page, RULES);
  const stop = page.getByRole("button", { name: "Stop checking the rules for all frames" });
  await stop.waitFor();
  await untilProvers(1);
  expect(await violations(page)).toEqual([]);
  await stop.press("Enter");
  await page.getByText("Checking the rules for all frames was stopped: nothing is known.").waitFor();
  await untilProvers(0);
  expect(await problems(page).count()).toBe(0);

  await release();
  await page.getByRole("button", { name: "Try again" }).press("Enter");
  await problems(page)
    .getByRole("button", { name: /"dead".*"first"/ })
    .waitFor();
  await stop.waitFor({ state: "detached" });
  expect(await page.getByText("was stopped").count()).toBe(0);
});

test("a proof ends at its limit, says so, and the next edit begins another one", async () => {
  // Timers that were set before the clock was replaced could not be cleared any more.
  await page.clock.install();
  await page.reload();
  await untilText(page, "flowsteer");
  await write(page, rulesOn([WEB, MAIL], [443, 25]));
  await verdict(page, "deliver", 2).waitFor();
  const totals = await openTotals(page);
  await totals.getByRole("button", { name: "Pin these rules" }).click();
  const release = await hold();
  await write(page, rulesOn([{ ...WEB, port: 80 }, MAIL], [443, 25]));
  await totals.getByRole("button", { name: "Stop comparing for all frames" }).waitFor();
  await untilProvers(2);
  await page.clock.fastForward(31_000);
  await page.clock.resume();
  const late = totals.getByText("Comparing for all frames took longer than 30 s and was stopped: nothing is known.");
  await late.waitFor();
  await untilProvers(0);

  await release();
  await write(page, rulesOn([{ ...WEB, port: 81 }, MAIL], [443, 25]));
  await late.waitFor({ state: "detached" });
  await page.getByRole("button", { name: /\d differences$/ }).waitFor();
});

test("each edit ends the proof of the one before it", async () => {
  const release = await hold();
  for (const name of ["one", "two", "three"]) {
    const begun = page.waitForRequest("**/prover.js");
    await write(page, RULES.replaceAll('"hits"', JSON.stringify(name)));
    await begun;
    await untilProvers(1);
  }
  await release();
  await problems(page)
    .getByText(/"three"/)
    .waitFor();
  await untilProvers(0);
});

test("findings are marked as old by an edit, those that it touches go at once, and come back with it taken back", async () => {
  await write(page, RULES);
  const dead = problems(page).getByRole("button", { name: /"dead".*"first"/ });
  await dead.waitFor();
  const mend = problems(page).getByRole("button", { name: /^Remove/ });
  await until(async () => expect(await deadText()).toContain('"dead"'));
  const release = await hold();

  // Another rule: everything stays, moved and marked.
  await cursorAfter(page, '"name": "last"');
  const add = page.getByRole("button", { name: 'Add a frame that hits "last"' });
  expect(await add.isEnabled()).toBe(true);
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.insertText("\n");
  await problems(page).getByText("before the last edit").waitFor();
  expect(await mend.isDisabled()).toBe(true);
  expect(await deadText()).toMatch(/^\{ "name": "dead".*\}$/);
  await dead.click();
  await page
    .getByText(/^⊘ No frame hits this rule before the last edit: rule "first" takes all its frames\.$/)
    .waitFor();
  expect(await violations(page)).toEqual([]);

  // The dead rule itself.
  await cursorAfter(page, '"priority": 1');
  await page.keyboard.type("0");
  await dead.waitFor({ state: "detached" });
  expect(await page.locator(".cm-deadRule").count()).toBe(0);
  await mend.waitFor();

  await page.keyboard.press("ControlOrMeta+Z");
  await page.keyboard.press("ControlOrMeta+Z");
  await dead.waitFor();
  await problems(page).getByText("F8 goes to the next one").waitFor();
  expect(await deadText()).toContain('"dead"');
  expect(await mend.isEnabled()).toBe(true);
  await release();
});
