/** What a rule asks of frames, put together field by field. */
import { fieldNamed, type Field } from "../../model/match/fields.js";
import { format, fullMask } from "../../model/match/term.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";

type Bits = { readonly mask: bigint; readonly value: bigint };

/** What a rule asks of frames, once all of it is read: a draft takes ten times the memory. */
export interface AskedMatch {
  readonly terms: NonNullable<ScenarioRule["match"]>;
  /** Equal where the same bits of the same fields are asked. */
  readonly maskKey: string;
}

export class MatchDraft {
  readonly #bits = new Map<string, Bits>();
  readonly #ranges = new Map<string, string>();
  /** The IP version that addresses ask for, of the outer and of the inner packet. */
  readonly #versions = new Map<string, number>();
  #contradicts = false;

  /**
   * Asks that bits of a field have a value; a mask of 0 asks that its header is present. Bits that
   * are asked already stay asked.
   */
  ask(name: string, value: bigint | number, mask: bigint = fullMask(field(name))): void {
    const { mask: before = 0n, value: held = 0n } = this.#bits.get(name) ?? {};
    const asked = BigInt(value) & mask;
    if (((held ^ asked) & before & mask) !== 0n) this.#contradicts = true;
    this.#askVersion(name);
    this.#bits.set(name, { mask: before | mask, value: held | asked });
  }

  /** An address asks for its IP version; a packet has one. */
  #askVersion(name: string): void {
    const { version } = field(name);
    if (version === 0) return;
    const level = name.slice(0, name.indexOf("."));
    if ((this.#versions.get(level) ?? version) !== version) this.#contradicts = true;
    this.#versions.set(level, version);
  }

  /** Asks that a field lies in a range, both ends inside. A rule has two ranges at most. */
  range(name: string, low: bigint | number, high: bigint | number): void {
    if (BigInt(low) === BigInt(high)) this.ask(name, low);
    else if (BigInt(low) === 0n && BigInt(high) === fullMask(field(name))) this.ask(name, 0n, 0n);
    else this.#ranges.set(name, `${format(field(name), BigInt(low))}-${format(field(name), BigInt(high))}`);
  }

  /** Whether a bit is asked for both values, or addresses for two IP versions: no frame has both. */
  get contradicts(): boolean {
    return this.#contradicts;
  }

  get ranges(): number {
    return this.#ranges.size;
  }

  /** The mask and the value of a field; undefined without one. */
  bits(name: string): Bits | undefined {
    return this.#bits.get(name);
  }

  /** As in `AskedMatch`. */
  get maskKey(): string {
    const masks = [...this.#bits].map(([name, { mask }]) => `${name}/${mask.toString(16)}`);
    return [...masks, ...this.#ranges.keys()].sort().join(" ");
  }

  get fields(): readonly string[] {
    return [...new Set([...this.#bits.keys(), ...this.#ranges.keys()])];
  }

  get asked(): AskedMatch {
    return { terms: this.toScenario(), maskKey: shared(this.maskKey) };
  }

  /** As the `match` of a rule in a scenario. */
  toScenario(): NonNullable<ScenarioRule["match"]> {
    return Object.fromEntries(
      this.fields.map((name) => [name, this.#ranges.get(name) ?? termText(name, this.#bits.get(name) as Bits)]),
    );
  }
}

/** Texts of which one copy is kept: those of 100,000 rules are few. */
const SHARED = new Map<string, string>();
const MAX_SHARED = 1024;

function shared(text: string): string {
  const known = SHARED.get(text);
  if (known !== undefined) return known;
  if (SHARED.size >= MAX_SHARED) SHARED.clear();
  SHARED.set(text, text);
  return text;
}

/** A value and its mask, as scenarios write them. */
export function termText(name: string, { mask, value }: Bits): string | number {
  const of = field(name);
  if (mask === 0n) return "any";
  if (mask === fullMask(of)) {
    return of.kind === "number" && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : format(of, value);
  }
  const below = fullMask(of) ^ mask;
  const isPrefix = (below & (below + 1n)) === 0n && (of.kind === "ipv4" || of.kind === "ipv6");
  if (isPrefix) return `${format(of, value)}/${of.width - below.toString(2).length}`;
  return `${format(of, value)}/${of.kind === "number" ? `0x${mask.toString(16)}` : format(of, mask)}`;
}

function field(name: string): Field {
  const found = fieldNamed(name);
  if (found === undefined) throw new Error(`there is no match field ${name}`);
  return found;
}
