/** Reads one header of packet notation: `ipv4 10.0.0.1 > 10.0.0.7, ttl 3, df`. */
import { MAX_FRAME } from "../../abi/engine.js";
import { namesHint } from "../../base/nearest.js";
import { layoutOf, TCP_FLAGS, type FieldLayout, type LaidOutHeader } from "../layout.js";
import { optionList } from "./optionList.js";
import { refuseAt, type Token } from "./tokens.js";
import { wholeNumber, zeroBytes } from "./values.js";
import { vocabularyOf, wordsOf, type Meaning, type Vocabulary } from "./vocabulary.js";

export type NotedHeader = LaidOutHeader | "payload" | "trailer";

/** A header with its fields as `buildFrame` takes them, and the columns of what was written. */
export interface Noted {
  readonly header: NotedHeader;
  readonly column: number;
  readonly fields: Map<string, unknown>;
  /** Columns of the values, by field. */
  readonly columns: Map<string, number>;
}

/** The fields left and right of `>`; the second pair of ARP stands in parentheses. */
export const ENDS: Readonly<Partial<Record<NotedHeader, readonly [string, string]>>> = {
  ethernet: ["source", "destination"],
  ipv4: ["source", "destination"],
  ipv6: ["source", "destination"],
  tcp: ["source_port", "destination_port"],
  udp: ["source_port", "destination_port"],
  sctp: ["source_port", "destination_port"],
  arp: ["sender_protocol", "target_protocol"],
};

/** Fields whose values need no name. The numbers are those that chains of headers show. */
const NAMELESS: Readonly<Partial<Record<NotedHeader, string>>> = {
  vlan: "vid",
  icmp: "type",
  icmpv6: "type",
  esp: "spi",
  vxlan: "vni",
  vxlan_gpe: "vni",
  geneve: "vni",
  gtpu: "teid",
  gre: "key",
  bth: "dst_qp",
  payload: "bytes",
  trailer: "bytes",
  gtpu_extension: "content",
  linux_cooked: "address",
  linux_cooked_v2: "address",
};

const BYTES: FieldLayout = ["bytes", "rest", "bytes"];
/** The most words of a name: `multicast listener report, version 2`. */
const MAX_WORDS = 5;

/** tcpdump's letters, in the order of the flags. */
export const LETTERS = "NWEU.PRSF";

export class HeaderReader {
  readonly noted: Noted;
  readonly #tokens: readonly Token[];
  readonly #words: Vocabulary;
  #at = 0;

  /** @param tokens what follows the name of the header, up to the next `/` */
  constructor(header: NotedHeader, column: number, tokens: readonly Token[]) {
    this.noted = { header, column, fields: new Map(), columns: new Map() };
    this.#tokens = tokens;
    const bytes = new Map([["bytes", { field: BYTES, value: null, flag: null }]]);
    this.#words = header === "payload" || header === "trailer" ? bytes : new Map([...vocabularyOf(header), ...bytes]);
  }

  read(): Noted {
    while (this.#at < this.#tokens.length) this.#readOne();
    return this.noted;
  }

  #readOne(): void {
    const token = this.#tokens[this.#at] as Token;
    if (token.kind === ">" || this.#isLeftEnd()) this.#readEnds();
    else if (token.kind === "list") this.#readList(token);
    else if (token.kind === "note") this.#skipNote(token);
    else if (!this.#readMeaning(token) && !this.#readFragment(token)) this.#readNameless(token);
  }

  /** What a line of `printFrame` adds to a value for people: `type 3 (unreachable)`. */
  #skipNote({ text, column }: Token): void {
    if (this.#at === 0 || text.includes("=")) {
      const hint =
        `fields follow the name of their header without parentheses and "=": ${this.noted.header} ${text.replaceAll("=", " ")}`.trim();
      return refuseAt(column, { reason: "bad_packet", value: `(${text})`, hint });
    }
    this.#at++;
  }

  #readNameless(token: Token): void {
    const field = this.#fieldOf(NAMELESS[this.noted.header]);
    const isNumber = field?.[2] === "number" || field?.[2] === "hex";
    if (field === undefined || (isNumber && wholeNumber(token.text) === undefined)) this.#refuseWord(token);
    else this.#set(field, this.#value(field), token.column);
  }

  /** The longest phrase here that means something. */
  #meaning(): Meaning | undefined {
    for (let count = MAX_WORDS; count > 0; count--) {
      const words = this.#tokens.slice(this.#at, this.#at + count);
      if (words.length < count || words.some(({ kind }) => kind !== "word")) continue;
      const meaning = this.#words.get(wordsOf(words.map(({ text }) => text).join(" ")));
      if (meaning === undefined) continue;
      this.#at += count;
      return meaning;
    }
    return undefined;
  }

  #readMeaning({ column }: Token): boolean {
    const found = this.#meaning();
    if (found === undefined) return false;
    const { field, value, flag } = found;
    const next = this.#tokens[this.#at];
    const numbered = next !== undefined && wholeNumber(next.text) !== undefined;
    // `ack` is a flag, `ack 7` the field.
    const acknowledgement = flag === "ack" && numbered ? this.#fieldOf("acknowledgement") : undefined;
    if (acknowledgement !== undefined) this.#set(acknowledgement, this.#value(acknowledgement), column);
    else if (flag !== null) this.#addFlag(field, flag, column);
    else if (value !== null) this.#set(field, value, column);
    else if (field[2] === "flag" && !numbered) this.#set(field, 1, column);
    else this.#set(field, this.#value(field), next?.column ?? column);
    return true;
  }

  /** The value of a field at this place, as `buildFrame` takes it. */
  #value(field: FieldLayout): unknown {
    const [name, , kind, detail] = field;
    const token = this.#tokens[this.#at++];
    if (token === undefined || token.kind === "/" || token.kind === ">" || token.kind === "note") {
      const column = token?.column ?? (this.#tokens.at(-1)?.column ?? this.noted.column) + (this.#tokens.at(-1)?.text.length ?? 0); // prettier-ignore
      return refuseAt(column, {
        reason: "bad_packet",
        value: token?.text ?? "",
        hint: `a value of ${name} follows it`,
      });
    }
    if (token.kind === "list") {
      this.#at--;
      this.#readList(token, field);
      return this.noted.fields.get(name);
    }
    switch (kind) {
      case "number":
      case "hex":
      case "flag":
        return this.#number(token, detail?.names ?? {}, name);
      case "flags":
        return wholeNumber(token.text) ?? token.text.toLowerCase().replaceAll("+", ",");
      case "mac":
      case "ipv4":
      case "ipv6":
      case "address":
        return token.text;
      default:
        return this.#bytes(token);
    }
  }

  /** A number, or the name of one. */
  #number(token: Token, names: Readonly<Record<number, string>>, field: string): number | bigint {
    const number = wholeNumber(token.text);
    if (number !== undefined) return number;
    this.#at--;
    for (let count = MAX_WORDS; count > 0; count--) {
      const words = this.#tokens.slice(this.#at, this.#at + count).map(({ text }) => text);
      const found = Object.entries(names).find(([, name]) => wordsOf(name) === wordsOf(words.join(" ")));
      if (words.length < count || found === undefined) continue;
      this.#at += count;
      return Number(found[0]);
    }
    const hint = [`${field} is a number, decimal or 0x...`, ...Object.values(names).slice(0, 1).map((name) => `or a name such as ${name}`)]; // prettier-ignore
    return refuseAt(token.column, { reason: "bad_number", value: token.text, hint: hint.join(", ") });
  }

  /** `0x0102`, `12 bytes`; outside a payload also digits without 0x. */
  #bytes({ text, column }: Token): string {
    const unit = this.#tokens[this.#at]?.text ?? "";
    if (/^\d+$/.test(text) && /^bytes?$/.test(unit)) {
      this.#at++;
      const hint = `at most ${MAX_FRAME} bytes, which a frame has`;
      return zeroBytes(text, unit) ?? refuseAt(column, { reason: "out_of_range", value: text, hint });
    }
    if (/^0x/i.test(text)) return text.slice(2);
    if (this.noted.header !== "payload" && this.noted.header !== "trailer") return text;
    const hint = "bytes are hexadecimal digits after 0x (0x0102), or as many zeros (12 bytes)";
    return refuseAt(column, { reason: "bad_number", value: text, hint });
  }

  #isLeftEnd(): boolean {
    const [, next, after] = this.#tokens.slice(this.#at, this.#at + 3);
    return next?.kind === ">" || (next?.kind === "note" && after?.kind === ">" && this.noted.header === "arp");
  }

  /** `10.0.0.1 > 10.0.0.7`; either side may be left out. */
  #readEnds(): void {
    const { header } = this.noted;
    const [left, right] = (ENDS[header] ?? []).map((name) => this.#fieldOf(name));
    const arrow = this.#tokens[this.#at] as Token;
    if (left === undefined || right === undefined) {
      const hint = `${header} has no source and destination (${Object.keys(ENDS).join(", ")} have)`;
      return refuseAt(arrow.column, { reason: "bad_packet", value: arrow.text, hint });
    }
    if (arrow.kind !== ">") this.#readEnd(left, "sender_hardware");
    this.#at++;
    const next = this.#tokens[this.#at];
    if (next !== undefined && !this.#isWord()) this.#readEnd(right, "target_hardware");
  }

  /** Whether a word of the vocabulary stands here, which then is no address or port. */
  #isWord(): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === "word" && wholeNumber(token.text) === undefined && this.#words.has(token.text.toLowerCase());
  }

  #readEnd(field: FieldLayout, hardware: string): void {
    const { column } = this.#tokens[this.#at] as Token;
    this.#set(field, this.#value(field), column);
    const note = this.#tokens[this.#at];
    const address = this.#fieldOf(hardware);
    if (address === undefined || note?.kind !== "note") return;
    this.#at++;
    this.#set(address, note.text.trim(), note.column);
  }

  /** Options, or the flags of TCP as tcpdump writes them. */
  #readList(token: Token, given?: FieldLayout): void {
    this.#at++;
    const { header } = this.noted;
    const flags = header === "tcp" && given === undefined ? /^(none|[NWEU.PRSF]*)$/.exec(token.text) : null;
    if (flags !== null) {
      const names = TCP_FLAGS.filter((_, i) => token.text !== "none" && token.text.includes(LETTERS.charAt(i)));
      this.#set(this.#fieldOf("flags") as FieldLayout, names, token.column);
      return;
    }
    const field = given ?? (header === "payload" || header === "trailer" ? undefined : layoutOf(header).find(isList));
    if (field === undefined || !isList(field)) {
      const hint = `${given?.[0] ?? header} takes no list`;
      return refuseAt(token.column, { reason: "bad_packet", value: `[${token.text}]`, hint });
    }
    const list = optionList(field[2], token);
    if (given === undefined) this.#set(field, list, token.column);
    else this.noted.fields.set(field[0], list);
  }

  /** `fragment 0x0005 at 1480+`, `fragment 0x0005 at 1480, the last`, `atomic 0x0005`. */
  #readFragment(token: Token): boolean {
    const [word, id, at, offset] = this.#tokens.slice(this.#at, this.#at + 4).map(({ text }) => text);
    const { header } = this.noted;
    if ((header !== "ipv4" && header !== "ipv6_fragment") || (word !== "fragment" && word !== "atomic")) return false;
    const identification = this.#fieldOf("identification") as FieldLayout;
    this.#at++;
    const column = this.#tokens[this.#at]?.column ?? token.column;
    this.#set(identification, this.#value(identification), column);
    if (word === "atomic") return true;
    const number = wholeNumber(offset?.replace(/\+$/, "") ?? "");
    if (id === undefined || at !== "at" || typeof number !== "number" || number % 8 !== 0) {
      const hint = "write fragment 0x0005 at 1480+, the bytes before it, a multiple of 8; + says that more follow";
      return refuseAt(token.column, { reason: "bad_packet", value: "fragment", hint });
    }
    this.#at += 2;
    this.#set(this.#fieldOf("fragment_offset") as FieldLayout, number / 8, column);
    if (offset?.endsWith("+") === true) {
      if (header === "ipv4") this.#addFlag(this.#fieldOf("flags") as FieldLayout, "mf", column);
      else this.#set(this.#fieldOf("m") as FieldLayout, 1, column);
    }
    const words = this.#tokens.slice(this.#at, this.#at + 2).map(({ text }) => text);
    if (words.join(" ") === "the last") this.#at += 2;
    return true;
  }

  #fieldOf(name: string | undefined): FieldLayout | undefined {
    return name === undefined ? undefined : this.#words.get(name)?.field;
  }

  #addFlag(field: FieldLayout, flag: string, column: number): void {
    const before = this.noted.fields.get(field[0]);
    if (Array.isArray(before)) this.noted.fields.set(field[0], [...(before as string[]), flag]);
    else this.#set(field, [flag], column);
  }

  #set([name]: FieldLayout, value: unknown, column: number): void {
    if (this.noted.columns.has(name)) {
      const hint = `${name} of this ${this.noted.header} stands before it, too: leave one out`;
      refuseAt(column, { reason: "contradiction", value: name, hint });
    }
    this.noted.fields.set(name, value);
    this.noted.columns.set(name, column);
  }

  #refuseWord({ text, column }: Token): never {
    const { header } = this.noted;
    const words = [...this.#words].filter(([, { value }]) => value === null).map(([word]) => word);
    const fields = header === "payload" || header === "trailer" ? [] : layoutOf(header).map(([name]) => name);
    const names = [...new Set([...fields, ...words])];
    const ends = ENDS[header];
    const address = wholeNumber(text) !== undefined || /[.:]/.test(text);
    const [, name = "", given] = /^([a-z_]+)=(.+)$/.exec(text) ?? [];
    if (given !== undefined && (names.includes(name) || this.#words.has(name))) {
      refuseAt(column, { reason: "bad_field", value: text, hint: `a value stands after its field: ${name} ${given}` });
    }
    const hint =
      ends !== undefined && address
        ? `name the field of a value: ${ends[0]} > ${ends[1]}, or one of ${names.join(", ")}`
        : namesHint(text, `words of ${header}`, names);
    return refuseAt(column, { reason: "bad_field", value: text, hint });
  }
}

function isList([, , kind]: FieldLayout): boolean {
  return kind === "route" || kind.endsWith("_options");
}
