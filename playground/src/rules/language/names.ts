/** Names in documents: where a path asks for the name of an object, and which objects have one. */
import { findNodeAtLocation, type Node } from "jsonc-parser";

type Section = string;

const RULES: readonly Section[] = ["rules", "flows", "flowEntries", "deviceFlows", "hostRules"];

/**
 * Paths whose values are names of objects, and the sections of those. A star is any key or index; two
 * stars are any number of them.
 */
const PLACES: readonly (readonly [path: string, sections: readonly Section[]])[] = [
  ["rules.*.matcher", ["matchers"]],
  ["rules.*.table", ["tables"]],
  ["matchers.*.table", ["tables"]],
  ["flowEntries.*.table", ["flowTables"]],
  ["flowEntries.*.actions.*.table", ["flowTables"]],
  ["flowEntries.*.actions.*.anchor", ["steeringAnchors"]],
  ["flowTables.*.table_miss", ["flowTables"]],
  ["deviceFlows.*.actions.*.table", ["flowTables"]],
  ["deviceFlows.*.actions.*.ibv_counter", ["flowCounters"]],
  ["deviceFlows.*.actions.*.action", ["flowActions"]],
  ["flows.*.queue", ["queues"]],
  ["flows.*.specs.*.count", ["flowCounters"]],
  ["flows.*.specs.*.action", ["flowActions"]],
  ["frames.*.send", ["queues"]],
  ["frames.*.before.*.modify_flow_meter", ["actions"]],
  ["frames.*.before.*.modify_aso_object", ["asoObjects"]],
  // The number of a queue of the host.
  ["hostRules.*.action.queue", []],
  ["queues.*.peer", ["queues"]],
  ["queues.*.rwq_ind_tbl", ["indirectionTables"]],
  ["indirectionTables.*.ind_tbl.*", ["queues"]],
  ["rqts.*.queues.*", ["queues"]],
  ["tirs.*.queue", ["queues"]],
  ["tirs.*.rqt", ["rqts"]],
  ["expect.frames.*.frame", ["frames"]],
  ["expect.messages.*.message", ["messages"]],
  ["expect.frames.*.rules.*", RULES],
  ["expect.frames.*.to.*", ["queues"]],
  ["expect.frames.*.copies.*", ["queues"]],
  ["**.aso.object", ["asoObjects"]],
  ["**.flow_meter.next_table", ["tables"]],
  ["**.flow_sampler.default_next_table", ["tables"]],
  ["**.array.*.reformat", ["actions"]],
  // Actions of rules, of arrays and of samplers.
  ["**.queue", ["queues"]],
  ["**.tir", ["tirs"]],
  ["**.table", ["tables"]],
  ["**.count", ["counters"]],
  ["**.action", ["actions"]],
];

/** Keys of `expect` that are names. */
const KEYS: readonly (readonly [path: string, sections: readonly Section[]])[] = [
  ["expect.counters.*", ["counters"]],
  ["expect.flowCounters.*", ["flowCounters"]],
  ["expect.asoObjects.*", ["asoObjects"]],
  ["expect.totals.rules.*", RULES],
  ["expect.totals.to.*", ["queues"]],
  ["expect.totals.copies.*", ["queues"]],
];

export interface Named {
  readonly name: string;
  /** `queues[0]`. */
  readonly path: string;
  readonly section: Section;
  readonly about: string | null;
  readonly type: string | null;
}

/** The sections whose names the value at a path can have; null where it is no name. */
export function sectionsAt(path: readonly (string | number)[]): readonly Section[] | null {
  return PLACES.find(([pattern]) => fits(pattern.split("."), path))?.[1] ?? null;
}

/** The sections whose names the key at a path can be. */
export function sectionsOfKey(path: readonly (string | number)[]): readonly Section[] | null {
  return KEYS.find(([pattern]) => fits(pattern.split("."), path))?.[1] ?? null;
}

function fits(pattern: readonly string[], path: readonly (string | number)[]): boolean {
  if (pattern[0] === "**") {
    const rest = pattern.slice(1);
    return path.length > rest.length && fits(rest, path.slice(path.length - rest.length));
  }
  return pattern.length === path.length && pattern.every((step, i) => step === "*" || step === path[i]);
}

/** Expectations name queues as destinations: `qp:web`. */
const DESTINATIONS = /^expect\.(?:frames\.\d+|totals)\.(?:to|copies)\./;

/** The names that can stand at a path, as they are written there. */
export function namesAt(
  root: Node | undefined,
  path: readonly (string | number)[],
  sections: readonly Section[],
): Named[] {
  const names = namedIn(root, sections);
  if (!DESTINATIONS.test(path.join("."))) return names;
  return names.map((one) => ({ ...one, name: `${one.type === "wq" ? "wq" : "qp"}:${one.name}` }));
}

/** The objects of sections that have names, in the order of the document. */
function namedIn(root: Node | undefined, sections: readonly Section[]): Named[] {
  if (root === undefined) return [];
  return sections.flatMap((section) =>
    (findNodeAtLocation(root, [section])?.children ?? []).flatMap((item, i): Named[] => {
      const name = textAt(item, "name");
      return name === null
        ? []
        : [{ name, path: `${section}[${i}]`, section, about: textAt(item, "description"), type: textAt(item, "type") }];
    }),
  );
}

function textAt(node: Node, key: string): string | null {
  const value: unknown = node.type === "object" ? findNodeAtLocation(node, [key])?.value : null;
  return typeof value === "string" ? value : null;
}
