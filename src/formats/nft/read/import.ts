/** Turns the ingress chains of nftables into tables of the eSwitch. */
import type { Draft, Endpoint } from "../../reading/draft.js";
import type { SourceElement } from "../../reading/finding.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { MatchDraft } from "../../rules/matchDraft.js";
import type { Step } from "../../tc/read/actions/steps.js";
import { Devices } from "../../tc/read/devices.js";
import type { Filter } from "../../tc/read/filter.js";
import { Plan } from "../../tc/read/plan.js";
import { attempt, NotImported, notImported, type Place, type Word } from "../../text/refusal.js";
import { FLOWTABLE, NOT_INGRESS, OBJECTS, OFFLOAD, refusalOf, STATEMENTS } from "./elements.js";
import type { Asked } from "../fields.js";
import { askMatch, objectOf, text, type Json } from "./expressions.js";
import { isListing, listedObjects } from "./listed.js";
import { keyOf, type Expression, type NftChain, type NftRule } from "./objects.js";
import { rulesetObjects } from "./ruleset.js";

/** A chain that is imported, and its rules in the order in which frames reach them. */
interface Chain {
  readonly device: Word;
  readonly policy: string;
  readonly origin: SourceElement;
  readonly filters: Filter[];
  /** Those of insert: the last one is the first of the chain. */
  readonly inserted: Filter[];
}

export class NftImport implements Importer {
  readonly #devices: Devices;
  readonly #plan: Plan;
  readonly #variables: ReadonlyMap<string, string>;
  readonly #chains = new Map<string, Chain>();
  readonly #broken = new Set<string>();
  /** Devices that have a chain. */
  readonly #taken = new Set<string>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {
    this.#variables = draft.variables;
    this.#devices = new Devices(draft, findings);
    this.#plan = new Plan(draft, findings, this.#devices);
  }

  add(source: string): void {
    const objects =
      /^\s*\{/.test(source) || isListing(source)
        ? listedObjects(source, this.findings)
        : rulesetObjects(source, this.findings, this.#variables);
    for (const object of objects) {
      if (object.kind === "chain") this.#chain(object);
      else if (object.kind === "rule") this.#rule(object);
      else this.findings.refuse(object.place, `flowtable ${object.name}`, FLOWTABLE);
    }
  }

  finish(): void {
    const filters = new Map<string, Filter[]>();
    for (const { device, policy, origin, filters: added, inserted } of this.#chains.values()) {
      const list = [...inserted.reverse(), ...added];
      if (policy === "drop") {
        this.draft.origin = origin;
        list.push(this.#filterOf(device, new MatchDraft(), DROP, device.place));
      }
      list.forEach((filter, n) => (filter.prio = n + 1));
      if (list.length > 0) filters.set(device.text, list);
    }
    this.#plan.build(filters, new Map());
  }

  #chain(chain: NftChain): void {
    const { family, hook, devices, policy, isOffloaded, place } = chain;
    if (chain.refused !== undefined) {
      const { word, reason } = chain.refused;
      this.findings.refuse(word.place, word.text, reason);
      this.#broken.add(keyOf(chain));
      return;
    }
    const before = this.#chains.get(keyOf(chain));
    if (before !== undefined && hook !== undefined) {
      if (hook !== "ingress" || before.policy !== policy || devices.join() !== before.device.text)
        this.findings.assume(
          place,
          `chain ${chain.chain}`,
          "the chain is already there, with another device or policy: ignored",
        );
      return;
    }
    if (family !== "netdev" || hook !== "ingress") return;
    const named = `chain ${chain.chain}`;
    const [device = "eth0", ...others] = devices;
    if (others.length > 0) {
      this.findings.refuse(place, named, "a chain with several devices is not imported: write one for each");
      return;
    }
    if (devices.length === 0) this.findings.assume(place, named, "no device named; eth0 assumed");
    if (this.#taken.has(device)) {
      this.findings.refuse(place, named, `another chain already has the frames of ${device}`);
      return;
    }
    if (isOffloaded !== true) this.findings.assume(place, named, isOffloaded === false ? NO_FLAG : FLAG_UNKNOWN);
    this.#taken.add(device);
    const word: Word = { text: device, place };
    const endpoint = attempt<Endpoint | undefined>(
      () => this.#devices.portOf(word),
      ({ reason }) => {
        this.findings.refuse(place, named, reason);
        this.#broken.add(keyOf(chain));
        return undefined;
      },
    );
    if (endpoint === undefined) return;
    this.draft.comesFrom(place, named);
    const { origin } = this.draft;
    this.#chains.set(keyOf(chain), { device: word, policy, origin, filters: [], inserted: [] });
  }

  #rule(rule: NftRule): void {
    const word: Word = { text: rule.name, place: rule.place };
    try {
      const chain = this.#chains.get(keyOf(rule));
      if (chain === undefined) return notImported(word, this.#broken.has(keyOf(rule)) ? BROKEN : NOT_INGRESS);
      if (rule.position === undefined) return notImported(word, PLACED);
      this.draft.comesFrom(rule.place, rule.text);
      const filter = this.#filter(rule.read(), chain.device, word);
      if (rule.position === "first") chain.inserted.push(filter);
      else chain.filters.push(filter);
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      const { text: element, place } = error.word;
      const what = rule.isNamedFirst && element !== word.text ? `${word.text}, ${element}` : element;
      this.findings.refuse(place, what, error.reason);
    }
  }

  #filter(expressions: readonly Expression[], device: Word, rule: Word): Filter {
    const asked: Asked = { match: new MatchDraft(), device: device.text, tagged: false };
    const steps: Step[] = [];
    for (const expression of expressions) {
      for (const [name, value] of Object.entries(objectOf(expression.json))) {
        if (name === "match") askMatch(asked, value ?? null, expression);
        else steps.push(...this.#step(name, value, expression));
      }
    }
    if (steps.length === 0) notImported(rule, "a rule without a verdict does nothing in a NIC");
    askTypes(asked);
    if (asked.match.contradicts) notImported(rule, "its matches contradict each other: no frame has them all");
    return this.#filterOf(device, asked.match, steps, rule.place);
  }

  #step(name: string, value: Json | undefined, word: Word): Step[] {
    const { dev, addr } = objectOf(value);
    const isForward = name === "fwd";
    const element = STATEMENTS[isForward ? `fwd to ${addr === undefined ? "a device" : "an address"}` : name];
    const named = { ...word, text: name };
    if (element === undefined) return notImported(named, OFFLOAD);
    if ("refused" in element) return notImported(named, element.refused);
    if (name === "counter") return [];
    if (name === "drop") return DROP;
    if (name === "accept") return [{ kind: "end", verdict: { kind: "pass" } }];
    const endpoint = this.#devices.portOf({ ...word, text: text(isForward ? dev : addr) });
    return [
      isForward
        ? { kind: "end", verdict: { kind: "redirect", to: { endpoint } } }
        : { kind: "mirror", to: { endpoint } },
    ];
  }

  #filterOf(device: Word, match: MatchDraft, steps: readonly Step[], place: Place): Filter {
    return {
      owner: device.text,
      chain: 0,
      prio: 0,
      handle: undefined,
      protocol: undefined,
      notImported: NOTHING,
      match: match.asked,
      // A list that grew keeps room for more.
      steps: [...steps],
      place,
      origin: this.draft.origin,
    };
  }
}

const NOTHING: readonly string[] = [];
const DROP: Step[] = [{ kind: "end", verdict: { kind: "drop" } }];
const FLAG_UNKNOWN = "the list does not show the flag offload: assumed";
const BROKEN = "its chain is not imported";
const NO_FLAG = "without the flag offload the kernel runs it: imported as if it had the flag";
const PLACED = refusalOf(OBJECTS, "rule with index, position or handle");

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
