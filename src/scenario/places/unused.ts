/** Objects of a document that no other object names. */
import type { Scenario } from "../document.js";
import { checkNames } from "../names.js";
import type { NamedInDocument } from "./places.js";

/** Lists whose objects a device does not count, and the kind of their objects. */
const KINDS = {
  actions: "action",
  tirs: "TIR",
  rqts: "RQT",
  indirectionTables: "indirection table",
  flowActions: "flow action",
  steeringAnchors: "steering anchor",
} as const satisfies Partial<Record<keyof Scenario, string>>;

/** The objects that a document names nowhere but where it defines them. Expectations do not count. */
export function unusedObjects(scenario: Scenario): NamedInDocument[] {
  const rest = { ...scenario };
  delete rest.expect;
  const used = new Set<string>();
  checkNames(
    "unusedObjects",
    rest,
    () => undefined,
    (kind, name) => used.add(`${kind} ${name}`),
  );
  return Object.entries(KINDS).flatMap(([section, kind]) => {
    const list = scenario[section as keyof typeof KINDS] ?? [];
    return list.flatMap(({ name }) => (used.has(`${section} ${name}`) ? [] : [{ kind, name }]));
  });
}

/** The queues that send frames or messages of the document. */
export function sendingQueues({ frames = [], messages = [] }: Scenario): ReadonlySet<string> {
  return new Set([...frames.flatMap(({ send }) => send ?? []), ...messages.map(({ queue }) => queue)]);
}
