/**
 * Rule sets as text: what `nft list ruleset` prints, files for `nft -f`, and commands of `nft`.
 *
 *     table netdev filter {
 *       chain in {
 *         type filter hook ingress device "eth0" priority 0; policy accept; flags offload;
 *         ip saddr 10.0.0.1 drop
 *       }
 *     }
 *     nft add rule netdev filter in tcp dport 80 fwd to eth1
 */
import { namesHint } from "../../../base/nearest.js";
import type { Findings } from "../../reading/findings.js";
import { OBJECTS, refusalOf } from "./elements.js";
import { POLICY, type ChainName, type NftChain, type NftObject, type NftRule } from "./objects.js";
import { readRule } from "./ruleText.js";
import { tokensOf, type Token } from "./tokens.js";

const FAMILIES = ["ip", "ip6", "inet", "arp", "bridge", "netdev"];
const ADDING = ["add", "create", "insert", "replace"];
const TAKING = ["flush", "delete", "destroy", "reset"];
const SHOWING = ["list", "monitor", "describe", "export", "rename"];
const COMMANDS = ["table", ...ADDING, ...TAKING, ...SHOWING, "define", "redefine", "undefine", "include"];

export function isRuleset(source: string): boolean {
  return (
    /^[+>|]?[ \t]*table (?:netdev|inet|ip6?|arp|bridge)\s+\S+\s*\{/m.test(source) ||
    /\bnft\s{1,9}(?:-\S{1,80}\s{1,9}|['"]){0,9}(?:add|insert|create|replace|list|flush|delete)\s/.test(source) ||
    /^[ \t]*(?:add|insert|create) (?:table|chain|rule) netdev\s/m.test(source)
  );
}

/**
 * The objects of a text one by one: of 100,000 rules few are there at a time. A chain comes before its rules.
 * @param variables what `$NAME` is where the text does not define it
 */
export function rulesetObjects(
  source: string,
  findings: Findings,
  variables: ReadonlyMap<string, string> = new Map(),
): Iterable<NftObject> {
  return new Reader(source, findings, variables).read();
}

class Reader {
  readonly #tokens: readonly Token[];
  readonly #variables = new Map<string, readonly Token[]>();
  #hasObjects = false;
  #at = 0;

  constructor(
    private readonly source: string,
    private readonly findings: Findings,
    variables: ReadonlyMap<string, string>,
  ) {
    this.#tokens = tokensOf(source);
    for (const [name, value] of variables) this.#variables.set(name, tokensOf(value));
  }

  *read(): Generator<NftObject> {
    while (this.#peek() !== undefined) {
      for (const object of this.#command()) {
        this.#hasObjects = true;
        yield object;
      }
    }
  }

  *#command(): Generator<NftObject> {
    const word = this.#next();
    if (word === undefined || /^[\n;}]$/.test(word.text)) return;
    if (word.text === "nft") this.#options();
    else if (word.text === "table") yield* this.#table();
    else if (word.text === "define" || word.text === "redefine") this.#define(word);
    else if (ADDING.includes(word.text)) yield* this.#add(word);
    else if (TAKING.includes(word.text)) this.#taken(word);
    else if (word.text === "include") this.#refuse(word, this.#statement(), refusalOf(OBJECTS, "include"));
    else if (SHOWING.includes(word.text) || this.#isAlone(word)) this.#statement();
    else this.#refuse(word, this.#statement(), `not an nft command; ${namesHint(word.text, "commands", COMMANDS)}`);
  }

  /** The word that ends a text for `nft -f - <<WORD`. */
  #isAlone(word: Token): boolean {
    const next = this.#peek();
    return /^[A-Z]+$/.test(word.text) && (next === undefined || next === "\n");
  }

  /** `nft -a -f FILE`: the file is what the importer reads, if anybody gives it. */
  #options(): void {
    for (let option = this.#peek(); option?.startsWith("-") === true; option = this.#peek()) {
      this.#next();
      if (/^(?:-\w*f|--file)$/.test(option)) this.#statement();
    }
  }

  *#table(): Generator<NftObject> {
    const family = this.#family();
    const table = this.#next()?.text ?? "";
    if (!this.#take("{")) return;
    for (let word = this.#next(); word !== undefined && word.text !== "}"; word = this.#next()) {
      if (word.text === "\n" || word.text === ";") continue;
      const name = word.text === "chain" || word.text === "flowtable" ? (this.#next()?.text ?? "") : "";
      if (word.text === "chain") yield* this.#chain({ family, table, chain: name }, word);
      else {
        if (word.text === "flowtable") yield { kind: "flowtable", name, place: word.place };
        const rest = this.#statement();
        const isBlock = rest.some(({ text }) => text === "{");
        if (
          word.text !== "flowtable" &&
          (!IN_TABLES.includes(word.text) || (isBlock && STATEMENTS.includes(word.text)))
        )
          this.#refuse(word, rest, `not an object of a table; ${namesHint(word.text, "objects", IN_TABLES)}`);
      }
    }
  }

  /** The block of a chain: what it is, which may stand behind its rules, and then these. */
  *#chain(name: ChainName, { place }: Token): Generator<NftObject> {
    const from = this.#at;
    let chain: NftChain = {
      ...name,
      kind: "chain",
      hook: undefined,
      devices: [],
      policy: "accept",
      isOffloaded: false,
      place,
    };
    for (const statement of this.#block()) {
      const first = this.#firstOf(statement);
      if (!OF_CHAINS.includes(first)) continue;
      const texts = statement.flatMap((token) => this.#valueOf(token)).map(({ text }) => text);
      const unknown = unknownIn(statement);
      if (unknown !== undefined) chain = { ...chain, refused: unknown };
      if (first === "type" && chain.hook !== undefined)
        chain = { ...chain, refused: { word: statement[0] as Token, reason: "a chain has one type" } };
      else if (first === "type")
        chain = { ...chain, hook: texts[texts.indexOf("hook") + 1], devices: devicesOf(texts) };
      else if (first === "policy") chain = { ...chain, policy: texts[1] ?? "accept" };
      else if (first === "flags") chain = { ...chain, isOffloaded: texts.includes("offload") };
      else if (first === "devices") chain = { ...chain, devices: devicesOf(texts) };
    }
    yield chain;
    this.#at = from;
    for (const statement of this.#block()) {
      const first = this.#firstOf(statement);
      if (first !== "" && !OF_CHAINS.includes(first)) yield this.#rule(name, statement, "last");
    }
  }

  /** The statements of a block, if one comes. */
  *#block(): Generator<readonly Token[]> {
    if (this.#take("{")) while (this.#peek() !== undefined && !this.#take("}")) yield this.#statement();
  }

  /** The first word of a statement; "" without one. */
  #firstOf(statement: readonly Token[]): string {
    for (const token of statement) for (const { text } of this.#valueOf(token)) return text;
    return "";
  }

  *#add(verb: Token): Generator<NftObject> {
    const object = this.#next();
    if (object?.text === "table") yield* this.#table();
    else if (object?.text === "chain") {
      const name = this.#chainName();
      yield* this.#chain(name, verb);
    } else if (object?.text === "rule") {
      const name = this.#chainName();
      const rest = this.#statement();
      const isPlaced = ["position", "index", "handle"].includes(rest[0]?.text ?? "");
      const position = verb.text === "insert" ? "first" : "last";
      yield this.#rule(
        name,
        isPlaced ? rest.slice(2) : rest,
        isPlaced || verb.text === "replace" ? undefined : position,
      );
    } else if (object?.text === "flowtable") {
      this.#family();
      const [table, name] = [this.#next(), this.#next()];
      yield { kind: "flowtable", name: name?.text ?? table?.text ?? "", place: verb.place };
      this.#statement();
    } else {
      const rest = this.#statement();
      const known = [...OBJECTS_OF_TABLES, "element"];
      if (object === undefined || !known.includes(object.text))
        this.#refuse(
          verb,
          object === undefined ? rest : [object, ...rest],
          `not an nft object; ${namesHint(object?.text ?? "", "objects", ["table", "rule", ...known])}`,
        );
    }
  }

  #taken(word: Token): void {
    const rest = this.#statement();
    if (this.#hasObjects)
      this.#refuse(word, rest, "commands that remove rules are not followed: import what nft list prints");
  }

  #define(word: Token): void {
    const statement = this.#statement();
    const [name, , ...value] = statement;
    if (name === undefined) return;
    const known = value.flatMap((token) => this.#valueOf(token));
    if (known.length > MAX_WORDS) this.#refuse(word, statement, `a variable has ${MAX_WORDS} words at most`);
    else this.#variables.set(name.text, known);
  }

  #rule(name: ChainName, tokens: readonly Token[], position: NftRule["position"]): NftRule {
    const text = this.#textOf(tokens);
    const place = tokens[0]?.place ?? this.#tokens[this.#at - 1]?.place ?? { line: 1, column: 1 };
    return {
      ...name,
      kind: "rule",
      name: shown(text),
      text,
      isNamedFirst: false,
      position,
      read: () => readRule(tokens.flatMap((token) => this.#valueOf(token))),
      place,
    };
  }

  /** A variable has the place at which it is used. */
  #valueOf(token: Token): readonly Token[] {
    const value = token.isQuoted ? undefined : this.#variables.get(/^\$(\w+)$/.exec(token.text)?.[1] ?? "");
    return value?.map((one) => ({ ...one, place: token.place })) ?? [token];
  }

  #family(): string {
    return FAMILIES.includes(this.#peek() ?? "") ? (this.#next() as Token).text : "ip";
  }

  #chainName(): ChainName {
    const family = this.#family();
    return { family, table: this.#next()?.text ?? "", chain: this.#next()?.text ?? "" };
  }

  /** The rest of a statement: up to `;` or the end of its line, blocks included, or the end of the block that it is in. */
  #statement(): Token[] {
    const from = this.#at;
    let depth = 0;
    for (let word = this.#peek(); word !== undefined; word = this.#peek()) {
      if (depth === 0 && word === "}") return this.#tokens.slice(from, this.#at);
      this.#next();
      if (word === "{") depth++;
      else if (word === "}") depth--;
      if (depth === 0 && (word === "\n" || word === ";")) return this.#tokens.slice(from, this.#at - 1);
    }
    return this.#tokens.slice(from);
  }

  #refuse(first: Token, rest: readonly Token[], reason: string): void {
    this.findings.refuse(first.place, shown(this.#textOf([first, ...rest])), reason);
  }

  #textOf(tokens: readonly Token[]): string {
    const text = this.source.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0);
    // A part of the source takes no memory of its own.
    return /[^\S ]| {2}/.test(text) ? text.replaceAll(/\s+/g, " ") : text;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at]?.text;
  }

  #next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  #take(text: string): boolean {
    if (this.#peek() !== text) return false;
    this.#at++;
    return true;
  }
}

/** Words of a variable: variables of variables could have more than memory holds. */
const MAX_WORDS = 256;
const SHOWN = 60;
const shown = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);

/** What the statements of a chain begin with that are no rules. */
const OF_CHAINS = ["type", "policy", "flags", "devices", "comment"];

/** Words of a table that have no block. */
const STATEMENTS = ["flags", "comment"];

/** What can be added to a table besides rules. */
const OBJECTS_OF_TABLES = [
  "chain",
  "flowtable",
  "set",
  "map",
  "counter",
  "quota",
  "limit",
  "ct",
  "secmark",
  "synproxy",
  "tunnel",
];
/** What stands in a table besides rules. */
const IN_TABLES = [...OBJECTS_OF_TABLES, ...STATEMENTS];
const TYPES = ["filter", "nat", "route"];
const PRIORITY = /^(?:[+-]?\d+|[+-]|raw|mangle|dstnat|filter|security|srcnat|out)$/;

/** The first word of a statement about a chain that it cannot have. */
function unknownIn(statement: readonly Token[]): NftChain["refused"] {
  const [first, ...rest] = statement.filter(({ text }) => text !== "\n");
  if (first?.text === "policy") {
    const word = rest.length === 1 ? rest[0] : first;
    return word?.text === "accept" || word?.text === "drop" ? undefined : { word: word ?? first, reason: POLICY };
  }
  if (first?.text === "flags") {
    const word = rest.find(({ text }) => text !== "offload" && text !== "," && !text.startsWith("$"));
    return word === undefined ? undefined : { word, reason: "chains have the flag offload" };
  }
  if (first?.text !== "type") return undefined;
  const isPriority = (text = ""): boolean => PRIORITY.test(text) || text.startsWith("$");
  const type = rest[0];
  if (type !== undefined && !TYPES.includes(type.text)) return { word: type, reason: `a type is ${TYPES.join(", ")}` };
  for (let n = 1; n < rest.length; n++) {
    const word = rest[n] as Token;
    if (word.text === "hook" || word.text === "device") n++;
    else if (word.text === "devices") while (n < rest.length - 1 && rest[n]?.text !== "}") n++;
    else if (word.text === "priority") {
      if (!isPriority(rest[n + 1]?.text)) return { word, reason: "its value is missing, or no priority" };
      while (isPriority(rest[n + 1]?.text)) n++;
    } else return { word, reason: `a chain has type, hook, device and priority, and no ${word.text}` };
  }
  return undefined;
}

/** `device "eth0"`, and `devices = { eth0, eth1 }`. */
function devicesOf(texts: readonly string[]): readonly string[] {
  const at = texts.findIndex((text) => text === "device" || text === "devices");
  if (at < 0) return [];
  if (texts[at] === "device") return texts.slice(at + 1, at + 2);
  const open = texts.indexOf("{", at);
  return texts.slice(open + 1, texts.indexOf("}", open)).filter((text) => text !== "," && text !== "\n");
}
