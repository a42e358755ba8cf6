/** Rule sets of nftables, as a format: the ingress chains that the kernel hands to a NIC. */
import type { Draft } from "../draft.js";
import type { Findings } from "../findings.js";
import type { Element, ElementGroups, Format, Importer } from "../format.js";
import { MatchDraft } from "../rules/matchDraft.js";
import { Devices } from "../tc/devices.js";
import type { Step } from "../tc/actions/steps.js";
import type { Filter } from "../tc/filter.js";
import { Plan } from "../tc/plan.js";
import { NotImported, notImported, type Place, type Word } from "../text/refusal.js";
import { askMatch, HEADERS, objectOf, text, type Asked, type Json } from "./expressions.js";

const OFFLOAD = "the kernel does not hand it to a NIC";
/** Statements of a rule. */
const STATEMENTS: Readonly<Record<string, Element>> = {
  counter: { becomes: "nothing: the device counts" },
  drop: { becomes: "drop" },
  accept: { becomes: "the frame goes to the PF, where the kernel is" },
  fwd: { becomes: "the port" },
  dup: { becomes: "a member of an array" },
  jump: { refused: OFFLOAD },
  goto: { refused: OFFLOAD },
  vmap: { refused: OFFLOAD },
  limit: { refused: OFFLOAD },
  mangle: { refused: OFFLOAD },
  log: { refused: OFFLOAD },
  queue: { refused: OFFLOAD },
  reject: { refused: OFFLOAD },
  flow: { refused: "connections come into a flowtable as the kernel sees them" },
};
const OBJECTS: Readonly<Record<string, Element>> = {
  "chain, hook ingress": { becomes: "the table of its device; a policy of drop is a last rule" },
  rule: { becomes: "a rule, in the order of the chain" },
  "rules of other chains": { refused: "only ingress chains of family netdev are handed to a NIC" },
  flowtable: { refused: "connections come into it as the kernel sees them" },
  "set, map, table, metainfo": { becomes: "nothing: rules that name a set are refused" },
};

class NftImport implements Importer {
  readonly #devices: Devices;
  readonly #plan: Plan;
  readonly #filters = new Map<string, Filter[]>();

  constructor(
    draft: Draft,
    private readonly findings: Findings,
  ) {
    this.#devices = new Devices(draft, findings);
    this.#plan = new Plan(draft, findings, this.#devices);
  }

  add(source: string): void {
    const from = Math.max(0, source.search(/\{\s*"nftables"/));
    const objects = this.#objects(source, from);
    const place = placesIn(source);
    const rulePlaces = [...source.matchAll(/\{\s*"rule"\s*:\s*\{/g)].map(({ index }) => place(index));
    const chains = new Map<string, { device: Word; policy: string }>();
    let n = 0;
    for (const object of objects) {
      const { add, insert, create } = objectOf(object);
      const { chain, rule, flowtable } = objectOf(add ?? insert ?? create ?? object);
      if (chain !== undefined) this.#chain(chain, chains, place(from));
      if (flowtable !== undefined) {
        const name = text(objectOf(flowtable)["name"]);
        this.findings.refuse(place(from), `flowtable ${name}`, "connections come into it as the kernel sees them");
      }
      if (rule !== undefined) this.#rule(rule, chains, rulePlaces[n++] ?? place(from));
    }
    for (const { device, policy } of chains.values())
      if (policy === "drop") this.#push(device, new MatchDraft(), DROP, device.place);
  }

  finish(): void {
    this.#plan.build(this.#filters, new Map());
  }

  #objects(source: string, from: number): readonly Json[] {
    try {
      const { nftables } = JSON.parse(source.slice(from, source.lastIndexOf("}") + 1)) as { nftables?: Json };
      if (Array.isArray(nftables)) return nftables as readonly Json[];
      this.findings.refuse({ line: 1, column: 1 }, "", "the list of nft -j list ruleset is missing: nftables");
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.findings.refuse({ line: 1, column: 1 }, "", `it is no JSON of nft -j list ruleset: ${error.message}`);
    }
    return [];
  }

  #chain(chain: Json, chains: Map<string, { device: Word; policy: string }>, place: Place): void {
    const { family, name, hook, dev, policy } = objectOf(chain);
    if (family !== "netdev" || hook !== "ingress") return;
    const [first = null, ...others] = (Array.isArray(dev) ? dev : [dev ?? null]) as Json[];
    const known = typeof first === "string" ? first : "eth0";
    if (others.length > 0) {
      this.findings.refuse(place, `chain ${text(name)}`, "a chain of several devices is not imported: one for each");
      return;
    }
    if (first !== known) this.findings.assume(place, `chain ${text(name)}`, "its device is not said: eth0");
    if ([...chains.values()].some(({ device }) => device.text === known)) {
      this.findings.refuse(place, `chain ${text(name)}`, `another chain has the frames of ${known} already`);
      return;
    }
    this.findings.assume(place, `chain ${text(name)}`, "the list does not say whether it has the flag offload: it has");
    chains.set(keyOf(chain, name), { device: { text: known, place }, policy: text(policy) });
  }

  #rule(rule: Json, chains: ReadonlyMap<string, { device: Word }>, place: Place): void {
    const { chain, handle, expr } = objectOf(rule);
    const word: Word = { text: `rule ${text(handle)} of ${text(chain)}`, place };
    try {
      const of = chains.get(keyOf(rule, chain));
      if (of === undefined) return notImported(word, "only ingress chains of family netdev are handed to a NIC");
      this.#filter(Array.isArray(expr) ? (expr as readonly Json[]) : [], of.device, word);
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      const what = error.word.text === word.text ? word.text : `${word.text}, ${error.word.text}`;
      this.findings.refuse(place, what, error.reason);
    }
  }

  #filter(expressions: readonly Json[], device: Word, word: Word): void {
    const asked: Asked = { match: new MatchDraft(), device: device.text, tagged: false };
    const steps: Step[] = [];
    for (const expression of expressions) {
      for (const [name, value] of Object.entries(objectOf(expression))) {
        if (name === "match") askMatch(asked, value ?? null, word);
        else steps.push(...this.#step(name, value, word));
      }
    }
    if (steps.length === 0) notImported(word, "a rule without a verdict does nothing in a NIC");
    askTypes(asked);
    if (asked.match.contradicts) notImported(word, "its matches contradict each other: no frame has them all");
    this.#push(device, asked.match, steps, word.place);
  }

  #step(name: string, value: Json | undefined, word: Word): Step[] {
    const element = STATEMENTS[name];
    const named = { ...word, text: name };
    if (element === undefined) return notImported(named, OFFLOAD);
    if ("refused" in element) return notImported(named, element.refused);
    if (name === "counter") return [];
    if (name === "drop") return DROP;
    if (name === "accept") return [{ kind: "end", verdict: { kind: "pass" } }];
    const { dev, addr } = objectOf(value);
    const endpoint = this.#devices.portOf({ ...word, text: text(name === "fwd" ? dev : addr) });
    return [
      name === "dup"
        ? { kind: "mirror", to: { endpoint } }
        : { kind: "end", verdict: { kind: "redirect", to: { endpoint } } },
    ];
  }

  #push(device: Word, match: MatchDraft, steps: readonly Step[], place: Place): void {
    this.#devices.portOf(device);
    const list = this.#filters.get(device.text) ?? [];
    this.#filters.set(device.text, list);
    const { file } = this.findings;
    const common = {
      owner: device.text,
      chain: 0,
      handle: undefined,
      protocol: undefined,
      notImported: [],
      file,
      place,
    };
    list.push({ ...common, prio: list.length + 1, match, steps });
  }
}

const DROP: Step[] = [{ kind: "end", verdict: { kind: "drop" } }];

function keyOf(object: Json, chain: Json | undefined): string {
  const { family, table } = objectOf(object);
  return [family, table, chain].map(text).join(" ");
}

/** Asks for the protocols that the fields of a rule belong to, and for the tags that frames have. */
function askTypes({ match, type, protocol, tagged }: Asked): void {
  if (protocol !== undefined) match.ask("outer.ip_protocol", protocol);
  if (tagged) {
    match.ask("outer.cvlan_tag", 1);
    if (type === undefined) return;
    match.ask("misc.outer_second_cvlan_tag", 0);
    match.ask("misc.outer_second_svlan_tag", 0);
  } else if (type !== undefined || protocol !== undefined) {
    match.ask("outer.cvlan_tag", 0);
    match.ask("outer.svlan_tag", 0);
  }
  if (type !== undefined) match.ask("outer.ethertype", type);
}

/** Line and column of each character. */
function placesIn(source: string): (at: number) => Place {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return (at) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: at - (starts[low] ?? 0) + 1 };
  };
}

const ELEMENTS: ElementGroups = {
  Objects: OBJECTS,
  Matches: Object.fromEntries(Object.entries(HEADERS).map(([name, { element }]) => [name, element])),
  "Other matches": {
    "sets, ranges, !=, <, >": { refused: "the kernel hands equal values to a NIC" },
    "all other fields: ttl, dscp, tcp flags, icmp type, ct, mark": { refused: OFFLOAD },
  },
  Statements: STATEMENTS,
};

export const NFT: Format = {
  title: "rule sets of nftables (nft -j list ruleset)",
  recognizes: (source) => /\{\s*"nftables"\s*:\s*\[/.test(source),
  importer: (draft, findings) => new NftImport(draft, findings),
  elements: ELEMENTS,
};
