/** What axe-core finds in a page. */
import axeCore from "axe-core";
import type { Page } from "playwright-core";

/** The script of axe-core, for `OpenOptions.script`. */
export const AXE = axeCore.source;

/** The violations in the page as it is, one line for each element. */
export async function violations(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof axeCore };
    const found = await axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, failureSummary = "" }) => `${id}: ${target.join(" ")}: ${failureSummary.replace(/\s+/g, " ")}`,
      ),
    );
  });
}
