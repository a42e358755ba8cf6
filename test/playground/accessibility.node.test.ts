/** Every view of the playground: axe-core finds nothing, and nothing is cut where the page is narrow or enlarged. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAIL, openTotals, rulesOn, verdict, WEB } from "./answers/support.js";
import { typeRules } from "./share/support/rules.js";
import { AXE, violations } from "./support/axe.js";
import { openPlayground, type Playground } from "./support/page.js";

const DEEP = process.env.FLOWSTEER_DEEP === "1";

let playground: Playground;
beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

/** A view, and how a person comes to it. */
interface View {
  readonly name: string;
  /** The tab that has it where the page is narrow. */
  readonly tab?: string;
  readonly open: (page: Page) => Promise<void>;
}

const VIEWS: readonly View[] = [
  { name: "the page as it opens", open: steered },
  {
    name: "totals",
    tab: "Totals",
    open: async (page) => {
      await steered(page);
      await openTotals(page);
    },
  },
  {
    name: "meters",
    tab: "Totals",
    open: async (page) => {
      const example = await readFile(new URL("../../examples/state-meter.json", import.meta.url), "utf8");
      await typeRules(page, JSON.stringify(JSON.parse(example)));
      await openTotals(page);
      await page.locator("canvas").first().waitFor();
    },
  },
  {
    name: "the path of a frame that missed, with the reason",
    tab: "Path",
    open: async (page) => {
      await selectFrame(page, "miss");
      await page.getByRole("treeitem").first().click();
      await page.getByRole("treeitem").nth(1).waitFor();
    },
  },
  {
    name: "a capture",
    open: async (page) => {
      await steered(page);
      const chosen = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Open capture" }).click();
      await (await chosen).setFiles(fileURLToPath(new URL("../../examples/everyday.pcap", import.meta.url)));
      await page.getByText("86 frames").first().waitFor();
      await page.getByRole("combobox", { name: "Filter frames" }).fill("verdict:");
      await page.getByRole("listbox", { name: "Suggestions" }).waitFor();
    },
  },
  {
    name: "the packet builder",
    open: async (page) => {
      await steered(page);
      await page.getByRole("button", { name: "Build packet" }).click();
      await page.getByRole("group", { name: "tcp, header 7" }).waitFor();
    },
  },
  {
    name: "the list of examples",
    tab: "Rules",
    open: async (page) => {
      await steered(page);
      await page.getByRole("button", { name: "Examples" }).click();
      await page.getByRole("option").first().waitFor();
    },
  },
  ...["Share", "Export"].map((name): View => ({
    name: `the dialog "${name}"`,
    open: async (page) => {
      await steered(page);
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor();
    },
  })),
  {
    name: "the packet builder, with a form of headers and the bytes",
    open: async (page) => {
      await steered(page);
      await page.getByRole("button", { name: "Build packet", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Build packet" });
      const line = dialog.getByRole("combobox", { name: "Packet notation" });
      await line.fill("eth / ipv4 dst 10.0.0.7 / udp dport 4789 / vxlan vni 5001");
      await dialog.getByRole("group", { name: "vxlan, header 4" }).waitFor();
    },
  },
  {
    name: "the page of measurements",
    open: async (page) => {
      await page.goto(new URL("speed.html", playground.url).href);
      await page.getByRole("button", { name: "Measure" }).waitFor();
    },
  },
  {
    name: "a lesson of the tour",
    tab: "Rules",
    open: async (page) => {
      await steered(page);
      await page.getByRole("button", { name: "Tour", exact: true }).click();
      await page.getByRole("button", { name: "Leave the tour" }).waitFor();
    },
  },
  ...(
    [
      ["search of actions", "ControlOrMeta+k"],
      ["list of keys", "?"],
      ["help", "F1"],
    ] as const
  ).map(([name, key]): View => ({
    name: `the ${name}`,
    open: async (page) => {
      await steered(page);
      await page.keyboard.press(key);
      await page.getByRole("dialog").waitFor();
    },
  })),
  {
    name: "refused rules",
    tab: "Rules",
    open: async (page) => {
      await steered(page);
      await typeRules(page, rulesOn([WEB], PORTS).replace("tcp_dport", "tcp_dprt"));
      await page.getByText("From the last rules without errors", { exact: true }).waitFor();
    },
  },
  {
    name: "the comparison, with a frame before and after",
    tab: "Totals",
    open: async (page) => {
      await typeRules(page, rulesOn([WEB, MAIL], PORTS));
      await verdict(page, "deliver", 4).waitFor();
      await openTotals(page);
      await page.getByRole("button", { name: "Pin these rules" }).first().click();
      await page.getByText("Every frame ends up where it did before.").waitFor();
      await typeRules(page, rulesOn([{ ...WEB, port: 80 }, MAIL], PORTS));
      await page.getByRole("list", { name: "Changes" }).getByRole("button").first().click();
      await page.getByRole("table", { name: "Frame 1 before and after" }).waitFor();
      await page.getByRole("list", { name: "Frames that are treated differently" }).waitFor();
    },
  },
];

const PORTS = [443, 443, 443, 25, 80];

/** Width, height, theme. */
const LOOKS = [
  [1440, 900, "light"],
  [390, 844, "dark"],
  [1440, 900, "dark"],
  [390, 844, "light"],
] as const;

/** The looks in which a view is examined: all of them, or in `npm test` one in turn. */
function looksOf(view: View): readonly (typeof LOOKS)[number][] {
  const at = VIEWS.indexOf(view);
  return LOOKS.filter((_, i) => DEEP || i === at % LOOKS.length);
}

/** Sizes in which the page must not scroll sideways. */
const NARROW = [
  ["1440 x 900 at 200 %", 720, 450],
  ["a narrow phone", 360, 780],
] as const;

test.each(VIEWS)("$name: axe-core finds nothing, and the page does not scroll sideways", async (view) => {
  const { open, tab } = view;
  const { page, context, faults } = await playground.open({ script: AXE });
  await open(page);
  for (const [width, height, colorScheme] of looksOf(view)) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await goTo(page, tab);
    expect(await violations(page), `${width} x ${height}, ${colorScheme}`).toEqual([]);
  }
  for (const [name, width, height] of NARROW) {
    await page.setViewportSize({ width, height });
    await goTo(page, tab);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(width);
    expect(await cut(page), name).toEqual([]);
  }
  expect(faults).toEqual([]);
  await context.close();
});

test("nothing moves where the system asks for that", async () => {
  const { page, context } = await playground.open({ context: { reducedMotion: "reduce" } });
  await steered(page);
  await openTotals(page);
  const moving = await page.evaluate(() =>
    [...document.querySelectorAll("*")].flatMap((element) => {
      const { transitionDuration, animationDuration } = getComputedStyle(element);
      const lasts = [transitionDuration, animationDuration].some((duration) => !/^(0s(, )?)+$/.test(duration));
      return lasts ? [element.outerHTML.slice(0, 80)] : [];
    }),
  );
  expect(moving).toEqual([]);
  await context.close();
});

/** Selects a tab, where the page has tabs. */
async function goTo(page: Page, tab: string | undefined): Promise<void> {
  if (tab === undefined) return;
  const there = page.getByRole("tab", { name: tab });
  const isNarrow = (page.viewportSize()?.width ?? 0) < 800;
  await there.waitFor({ state: isNarrow ? "visible" : "detached" });
  if (isNarrow) await there.click();
}

/** Controls that lie beyond the sides of the page, where no scrolling reaches them. */
async function cut(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isReached = (element: Element): boolean => {
      const box = element.getBoundingClientRect();
      if (box.width === 0 || (box.left >= -1 && box.right <= innerWidth + 1)) return true;
      for (let up = element.parentElement; up !== null; up = up.parentElement) {
        if (/auto|scroll/.test(getComputedStyle(up).overflowX) && up.scrollWidth > up.clientWidth) return true;
      }
      return false;
    };
    const controls = [...document.querySelectorAll("button, input, select, a, summary, [tabindex='0']")];
    return controls
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !isReached(one))
      .map(({ outerHTML }) => outerHTML.slice(0, 120));
  });
}

async function selectFrame(page: Page, verdictOfIt: string): Promise<void> {
  await steered(page);
  const tab = page.getByRole("tab", { name: "Frames" });
  if (await tab.isVisible()) await tab.click();
  await page.getByRole("grid", { name: "Frames" }).getByRole("row", { name: verdictOfIt }).first().click();
  await page.getByRole("tree", { name: "Headers" }).waitFor();
}

async function steered(page: Page): Promise<void> {
  await page.getByRole("list", { name: "Frames by verdict" }).waitFor();
}
