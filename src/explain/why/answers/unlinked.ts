/** Rules that a frame matches, in tables that nothing leads to: a group, chain or table that no rule jumps to. */
import type { Case } from "../case.js";
import type { Reason } from "../explanation.js";
import { tableText } from "../reasons/describe.js";
import { missSources } from "../reasons/reach.js";
import type { RuleNode } from "../rules.js";
import type { Visit } from "../walked.js";

/** Rules that are compared with the frame. */
const MAX_RULES = 10_000;

/** The first such rule, as the frame was when it came to its domain. */
export function unlinkedRule({ walked, rules, links }: Case, accepts: (node: RuleNode) => boolean): Reason[] {
  const entries = new Map<string, Visit>();
  for (const visit of walked.visits) {
    const { domain, vport } = visit.step.table;
    if (!entries.has(`${domain} ${vport}`)) entries.set(`${domain} ${vport}`, visit);
  }
  const visited = new Set(walked.visits.map(({ table }) => table));
  let left = MAX_RULES;
  for (const [address, { stage }] of walked.device.tables) {
    // Tables of a stage are entered without a rule.
    if (stage !== null || visited.has(address)) continue;
    const table = rules.tableRefOf(address);
    const entry = entries.get(`${table.domain} ${table.vport}`);
    if (entry === undefined || links.leadsTo("table", address).length > 0) continue;
    const own = rules.rulesOf(address).slice(0, left);
    left -= own.length;
    const node = own.find((one) => accepts(one) && rules.scoreAt(one, entry, 1) === 0);
    if (node === undefined || missSources(walked, address).length > 0) continue;
    const sentence = `${rules.textOf(node)} matches the frame, and no rule leads to its ${tableText(table)}`;
    return [{ kind: "not reached", sentence, table, leading: [] }];
  }
  return [];
}
