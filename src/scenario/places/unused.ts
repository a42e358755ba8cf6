/** What a document says of faults that its device does not show: objects that nothing names, and queues that send. */
import { inCall } from "../../errors.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { Scenario } from "../document.js";
import type { LoadedScenario } from "../load.js";
import { checkNames } from "../names.js";

/** Lists whose objects a device does not count, and the kind of their objects. */
const KINDS = {
  actions: "action",
  tirs: "TIR",
  rqts: "RQT",
  indirectionTables: "indirection table",
  flowActions: "flow action",
  steeringAnchors: "steering anchor",
} as const satisfies Partial<Record<keyof Scenario, string>>;

/** A finding as `lint` of `flowsteer/explain` has them: an object that nothing names. */
export interface UnusedFinding {
  readonly id: "unused-action" | "unused-object";
  readonly severity: "note";
  readonly objects: readonly [UnusedObject];
  readonly field: null;
  readonly sentence: string;
  readonly witness: null;
  readonly proof: null;
  readonly fix: { readonly kind: "remove"; readonly object: UnusedObject; readonly sentence: string };
}

/** An object that nothing names. */
export interface UnusedObject {
  readonly kind: (typeof KINDS)[keyof typeof KINDS];
  readonly name: string;
}

/**
 * The objects that a document names nowhere but where it defines them, as findings to show beside those of `lint`, which
 * finds unused objects that a device counts. Expectations do not count.
 */
export function unusedFindings(scenario: Scenario): UnusedFinding[] {
  return unusedObjects(scenario).map((object) => {
    const { kind, name } = object;
    return {
      id: kind === "action" ? "unused-action" : "unused-object",
      severity: "note",
      objects: [object],
      field: null,
      sentence: `${kind.charAt(0).toUpperCase()}${kind.slice(1)} "${name}" has no use: nothing names it.`,
      witness: null,
      proof: null,
      fix: { kind: "remove", object, sentence: "Remove it." },
    };
  });
}

function unusedObjects(scenario: Scenario): UnusedObject[] {
  return inCall("unusedFindings", () => {
    const rest = { ...scenario };
    delete rest.expect;
    const used = new Set<string>();
    checkNames(
      rest,
      () => undefined,
      (kind, name) => used.add(`${kind} ${name}`),
    );
    return Object.entries(KINDS).flatMap(([section, kind]) => {
      const list = scenario[section as keyof typeof KINDS] ?? [];
      return list.flatMap(({ name }) => (used.has(`${section} ${name}`) ? [] : [{ kind, name }]));
    });
  });
}

/** The queues that send frames or messages of the document: the `senders` of `lint`. */
export function sendersOf({ scenario: { frames = [], messages = [] }, queues }: LoadedScenario): QueuePair[] {
  const names = new Set([...frames.flatMap(({ send }) => send ?? []), ...messages.map(({ queue }) => queue)]);
  return [...queues.values()].flatMap(({ name, queue }) => (names.has(name) && "qp_num" in queue ? [queue] : []));
}
