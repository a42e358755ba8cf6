/** Commands and listings of ethtool, read into a draft. */
import type { KernelDriver } from "../../../drivers/driver.js";
import { namesHint } from "../../../base/nearest.js";
import type { Draft } from "../../reading/draft.js";
import type { SourceElement } from "../../reading/finding.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { LastCommand } from "../../reading/lastCommand.js";
import { MatchDraft } from "../../rules/matchDraft.js";
import { numberOf } from "../../text/numbers.js";
import { commandsOf, type TextLine } from "../../text/lines.js";
import { attempt, notImported, type Place, type Word } from "../../text/refusal.js";
import { Cursor, setVariable, wordsOf, type Variables } from "../../text/words.js";
import { actionIn, listedAction, type Action, type Found } from "./actions.js";
import { readContext } from "./contexts.js";
import { ADDED, ASSIGNMENT, COMMAND, ENTRY, FAILED, FILTER, LISTED_BEFORE, RINGS, WITHIN } from "./lines.js";
import { DEFAULT_CONTEXT, Queues } from "./queues.js";
import { ask, factsOf, type Asked, type NtupleRule } from "./rule.js";
import { RuleWriter } from "./writer.js";
import { allBits, askType, FLOW_TYPES, RULE_FIELDS, valueOf, type FlowType, type RuleField } from "../fields.js";

/** ethtool prints the second one for Ethernet. */
const TYPE_NAMES = ["Rule Type", "Flow Type"];
const SET = ["-N", "-U", "--config-nfc", "--config-ntuple"];
const SHOW = ["-n", "-u", "--show-nfc", "--show-ntuple"];
const CONTEXT = ["-X", "--set-rxfh-indir", "--rxfh"];
const CHANNELS = ["-L", "--set-channels"];
/** The last place of a table of rules; drivers give places from here down. */
const LAST_LOC = 1023;
const QUEUE_OF_CONTEXT =
  "Linux refuses a queue other than 0 beside a context, unless the driver adds them up (EINVAL): it is imported without the queue";

interface Listed {
  readonly device: Word;
  readonly loc: number;
  readonly origin: SourceElement;
  readonly lines: [name: string, value: Word, mask: Word | undefined][];
}

export class EthtoolImport implements Importer {
  readonly #rules = new Map<string, Map<number, NtupleRule>>();
  readonly #queues = new Queues();
  #device: Word | undefined;
  #listed: Listed | undefined;
  readonly #last: LastCommand;
  /** A location that the last command does not say, and the finding about it. */
  #guess: { readonly own: Map<number, NtupleRule>; readonly loc: number; readonly finding: number } | undefined;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly driver: KernelDriver | null,
  ) {
    this.#last = new LastCommand(findings);
  }

  add(text: string): void {
    const variables: Variables = new Map(this.draft.variables);
    const isCommand = (line: string): boolean => {
      if (FAILED.test(line)) return false;
      return [COMMAND, ASSIGNMENT, FILTER, ENTRY, LISTED_BEFORE].some((one) => one.test(line));
    };
    const answers: Word[] = [];
    const commands = commandsOf(text, { isCommand, within: WITHIN }, (other) => {
      if (FAILED.test(other.text)) answers.push(other);
      else this.findings.assume(other.place, other.text, "neither a command nor a listing of ethtool: ignored");
    });
    const read = (line: TextLine): void => {
      if (LISTED_BEFORE.test(line.text)) {
        const [, loc] = ADDED.exec(line.text) ?? [];
        if (loc !== undefined) this.#added(Number(loc));
        const [, rings] = RINGS.exec(line.text) ?? [];
        if (rings !== undefined && this.#device !== undefined) this.#queues.setRings(this.#device.text, Number(rings));
        return;
      }
      if (ASSIGNMENT.test(line.text) && setVariable(line.text, variables)) return;
      this.#guard({ text: line.text, place: line.place(0) }, () => {
        if (FILTER.test(line.text) || ENTRY.test(line.text)) this.#entry(line.text, line.place(0));
        else {
          this.#endOfRule();
          this.draft.comesFrom(line.place(0), line.text);
          this.#last.begin();
          this.#guess = undefined;
          this.#command(wordsOf(line, variables));
        }
      });
    };
    let next = 0;
    for (const line of commands) {
      for (; (answers[next]?.place.line ?? Infinity) < line.place(0).line; next++)
        this.#last.failed(answers[next] as Word);
      read(line);
    }
    for (const answer of answers.slice(next)) this.#last.failed(answer);
    this.#last.end();
    this.#guess = undefined;
    this.#guard({ text: "", place: { line: 1, column: 1 } }, () => {
      this.#endOfRule();
    });
  }

  /** The location that the driver has chosen for the rule before. */
  #added(loc: number): void {
    const guess = this.#guess;
    this.#guess = undefined;
    this.#last.end();
    if (guess === undefined) return;
    const rule = guess.own.get(guess.loc) as NtupleRule;
    guess.own.delete(guess.loc);
    guess.own.set(loc, { ...rule, loc });
    this.findings.list.splice(guess.finding, 1);
  }

  #guard(whole: Word, read: () => void): void {
    attempt(read, ({ word, reason }) => this.findings.refuse(word.place, word.text || whole.text, reason));
  }

  #command(all: readonly Word[]): void {
    const words = new Cursor(all);
    const first = words.next("ethtool");
    const option = words.next("an option");
    if (SHOW.includes(option.text)) {
      this.#device = words.next("a device");
      if (words.peek() === "flow-type" || words.peek() === "delete")
        notImported(option, `${option.text} prints rules: -N sets them`);
      return;
    }
    if (SET.includes(option.text)) this.#set(words, first);
    else if (CONTEXT.includes(option.text)) this.#context(words, first);
    else if (CHANNELS.includes(option.text) && all.some(({ text }) => text === "combined")) this.#setChannels(words);
    else this.findings.assume(first.place, all.map(({ text }) => text).join(" "), "it sets no rule: ignored");
  }

  #setChannels(words: Cursor): void {
    const device = words.next("a device").text;
    while (!words.done) {
      const what = words.next("combined");
      const number = words.next("a number");
      if (what.text === "combined") this.#queues.setNumber(device, numberOf(number, "a number of queues", 16));
    }
  }

  #set(words: Cursor, first: Word): void {
    const device = words.next("a device").text;
    const what = words.next("flow-type, delete or rx-flow-hash");
    if (what.text === "delete") {
      const loc = numberOf(words.next("a location"), "a location", 32);
      const own = this.#rulesOf(device);
      const rule = own.get(loc);
      own.delete(loc);
      if (rule === undefined)
        this.findings.assume(what.place, `delete ${loc}`, `no rule before it has location ${loc}: ignored`);
      else this.#last.undo = () => own.set(loc, rule);
    } else if (what.text === "flow-type") this.#add(device, words, first);
    else if (what.text === "rx-flow-hash") {
      this.findings.assume(what.place, what.text, "contexts hash addresses, and the ports of TCP and UDP: left out");
    } else notImported(what, `"${what.text}" is none of flow-type, delete, rx-flow-hash`);
  }

  #add(device: string, words: Cursor, first: Word): void {
    const typeWord = words.next("a flow type");
    const type = FLOW_TYPES[typeWord.text];
    if (type === undefined)
      return notImported(typeWord, namesHint(typeWord.text, "flow types", Object.keys(FLOW_TYPES)));
    const match = new MatchDraft();
    askType(match, type);
    const found: Found = {};
    const values = new Map<string, { word: Word; value: bigint; mask: bigint }>();
    const given = new Set<string>();
    while (!words.done) {
      const word = words.next("a field");
      const key = word.text === "queue" ? "action" : word.text;
      if (given.has(key)) notImported(word, `a rule has one ${key}`);
      given.add(key);
      if (word.text === "action" || word.text === "queue") actionIn(words, found);
      else if (word.text === "loc") found.loc = numberOf(words.next("a location"), "a location", 32);
      else if (word.text === "context") {
        found.contextWord = words.next("a context");
        found.context = numberOf(found.contextWord, "a context", 32);
      } else if (word.text === "vf") {
        const vf = words.next("a VF");
        notImported(vf, "a rule of the host delivers to queues of the host, not to those of a VF");
      } else {
        const isMask = word.text.endsWith("-mask");
        const name = isMask ? word.text.slice(0, -5) : word.text;
        const field = RULE_FIELDS[name];
        if (field === undefined)
          notImported(word, namesHint(word.text, "fields", [...Object.keys(RULE_FIELDS), "action", "context", "loc"]));
        const read = valueOf(field, type, words.next("a value"), name);
        const before = values.get(name);
        const ignored = words.take("m") ? valueOf(field, type, words.next("a mask"), `the mask of ${name}`) : 0n;
        if (isMask) values.set(name, { word, value: before?.value ?? 0n, mask: allBits(field, type) & ~read });
        else values.set(name, { word, value: read, mask: before?.mask ?? allBits(field, type) & ~ignored });
      }
    }
    for (const [name, { word, value, mask }] of values)
      ask(match, RULE_FIELDS[name] as RuleField, type, value, mask, word);
    const compared = [...values].flatMap(([name, { mask }]) => (mask === 0n ? [] : [name]));
    this.#push(device, type, { match, compared }, found, first);
  }

  /** A line of a listing: `NAME: VALUE mask: MASK`. */
  #entry(text: string, place: Place): void {
    const [, name = "", value = ""] = /^([^:]+):([^]*)$/.exec(text) ?? [];
    const rest = value.trimStart();
    if (name === "Filter") {
      this.#endOfRule();
      const device = this.#device ?? { text: "eth0", place };
      if (this.#device === undefined) this.findings.assume(place, text, "no device named; eth0 assumed");
      this.#device = device;
      this.draft.comesFrom(place, text);
      const { origin } = this.draft;
      const loc = /^\d+$/.test(rest) ? Number(rest) : NaN;
      this.#listed = { device, loc, origin, lines: [["Filter", { text: rest, place }, undefined]] };
      return;
    }
    if (this.#listed === undefined)
      return notImported({ text, place }, "the line of its filter (Filter: N) is missing");
    const [given = "", mask] = rest.split(/\smask:\s/).map((one) => one.trim());
    this.#listed.lines.push([name, { text: given, place }, mask === undefined ? undefined : { text: mask, place }]);
  }

  /** Adds the rule whose lines have been read. @throws NotImported */
  #endOfRule(): void {
    const listed = this.#listed;
    this.#listed = undefined;
    if (listed === undefined) return;
    const { device, loc, lines, origin } = listed;
    this.draft.origin = origin;
    const word = lines[0]?.[1] as Word;
    const title = lines.find(([name]) => TYPE_NAMES.includes(name))?.[1].text;
    const type = Object.values(FLOW_TYPES).find((one) => one.title === title);
    if (type === undefined) return notImported(word, `its rule type is missing, or not known: ${title ?? ""}`);
    const match = new MatchDraft();
    askType(match, type);
    const compared: string[] = [];
    const found: Found = { loc };
    for (const [name, value, mask] of lines) {
      if (name === "Action") listedAction(value, found);
      else if (name === "RSS Context ID") {
        found.context = numberOf(value, "a context", 32);
        found.contextWord = value;
      } else if (name !== "Filter" && !TYPE_NAMES.includes(name)) {
        const [key = "", field] = Object.entries(RULE_FIELDS).find(([, { listed: of }]) => of === name) ?? [];
        if (field === undefined || mask === undefined) return notImported(value, `"${name}" is not a field of a rule`);
        const bits = allBits(field, type) & ~valueOf(field, type, mask, `the mask of ${name}`);
        const asked = valueOf(field, type, value, name);
        if (bits === 0n) continue;
        ask(match, field, type, asked, bits, value);
        compared.push(key);
      }
    }
    this.#push(device.text, type, { match, compared }, found, word);
  }

  #rulesOf(device: string): Map<number, NtupleRule> {
    const own = this.#rules.get(device) ?? new Map<number, NtupleRule>();
    this.#rules.set(device, own);
    return own;
  }

  /** The last location that is free, as rmgr_find_empty_slot of ethtool's rxclass.c looks for it. @throws NotImported */
  #freeLoc(device: string, own: ReadonlyMap<number, NtupleRule>, first: Word): number {
    let loc = LAST_LOC;
    while (own.has(loc)) loc--;
    if (loc < 0) notImported(first, `all ${LAST_LOC + 1} locations of ${device} are taken`);
    return loc;
  }

  #push(device: string, type: FlowType, { match, compared }: Asked, found: Found, first: Word): void {
    const own = this.#rulesOf(device);
    const loc = found.loc ?? this.#freeLoc(device, own, first);
    if (found.loc === undefined) {
      this.#guess = { own, loc, finding: this.findings.list.length };
      this.findings.assume(
        first.place,
        first.text,
        `without a loc ethtool takes the last location that is free, here ${loc}`,
      );
    }
    if (!Number.isInteger(loc) || loc > 65535) notImported(first, "a rule has a location up to 65535");
    const { queue = 0, context, contextWord = first } = found;
    if (this.driver !== null && context !== undefined && queue !== 0)
      this.findings.assume(contextWord.place, `context ${context}`, QUEUE_OF_CONTEXT);
    const action: Action =
      found.drop === true ? "drop" : context === undefined ? { queue } : { context, word: contextWord };
    const before = own.get(loc);
    this.#last.undo = () => (before === undefined ? own.delete(loc) : own.set(loc, before));
    // A listing has what commands before it have made.
    if (before !== undefined && first.text.endsWith("ethtool"))
      this.findings.assume(
        before.place,
        `loc ${loc}`,
        `line ${first.place.line} has the same location, and replaces it`,
      );
    own.delete(loc);
    const facts = factsOf(type, compared);
    const { origin } = this.draft;
    own.set(loc, { device, type, match, action, loc, facts, place: first.place, origin });
  }

  #context(words: Cursor, first: Word): void {
    const device = words.next("a device").text;
    const rest: Word[] = [];
    let id = DEFAULT_CONTEXT;
    let isDeleted = false;
    while (!words.done) {
      const word = words.next("a word");
      if (word.text === "context") {
        const which = words.next("new, or a number");
        id = which.text === "new" ? this.#queues.nextId(device) : numberOf(which, "a context", 32);
        if (which.text === "new")
          this.findings.assume(which.place, "context new", `the new context of ${device} is ${id}`);
      } else if (word.text === "delete" || word.text === "default") isDeleted = true;
      else rest.push(word);
    }
    const known = this.#queues.of(device, id);
    const says = rest.some(({ text }) => text === "equal" || text === "weight");
    if (id === DEFAULT_CONTEXT && known === undefined && !says && !isDeleted) {
      this.findings.assume(first.place, first.text, "the number of queues is not given: ignored");
      return;
    }
    const before = this.#queues.set(device, id);
    this.#last.undo = () => this.#queues.put(device, id, before);
    if (id === DEFAULT_CONTEXT) this.#rulesOf(device);
    this.#queues.put(device, id, isDeleted ? undefined : readContext(new Cursor(rest), first, known));
  }

  finish(): void {
    new RuleWriter(this.draft, this.findings, this.driver, this.#queues).write(this.#rules);
  }
}
