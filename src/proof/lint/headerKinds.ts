/** Rules of a table that no frame matches together because of the headers that they are about, such as TCP and UDP. */
import { EXT_PRESENT_OUTER, EXT_PORT, KEY_SIZE } from "../../abi/key.js";
import { fieldNamed, writeField, type Field } from "../../model/match/fields.js";
import { fullMask } from "../../model/match/term.js";
import { ParsedKey } from "../keys/parsedKey.js";
import { anyArrival } from "../path/arrival.js";
import { requireMatch } from "../path/ruleMatch.js";
import type { TableRules } from "../path/tableRules.js";
import { Solver } from "../solver/solver.js";
import type { LintContext } from "./context.js";

/** The bits of a key that tell which headers a frame has. */
const HEADERS = headerBits();

function headerBits(): Uint8Array {
  const mask = new Uint8Array(KEY_SIZE).fill(0xff, EXT_PRESENT_OUTER, EXT_PORT);
  for (const level of ["outer", "inner"]) {
    for (const name of ["ethertype", "ip_version", "ip_protocol"]) {
      const field = fieldNamed(`${level}.${name}`) as Field;
      writeField(mask, field, fullMask(field));
    }
  }
  return mask;
}

/** The bytes that have some of them. */
const BYTES = [...HEADERS.keys()].filter((n) => HEADERS[n] !== 0);

interface Kind {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
  readonly ranges: readonly never[];
}

export class HeaderKinds {
  readonly #context: LintContext;
  readonly #rules: TableRules;
  readonly #kinds: Kind[] = [];
  readonly #known = new Map<string, number>();
  /** The number of the kind of each rule that was asked for. */
  readonly #kindOf = new Map<number, number>();
  readonly #exclusive = new Map<string, boolean>();
  readonly #solver = new Solver();

  constructor(context: LintContext, rules: TableRules) {
    this.#context = context;
    this.#rules = rules;
  }

  areExclusive(i: number, j: number): boolean {
    const [a, b] = [this.#kind(i), this.#kind(j)];
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    let exclusive = this.#exclusive.get(key);
    if (exclusive === undefined) this.#exclusive.set(key, (exclusive = a !== b && !this.#haveFrame(a, b)));
    return exclusive;
  }

  #haveFrame(a: number, b: number): boolean {
    const solver = this.#solver;
    solver.reset();
    const key = new ParsedKey(solver, anyArrival(this.#context.device, solver));
    return [a, b].every((kind) => requireMatch(solver, this.#kinds[kind] as Kind, key)) && solver.solve([]) !== false;
  }

  #kind(i: number): number {
    let kind = this.#kindOf.get(i);
    if (kind !== undefined) return kind;
    const content = this.#context.cover.world.contentOf(this.#rules.node(i));
    const text = BYTES.map((n) => `${at(content.mask, n)} ${at(content.value, n)}`).join();
    kind = this.#known.get(text);
    if (kind === undefined) {
      this.#known.set(text, (kind = this.#kinds.length));
      const [mask, value] = [new Uint8Array(KEY_SIZE), new Uint8Array(KEY_SIZE)];
      for (const n of BYTES) [mask[n], value[n]] = [at(content.mask, n), at(content.value, n)];
      this.#kinds.push({ mask, value, ranges: [] });
    }
    this.#kindOf.set(i, kind);
    return kind;
  }
}

function at(bytes: Uint8Array, n: number): number {
  return (bytes[n] as number) & (HEADERS[n] as number);
}
