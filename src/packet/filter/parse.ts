/**
 * A subset of the display filters of Wireshark (wireshark-filter(4)), with its meaning: a field that a frame has several
 * times passes `==` if one of them does, and `!=` only if all do.
 */
import { wrongType } from "../../base/checks.js";
import { nearest } from "../../base/nearest.js";
import { inCall } from "../../errors.js";
import type { FilterField, FilterFields } from "./fields.js";
import { isLiteral, type FilterValue } from "./literal.js";
import { callOf, fieldOfCall } from "./calls.js";
import {
  relationOf,
  SIGNS_OF_RELATIONS,
  sliceOf,
  versusOf,
  type FilterOperand,
  type Relation,
  type Versus,
} from "./relation.js";
import { FilterError, tokenAt, type FilterFault, type Token } from "./tokens.js";

/** A field, and what its values must be. */
export interface FilterLeaf extends FilterOperand {
  readonly kind: "field";
  /** Null where the field must only be there, or is compared with another one. */
  readonly test: ((value: FilterValue) => boolean) | null;
  /** The field that its values are compared with. */
  readonly versus: Versus | null;
  /** Whether all values must pass, not only one. */
  readonly every: boolean;
}

export type FilterExpression<Own = never> = {
  /** Its characters: `from` to `to` - 1. */
  readonly from: number;
  readonly to: number;
  /** Whether it is in parentheses. */
  readonly grouped?: boolean;
} & (
  | { readonly kind: "and" | "or"; readonly of: readonly FilterExpression<Own>[] }
  | { readonly kind: "not"; readonly of: readonly [FilterExpression<Own>] }
  | { readonly kind: "own"; readonly own: Own }
  | FilterLeaf
);

/** A condition in another syntax at a place of the text; null if none begins there. */
export type OwnSyntax<Own> = (text: string, at: number) => { readonly own: Own; readonly to: number } | null;

/** The expression of a text, null for an empty one; or what is wrong with it. */
export type ParsedFilter<Own = never> =
  { readonly expression: FilterExpression<Own> | null; readonly fault: null } | { readonly fault: FilterFault };

/**
 * Reads a filter.
 * @param fields those that it may name: `packetFilterFields()`, and others
 * @param own reads conditions in another syntax; neither they nor headers then need `&&` between them and others
 * @throws TypeError no text, or no map of fields
 */
export function parseDisplayFilter<Own = never>(
  text: string,
  fields: FilterFields,
  own?: OwnSyntax<Own>,
): ParsedFilter<Own> {
  return inCall("parseDisplayFilter", () => {
    // A value without a length has no end.
    if (typeof text !== "string") wrongType("text", "a string", text);
    if (!(fields instanceof Map)) wrongType("fields", "a map of fields", fields);
    try {
      return { expression: new Parser(text, fields, own ?? null).all(), fault: null };
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      const { message, from, to } = error;
      return { fault: { text: message, from, to } };
    }
  });
}

/** Words before a field that has several values, and whether all of them are meant. */
const QUANTIFIERS: ReadonlyMap<string, boolean> = new Map([
  ["any", false],
  ["all", true],
]);

const JOINS = [
  ["or", "||"],
  ["and", "&&"],
] as const;

class Parser<Own> {
  #at = 0;

  constructor(
    private readonly text: string,
    private readonly fields: FilterFields,
    private readonly own: OwnSyntax<Own> | null,
  ) {}

  all(): FilterExpression<Own> | null {
    if (this.#next().kind === "end") return null;
    const expression = this.#joined(0);
    const { kind, text, from, to } = this.#next();
    if (kind !== "end")
      throw new FilterError(`"${text}" is not expected here: join conditions with && or ||`, from, to);
    return expression;
  }

  #next(): Token {
    return tokenAt(this.text, this.#at);
  }

  #take(): Token {
    const token = this.#next();
    this.#at = token.to;
    return token;
  }

  #takes(sign: string): boolean {
    const { kind, text } = this.#next();
    if (kind !== "sign" || text !== sign) return false;
    this.#take();
    return true;
  }

  /** Conditions joined by a sign of this level, each joined by those that bind closer. */
  #joined(level: number): FilterExpression<Own> {
    const join = JOINS[level];
    if (join === undefined) return this.#single();
    const [kind, sign] = join;
    const of = [this.#joined(level + 1)];
    while (this.#takes(sign) || (kind === "and" && this.#touches(of.at(-1)))) of.push(this.#joined(level + 1));
    const [first] = of as [FilterExpression<Own>];
    return of.length === 1 ? first : { kind, of, from: first.from, to: this.#at };
  }

  /** Whether a condition follows that needs no sign. */
  #touches(before: FilterExpression<Own> | undefined): boolean {
    const { kind, text, from } = this.#next();
    if (kind === "end" || (kind === "sign" && !["!", "("].includes(text))) return false;
    if (this.own === null || before === undefined) return false;
    return before.kind === "own" || isHeader(before) || this.own(this.text, from) !== null;
  }

  #single(): FilterExpression<Own> {
    const { from } = this.#next();
    if (this.#takes("!")) return { kind: "not", of: [this.#single()], from, to: this.#at };
    if (this.#takes("(")) {
      const inner = this.#joined(0);
      const { from: at, to } = this.#next();
      if (!this.#takes(")")) throw new FilterError('")" is missing', at === to ? from : at, to);
      return { ...inner, grouped: true, from, to: this.#at };
    }
    const found = this.#beginsComparison() ? null : (this.own?.(this.text, from) ?? null);
    if (found !== null) {
      this.#at = found.to;
      return { kind: "own", own: found.own, from, to: found.to };
    }
    return { ...this.#field(), from, to: this.#at };
  }

  /** Whether a quantifier or a function stands here, which other syntaxes know as a word. */
  #beginsComparison(): boolean {
    const { kind, text, to } = this.#next();
    if (kind !== "word") return false;
    if (this.text[to] === "(") return true;
    return QUANTIFIERS.has(text) && this.fields.has(/^\s*([\w.]+)/.exec(this.text.slice(to))?.[1] ?? "");
  }

  #field(): FilterLeaf {
    const first = this.#next();
    const all = this.#beginsComparison() ? QUANTIFIERS.get(first.text) : undefined;
    if (all !== undefined) this.#take();
    const [operand, field] = this.#operand();
    const leaf = { kind: "field", ...operand, test: null, versus: null } as const;
    const sign = this.#next();
    if (sign.kind !== "sign" || !SIGNS_OF_RELATIONS.has(sign.text)) {
      const { text, from, to } = sign;
      if (text === "=" || (sign.kind === "word" && (this.own === null || !field.header)))
        throw new FilterError(`"${text}" is no operator: use ==, !=, <, >, in, contains`, from, to);
      if (all !== undefined || operand.call !== null)
        throw new FilterError(`"${first.text}" needs a comparison, such as == 2`, first.from, first.to);
      return { ...leaf, every: false };
    }
    this.#take();
    const relation = this.#isOperand(field) ? this.#versus(field, sign) : this.#relation(field, sign);
    return { ...leaf, ...relation, every: all ?? relation.every };
  }

  #relation(field: FilterField, sign: Token): Relation {
    return relationOf(
      field,
      sign,
      () => this.#take(),
      (wanted) => this.#takes(wanted),
    );
  }

  #versus(field: FilterField, sign: Token): ReturnType<typeof versusOf> {
    const [operand, other] = this.#operand();
    return versusOf(field, sign, operand, other);
  }

  /** Whether a field or a function stands here. What can be a value is one: `udp` of `ip.proto`. */
  #isOperand(field: FilterField): boolean {
    const token = this.#next();
    if (token.kind !== "word") return false;
    const { text } = tokenAt(this.text, token.to);
    return (text === "(" && !this.fields.has(token.text)) || (this.fields.has(token.text) && !isLiteral(field, token));
  }

  /** A field, with bytes of it or in a function, and what it is compared as. */
  #operand(): readonly [FilterOperand, FilterField] {
    const token = this.#take();
    if (token.kind !== "word") throw new FilterError(missing(token), token.from, token.to);
    const { kind, text, from } = this.#next();
    if (kind === "sign" && text === "(" && from === token.to && !this.fields.has(token.text)) {
      const call = callOf(token);
      this.#take();
      const field = this.#named(this.#take());
      const { from: at, to } = this.#next();
      if (!this.#takes(")")) throw new FilterError(`${call} takes one field: ")" is missing`, at, to);
      return [{ field, slice: null, call }, fieldOfCall(call, field, token)];
    }
    const field = this.#named(token);
    const slice = this.#takes("[") ? sliceOf(field, this.#upTo("]")) : null;
    const { header: _, ...bytes } = field;
    return [{ field, slice, call: null }, slice === null ? field : { ...bytes, type: "bytes", bits: 0 }];
  }

  #named(token: Token): FilterField {
    const field = token.kind === "word" ? this.fields.get(token.text) : undefined;
    if (field !== undefined) return field;
    const text = token.kind === "word" ? unknown(token.text, this.fields) : missing(token);
    throw new FilterError(text, token.from, token.to);
  }

  /** The tokens up to a sign. */
  #upTo(sign: string): Token[] {
    const tokens: Token[] = [];
    for (;;) {
      const token = this.#take();
      if (token.kind === "end") throw new FilterError(`"${sign}" is missing`, Math.max(0, token.from - 1), token.to);
      if (token.kind === "sign" && token.text === sign) return tokens;
      tokens.push(token);
    }
  }
}

function isHeader(expression: FilterExpression<unknown>): boolean {
  return expression.kind === "field" && expression.field.header === true && expression.test === null;
}

function missing({ kind, text }: Token): string {
  return kind === "end" ? "a condition is missing" : `"${text}" is not expected here: a field is, such as ip.dst`;
}

function unknown(name: string, fields: FilterFields): string {
  const all = [...fields.keys()];
  const siblings = all.filter((one) => one.startsWith(name.slice(0, name.indexOf(".") + 1)));
  const lower = name.toLowerCase();
  // Names and words have small letters, as Wireshark has them.
  const small = fields.has(lower) || /^(and|or|not|eq|ne|gt|lt|ge|le|in)$/.test(lower) ? lower : undefined;
  const near = small ?? siblings.find((one) => one.startsWith(name)) ?? nearest(name, siblings) ?? nearest(name, all);
  return `there is no field "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
}
