/** The end of an import: the scenario loads. What the device refuses is refused as the element that it comes from. */
import type { SteeringError } from "../errors.js";
import type { Draft, ListKey } from "../formats/reading/draft.js";
import type { Findings } from "../formats/reading/findings.js";
import { checkScenario } from "../scenario/index.js";

/** Removing an object makes what depends on it fail in the next round. The limit bounds the length of such chains. */
const MAX_ROUNDS = 64;

/** Takes the objects out of a draft that no device has, with a finding each. */
export async function refuseWhatFails(draft: Draft, findings: Findings): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { refusals } = await checkScenario(draft.scenario());
    if (refusals.length === 0) return;
    // The profile is an argument of the import; no text says it.
    const profile = refusals.find(({ path }) => path === "device.profile");
    if (profile !== undefined) throw profile;
    const gone = new Map<ListKey, Set<object>>();
    for (const refusal of refusals) refuseOne(draft, findings, refusal, gone);
    if (gone.size === 0) break;
    for (const [key, items] of gone) draft.remove(key, items);
  }
}

function refuseOne(draft: Draft, findings: Findings, refusal: SteeringError, gone: Map<ListKey, Set<object>>): void {
  const [place = "", list = "", index = "0"] = /^(\w+)\[(\d+)\]\.?/.exec(refusal.path ?? "") ?? [];
  const items: readonly object[] | undefined = draft.list(list as ListKey);
  const item = items?.[Number(index)];
  const origin = item === undefined ? undefined : draft.originOf(item);
  if (item === undefined || origin === undefined) {
    // The scenario that is added to, or what all rules share: its device.
    findings.refuseAt({ file: findings.file, line: 1, column: 1 }, refusal.path ?? "", reasonOf(refusal, ""));
    return;
  }
  const of = gone.get(list as ListKey) ?? new Set();
  gone.set(list as ListKey, of);
  if (of.has(item)) return;
  of.add(item);
  const name = "name" in item && typeof item.name === "string" ? item.name : null;
  const text = origin.text === "" ? (name ?? place) : origin.text;
  findings.refuseAt(origin, text, reasonOf(refusal, place), list === "rules" ? name : null);
}

/** The sentence of a refusal, without the place in a document that the reader of a source does not see. */
function reasonOf({ message, call }: SteeringError, place: string): string {
  return `the device does not take it: ${message
    .slice(call.length + 1)
    .trim()
    .replace(place, "")}`;
}
