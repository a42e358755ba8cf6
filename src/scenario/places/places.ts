/** Where the objects of a scenario document stand in its text. */
import { JsonError, readJson, type JsonNode } from "../../base/json.js";
import type { Scenario } from "../document.js";
import { flowName, hostRuleName } from "../names.js";
import { below } from "../schema/path.js";
import { edited, nodeAt, removal } from "./edits.js";

/** A place in a document. */
export interface DocumentPlace {
  /** As refusals name it: "rules[3].match". */
  readonly path: string;
  /** The JSON Pointer (RFC 6901): "/rules/3/match". */
  readonly pointer: string;
  /** Of its first character, from 1. */
  readonly line: number;
  readonly column: number;
}

/** The keys from the document down to a value. */
export type DocumentKeys = readonly (string | number)[];

/** An object of the document, by kind and name, as findings name it. */
export interface NamedInDocument {
  readonly kind: string;
  readonly name: string;
}

/** A repair of a finding, as `lint` of `flowsteer/explain` has it. */
export interface DocumentFix {
  readonly kind: "remove" | "set";
  readonly object: NamedInDocument;
  /** For "set": what is set, and null for a value that is left out. */
  readonly field?: string;
  readonly value?: string | null;
}

/** The lists of the document that hold objects of a kind. */
const SECTIONS: Readonly<Record<string, readonly (keyof Scenario)[]>> = {
  rule: ["rules"],
  flow: ["flows", "deviceFlows"],
  "host rule": ["hostRules"],
  entry: ["flowEntries"],
  table: ["tables"],
  matcher: ["matchers"],
  action: ["actions"],
  counter: ["counters"],
  "flow counter": ["flowCounters"],
  "ASO object": ["asoObjects"],
  queue: ["queues"],
  TIR: ["tirs"],
  RQT: ["rqts"],
  "indirection table": ["indirectionTables"],
  "flow action": ["flowActions"],
  "flow table": ["flowTables"],
  "steering anchor": ["steeringAnchors"],
};

/** Finds places in a document that was read without refusals. */
export class DocumentPlaces {
  readonly text: string;
  readonly #objects: DocumentObjects;
  readonly #root: JsonNode;

  /** @param text the text that `scenario` was read from */
  constructor(text: string, scenario: Scenario) {
    this.text = text;
    this.#objects = new DocumentObjects(scenario);
    this.#root = readJson(text);
  }

  /** The place of a value, or of the nearest value around it. */
  at(keys: DocumentKeys): DocumentPlace {
    let length = keys.length;
    while (length > 0 && nodeAt(this.#root, keys.slice(0, length)) === undefined) length--;
    return placeOf(this.#root, keys.slice(0, length));
  }

  /** The keys of an object, and of one of its fields where the document writes that; null for no object of the document. */
  keysOf(object: NamedInDocument, field: string | null = null): DocumentKeys | null {
    const keys = this.#objects.keysOf(object);
    if (keys === null || field === null) return keys;
    const within = [
      [field],
      ["match", field],
      ["mask", field],
      ...this.#specs(keys).map((n) => ["specs", n, ...field.split(".")]),
    ];
    const found = within.find((inner) => nodeAt(this.#root, [...keys, ...inner]) !== undefined);
    return found === undefined ? keys : [...keys, ...found];
  }

  /** The keys of the value that a repair takes away; null for a repair that sets one, and for none. */
  removedBy(fix: DocumentFix | null): DocumentKeys | null {
    const keys = fix === null ? null : this.keysOf(fix.object);
    if (fix === null || keys === null || fix.kind === "remove") return keys;
    return fix.value === null && fix.field !== undefined ? [...keys, fix.field] : null;
  }

  #specs(keys: DocumentKeys): number[] {
    const specs = nodeAt(this.#root, [...keys, "specs"]);
    return specs?.kind === "array" ? [...specs.items.keys()] : [];
  }
}

/** The keys of the objects of a document. */
export class DocumentObjects {
  readonly #scenario: Scenario;
  /** The index of each name in a section, the first one. */
  readonly #indices = new Map<string, ReadonlyMap<string, number>>();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  /** Null for no object of the document. */
  keysOf({ kind, name }: NamedInDocument): DocumentKeys | null {
    if (kind === "vport" || kind === "device" || kind === "domain") return ["device"];
    // Identical flows, and rules of a root table, are one rule of the device.
    const names = kind === "flow" || kind === "rule" ? [name, ...name.split(" = ")] : [name];
    for (const section of SECTIONS[kind] ?? []) {
      const list = (this.#scenario[section] ?? []) as readonly { readonly name?: string }[];
      const index = this.#firstOf(section, names, () => list.map((one, i) => nameOf(section, one, i)));
      if (index !== undefined) return [section, index];
    }
    return kind === "matcher" ? this.#impliedMatcher(name) : null;
  }

  /** The first rule of a matcher that rules with a table and a priority imply. */
  #impliedMatcher(name: string): DocumentKeys | null {
    const index = this.#firstOf("matchers of rules", [name], () =>
      (this.#scenario.rules ?? []).map(({ table, priority = 0 }) => `${table ?? ""} at priority ${priority}`),
    );
    return index === undefined ? null : ["rules", index];
  }

  #firstOf(list: string, names: readonly string[], all: () => readonly string[]): number | undefined {
    let indices = this.#indices.get(list);
    // Of equal names the last one of a map counts.
    if (indices === undefined) {
      const named = all().map((name, i) => [name, i] as const);
      this.#indices.set(list, (indices = new Map(named.reverse())));
    }
    const found = names.flatMap((name) => indices.get(name) ?? []);
    return found.length === 0 ? undefined : Math.min(...found);
  }
}

function nameOf(section: keyof Scenario, one: { readonly name?: string }, i: number): string {
  if (section === "flows") return flowName(one as NonNullable<Scenario["flows"]>[number], i);
  if (section === "hostRules") return hostRuleName(one as NonNullable<Scenario["hostRules"]>[number], i);
  return one.name ?? "";
}

/** The place of a refusal's path in a text; null where the text is not JSON. */
export function placeOfPath(text: string, path: string): DocumentPlace | null {
  try {
    const root = readJson(text);
    return placeOf(root, keysOfPath(root, path));
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}

/** The keys of a path as `below` makes it, as far as the document has them. */
function keysOfPath(node: JsonNode, path: string): DocumentKeys {
  let best: DocumentKeys = [];
  if (path === "") return best;
  for (const [key, one] of childrenOf(node)) {
    const step = below("", key);
    const rest = path.startsWith(`.${step}`)
      ? path.slice(step.length + 1)
      : path.startsWith(step)
        ? path.slice(step.length)
        : null;
    if (rest === null || !/^([.[ ]|$)/.test(rest)) continue;
    const found = [key, ...keysOfPath(one, rest)];
    if (found.length > best.length) best = found;
  }
  return best;
}

function childrenOf(node: JsonNode): (readonly [key: string | number, value: JsonNode])[] {
  if (node.kind === "array") return [...node.items.entries()];
  return node.kind === "object" ? node.entries.map(([{ text }, value]) => [text, value]) : [];
}

function placeOf(root: JsonNode, keys: DocumentKeys): DocumentPlace {
  const { line, column } = (nodeAt(root, keys) ?? root).place;
  return {
    path: keys.reduce<string>((path, key) => below(path, key), ""),
    pointer: keys.map((key) => `/${String(key).replace(/~/g, "~0").replace(/\//g, "~1")}`).join(""),
    line,
    column,
  };
}

/** The text without these values, each removed with its comma. Formatting of the rest stays. */
export function withoutValues(text: string, values: readonly DocumentKeys[]): string {
  // Later elements of a list go first, so that the numbers of earlier ones stay.
  const last = [...values].sort((a, b) => compareKeys(b, a));
  return last.reduce((rest, keys) => {
    const edit = removal(readJson(rest), keys);
    return edit === null ? rest : edited(rest, edit);
  }, text);
}

function compareKeys(a: DocumentKeys, b: DocumentKeys): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] as string | number, b[i] as string | number];
    if (x !== y) return typeof x === "number" && typeof y === "number" ? x - y : String(x) < String(y) ? -1 : 1;
  }
  return a.length - b.length;
}
