/** Rules for the totals, and what the page says of them. */
import type { Locator, Page } from "playwright-core";

interface Rule {
  readonly name: string;
  readonly port: number;
  readonly queue: string;
}

export const WEB: Rule = { name: "web", port: 443, queue: "web" };
export const MAIL: Rule = { name: "mail", port: 25, queue: "mail" };
export const TELNET: Rule = { name: "telnet", port: 23, queue: "web" };

/** Rules on TCP ports, and a frame to each of some ports. */
export function rulesOn(rules: readonly Rule[], ports: readonly number[], more: object = {}): string {
  return JSON.stringify({
    flowsteer: 1,
    queues: [{ name: "web" }, { name: "mail" }],
    tables: [{ name: "root", level: 0 }],
    rules: rules.map(({ name, port, queue }) => ({
      name,
      table: "root",
      match: { "outer.tcp_dport": port },
      actions: [{ queue }],
    })),
    frames: ports.map((destination_port) => ({
      headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port }],
    })),
    ...more,
  });
}

/** The button of a verdict in the strip. */
export function verdict(page: Page, name: string, frames: number): Locator {
  return page
    .getByRole("list", { name: "Frames by verdict" })
    .getByRole("button", { name: new RegExp(`^${name} ${frames} `) });
}

/** Opens the totals. */
export async function openTotals(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Totals", exact: true }).click();
  const totals = page.getByRole("region", { name: "All totals" });
  await totals.waitFor();
  return totals;
}
