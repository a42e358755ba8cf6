/**
 * Takes pictures of every view of the built playground, in light and dark, at three widths:
 * build/screenshots/VIEW-WIDTH-THEME.png.
 *
 *   node --import tsx scripts/playground-screenshots.mjs [VIEW...]
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { servePage } from "../src/cli/serve/pageServer.ts";
import { findBrowser, launchOptions } from "./find-browser.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "build/screenshots");
const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
];

const button = (page, name) => page.getByRole("button", { name }).first();

/** An action from the palette, which every width has. */
async function act(page, title) {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill(title);
  await page.keyboard.press("Enter");
}

async function pane(page, name) {
  const tab = page.getByRole("tab", { name });
  if (await tab.isVisible()) await tab.click();
}

/** Rules of which some are never hit. */
async function openDeadRules(page) {
  await pane(page, "Rules");
  await button(page, "Examples").click();
  await page.getByRole("option", { name: /cover-dead/ }).click();
  await page.getByRole("region", { name: "Problems in the rules" }).waitFor();
}

/** Types after the first place of a text in the rules. */
async function edit(page, place, typed) {
  await pane(page, "Rules");
  await page.locator('.cm-content[aria-label="Rules"]').focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+f");
  const field = page.getByRole("textbox", { name: "Find", exact: true });
  await field.press("Control+a");
  await field.pressSequentially(place);
  await field.press("Enter");
  await page.locator(".cm-searchMatch-selected").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.type(typed);
}

async function showTotals(page) {
  await pane(page, "Totals");
  const totals = page.getByRole("button", { name: "Totals", exact: true });
  if ((await totals.getAttribute("aria-expanded")) === "false") await totals.click();
}

/** What a person does to come to each view, from the page as it opens. */
const VIEWS = {
  start: async () => undefined,
  rules: async (page) => pane(page, "Rules"),
  error: async (page) => {
    await pane(page, "Rules");
    const editor = page.locator('.cm-content[aria-label="Rules"]');
    await editor.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" x");
    await page
      .getByText(/not JSON/)
      .first()
      .waitFor();
  },
  findings: async (page) => {
    await openDeadRules(page);
    await page.getByRole("button", { name: /"web servers" is never hit/ }).click();
    await page.getByText(/No frame hits this rule:/).waitFor();
  },
  compare: async (page) => {
    await openDeadRules(page);
    await act(page, "Compare with the rules as opened");
    await edit(page, '"outer.tcp_dport": "1024', "9");
    await showTotals(page);
    await button(page, "Add this frame").waitFor();
  },
  compareAdded: async (page) => {
    await VIEWS.compare(page);
    await button(page, "Add this frame").click();
    await page
      .getByRole("table", { name: /before and after/ })
      .first()
      .scrollIntoViewIfNeeded();
  },
  alike: async (page) => {
    await openDeadRules(page);
    await act(page, "Compare with the rules as opened");
    await edit(page, '"title": "', "Other ");
    await showTotals(page);
    await page.getByText("Equivalent for all frames: proved").first().waitFor();
  },
  way: async (page) => {
    await pane(page, "Path");
    await button(page, "More").click();
  },
  capture: async (page) => {
    await pane(page, "Frames");
    const chooser = page.waitForEvent("filechooser");
    await button(page, "Open capture").click();
    await (await chooser).setFiles(join(root, "examples/everyday.pcap"));
    await page
      .getByText(/everyday\.pcap/)
      .first()
      .waitFor();
  },
  builder: async (page) => {
    await pane(page, "Frames");
    await button(page, "Build packet").click();
  },
  totals: async (page) => {
    await page.keyboard.press("t");
  },
  share: async (page) => act(page, "Share a link"),
  takeAway: async (page) => act(page, "Export"),
  palette: async (page) => page.keyboard.press("Control+k"),
  keys: async (page) => act(page, "List keys"),
  tour: async (page) => act(page, "Start the tour"),
};

const wished = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const found = await findBrowser();
if (found === undefined) throw new Error("no browser: set CHROME_PATH or install Chromium");
const server = await servePage(join(root, "dist/playground"), new Map(), 0);
const browser = await chromium.launch(launchOptions(found));
for (const [view, go] of Object.entries(VIEWS)) {
  if (wished.length > 0 && !wished.includes(view)) continue;
  for (const [width, height] of SIZES) {
    for (const theme of ["light", "dark"]) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        hasTouch: width < 800,
      });
      const page = await context.newPage();
      await page.goto(server.url);
      await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
      await page.mouse.move(width / 2, height / 2);
      await page.waitForLoadState("networkidle");
      try {
        await go(page);
        await page.waitForTimeout(400);
      } catch (error) {
        console.error(`${view} at ${width}: ${error.message.split("\n")[0]}`);
      }
      await page.screenshot({ path: join(folder, `${view}-${width}-${theme}.png`) });
      await context.close();
    }
  }
}
await browser.close();
await server.close();
