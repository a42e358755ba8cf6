/** Commands and listings of `ip xfrm`, read into a draft. */
import { namesHint } from "../../../base/nearest.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { LastCommand } from "../../reading/lastCommand.js";
import { commandsOf, commandWithin, TextLine, type OtherLine } from "../../text/lines.js";
import { attempt, notImported, type Word } from "../../text/refusal.js";
import { Cursor, setVariable, wordsOf, type Variables } from "../../text/words.js";
import { Plan } from "./plan.js";
import { HEAD, isDetail, kindOf, turned } from "./listing.js";
import { newPolicy, readPolicy, type XfrmPolicy } from "./policy.js";
import { selectorKey } from "./selector.js";
import { newState, readState, type XfrmState } from "./state.js";
import { shown, shownRefusal } from "./words.js";

const OPTIONS = String.raw`(?:\s+-\S{1,20}(?:\s+(?!x)\S{1,60})?){0,4}`;
export const COMMAND = new RegExp(String.raw`^(?:[\w./-]*/)?ip${OPTIONS}\s+x(?:f|fr|frm)?\s+(?:s|p)[a-z]{0,5}(?=\s|$)`);
const WITHIN = commandWithin(/(?<![\w-])ip(?:\s+-\S{1,20}){0,4}\s+x(?:frm)?\s+(?:state|policy|s|p)\s/);
const ASSIGNMENT = /^(?:export\s+|local\s+|readonly\s+)?[A-Za-z_]\w*=/;
/** What `ip` prints where the kernel does not execute a command. */
const FAILED = /^(?:RTNETLINK answers: (?!Success)|Error: |Cannot |Failed to |Command "|Error, )/;

const VERBS = ["add", "update", "delete", "deleteall", "flush", "list", "show", "get", "count", "monitor"];
const NO_COMMAND = "neither a command nor a listing of ip xfrm: ignored";

interface Listing {
  readonly first: Word;
  readonly lines: Word[][];
}

export class XfrmImport implements Importer {
  /** By what the kernel finds them by. */
  readonly #states = new Map<string, XfrmState>();
  readonly #policies = new Map<string, XfrmPolicy>();
  /** Keys of policies by their indexes. */
  readonly #indexes = new Map<number, string>();
  #number = 0;
  readonly #last: LastCommand;
  #listing: Listing | undefined;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {
    this.#last = new LastCommand(findings);
  }

  add(text: string): void {
    const variables: Variables = new Map(this.draft.variables);
    const others: OtherLine[] = [];
    const isCommand = (line: string): boolean => COMMAND.test(line) || HEAD.test(line) || ASSIGNMENT.test(line);
    const commands = commandsOf(text, { isCommand, within: WITHIN }, (other) => others.push(other));
    const steps = [
      ...commands.map((line) => ({ place: line.place(0), line, other: undefined })),
      ...others.map((other) => ({ place: other.place, line: undefined, other })),
    ].sort((a, b) => a.place.line - b.place.line);
    for (const { line, other } of steps) {
      if (line === undefined) this.#other(other);
      else if (!ASSIGNMENT.test(line.text) || !setVariable(line.text, variables)) this.#line(line, variables);
    }
    this.#endOfListing();
    this.#last.end();
  }

  finish(): void {
    new Plan(this.draft, this.findings).write([...this.#states.values()], [...this.#policies.values()]);
  }

  #line(line: TextLine, variables: Variables): void {
    this.#endOfListing();
    const words = wordsOf(line, variables);
    const [first] = words;
    if (first === undefined) return;
    this.draft.comesFrom(first.place, shown(line.text));
    if (HEAD.test(line.text)) this.#listing = { first, lines: [words] };
    else {
      this.#last.begin();
      this.#guard(first, () => {
        this.#command(new Cursor(words), first);
      });
    }
  }

  /** A line of a listing, an answer, or another one. */
  #other({ text, place }: OtherLine): void {
    const [marks = ""] = /^(?:[>|+]\s*)+/.exec(text) ?? [];
    const body = text.slice(marks.length);
    if (FAILED.test(body)) this.#last.failed({ text: shown(body), place });
    else if (this.#listing !== undefined && isDetail(body)) {
      const { line, column } = place;
      this.#listing.lines.push(wordsOf(new TextLine(body, { line, column: column + marks.length })));
    } else {
      this.#endOfListing();
      if (/[\p{L}\d]/u.test(body)) this.findings.assume(place, shown(body), NO_COMMAND);
    }
  }

  #guard(whole: Word, read: () => void): void {
    attempt(read, (refused) => {
      const { word, reason } = shownRefusal(refused);
      this.findings.refuse(word.place, word.text || shown(whole.text), reason);
    });
  }

  /** Adds what the lines of a listing say. */
  #endOfListing(): void {
    const listing = this.#listing;
    this.#listing = undefined;
    if (listing === undefined) return;
    this.#last.end();
    const { first, lines } = listing;
    const kind = lines.map(kindOf).find((one) => one !== undefined);
    this.#guard({ text: "src", place: first.place }, () => {
      if (kind === undefined)
        return notImported({ text: "src", place: first.place }, "the lines of the state or the policy are missing");
      const words = new Cursor(lines.flatMap((line) => turned(line, kind)));
      if (kind === "state") this.#addState(words, first, true);
      // The kernel prints the newest one first.
      else this.#addPolicy(words, first, { isListed: true });
    });
  }

  #command(words: Cursor, first: Word): void {
    while (!/^x(?:f|fr|frm)?$/.test(words.peek() ?? "x")) words.next("xfrm");
    words.next("xfrm");
    const object = words.next("state or policy");
    const isState = "state".startsWith(object.text);
    if (!isState && !"policy".startsWith(object.text)) notImported(object, "ip xfrm has state and policy");
    if (words.done) return;
    const verb = words.next("add");
    const name = verb.text === "deleteall" ? verb.text : VERBS.find((one) => one.startsWith(verb.text));
    if (name === "add" || name === "update") {
      if (isState) this.#addState(words, first, name === "update");
      else this.#addPolicy(words, first, { isUpdate: name === "update" });
    } else if (name === "delete" || name === "deleteall" || name === "flush") this.#delete(isState, name, words, first);
    else if (/^(?:set|getd|setd|alloc)/.test(verb.text))
      this.findings.assume(verb.place, verb.text, "it only affects the host: ignored");
    else if (name === undefined)
      notImported(verb, `ip xfrm ${object.text} adds, updates and deletes; ${namesHint(verb.text, "commands", VERBS)}`);
  }

  #addState(words: Cursor, first: Word, replaces = false): void {
    const state = newState(this.draft.origin, first);
    readState(state, words);
    const key = stateKey(state);
    if (this.#states.has(key) && !replaces)
      notImported(
        { text: "state", place: first.place },
        "a state with this destination, SPI and protocol already exists",
      );
    this.#last.undo = undoOf(this.#states, [key]);
    this.#states.set(key, state);
  }

  #addPolicy(words: Cursor, first: Word, { isListed = false, isUpdate = false }): void {
    const number = this.#number++;
    const policy = newPolicy(this.draft.origin, first, isListed ? -number : number);
    readPolicy(policy, words);
    if (policy.direction === "" && !policy.isOfSocket)
      notImported({ text: "policy", place: first.place }, "its direction is missing: dir in, out or fwd");
    const own = policyKey(policy);
    // Policies of one selector differ in marks and the like.
    const key = this.#policies.has(own) && !isUpdate ? `${own} ${number}` : own;
    this.#last.undo = undoOf(this.#policies, [key]);
    this.#policies.set(key, policy);
    if (policy.index !== undefined) this.#indexes.set(policy.index, key);
  }

  #delete(isState: boolean, verb: string, words: Cursor, first: Word): void {
    if (isState) {
      const given = newState(this.draft.origin, first);
      readState(given, words);
      const isAll = given.src === undefined && given.dst === undefined;
      const keys =
        verb === "delete"
          ? [stateKey(given)]
          : [...this.#states].flatMap(([key, one]) => (isAll || hasEnds(one, given) ? [key] : []));
      this.#remove(this.#states, keys);
      return;
    }
    const given = newPolicy(this.draft.origin, first);
    readPolicy(given, words);
    const isAll = verb === "flush" || given.direction === "";
    const own = given.index === undefined ? policyKey(given) : (this.#indexes.get(given.index) ?? "");
    const keys =
      verb === "delete"
        ? [own]
        : [...this.#policies].flatMap(([key, { direction }]) => (isAll || direction === given.direction ? [key] : []));
    this.#remove(this.#policies, keys);
  }

  #remove<Item>(from: Map<string, Item>, keys: readonly string[]): void {
    this.#last.undo = undoOf(from, keys);
    for (const key of keys) from.delete(key);
  }
}

/** Gives keys of a map the values that they have now; those that come back are the last ones. */
function undoOf<Item>(map: Map<string, Item>, keys: readonly string[]): () => void {
  const before = keys.map((key) => [key, map.get(key)] as const);
  return () => {
    for (const [key, value] of before) {
      if (value === undefined) map.delete(key);
      else map.set(key, value);
    }
  };
}

const stateKey = ({ dst, spi, protocol }: XfrmState): string => [dst?.value ?? 0n, spi, protocol].join();
const policyKey = ({ direction, selector }: XfrmPolicy): string => `${direction} ${selectorKey(selector)}`;

function hasEnds(one: XfrmState, { src, dst }: XfrmState): boolean {
  return [
    [one.src, src],
    [one.dst, dst],
  ].every(([own, given]) => given === undefined || own?.value === given.value);
}
