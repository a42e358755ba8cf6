/**
 * How the steering entries of a matcher's rules hold its fields. The driver takes the lookup types in
 * order, and places each field once: in the first entry whose type has it.
 */
import { fieldNamed, readField, type Field } from "../../../model/match/fields.js";
import { anyBit, clear, fieldsIn, fill, hasBits } from "../../rules/bits.js";
import { layoutOf, type Run } from "./steps.js";
import type { DumpBuilder, DumpDomain, DumpMatcher, Side } from "./tree.js";

/** A run of an entry: of the entry with this number on its side. */
export interface Step {
  readonly entry: number;
  readonly run: Run;
}

/** How the values of a matcher's rules are read. */
export interface MatcherPlan {
  readonly matcher: DumpMatcher;
  /** What the device compares, in device bytes. */
  readonly asked: Uint8Array;
  readonly steps: Readonly<Record<Side, readonly Step[]>>;
  /** Fields of the mask that no entry holds: the device does not compare them, or the dump does not say where. */
  readonly left: readonly Field[];
}

export const SOURCE_PORT = fieldNamed("misc.source_port") as Field;
const SOURCE_SQN = fieldNamed("misc.source_sqn") as Field;

/** The two bits of a tag's type, which the device compares together. */
const QUALIFIERS = ["outer.", "inner.", "misc.outer_second_", "misc.inner_second_"].map((before) =>
  ["cvlan_tag", "svlan_tag"].map((name) => fieldNamed(before + name) as Field),
);

function completeQualifiers(asked: Uint8Array): void {
  for (const both of QUALIFIERS) {
    if (both.some((field) => hasBits(asked, field))) for (const field of both) fill(asked, field);
  }
}

/** Reads how the entries of a matcher's rules hold its fields. */
export function planOf(matcher: DumpMatcher): MatcherPlan {
  const asked = matcher.mask.slice();
  const sides = { rx: new SidePlan(matcher, "rx"), tx: new SidePlan(matcher, "tx") };
  const used = Object.values(sides).filter(({ builders }) => builders.length > 0);
  const left = fieldsIn(asked).filter((field) => {
    // The receive side of an eSwitch leaves it out: only frames of the wire come there.
    if (field === SOURCE_PORT && matcher.table.domain.type === "fdb") return false;
    return used.length > 0 && used.every((side) => hasBits(side.rest, field));
  });
  for (const field of left) clear(asked, field.bit, field.width);
  completeQualifiers(asked);
  if (hasBits(asked, SOURCE_SQN)) fill(asked, SOURCE_SQN);
  return {
    matcher,
    asked,
    steps: { rx: sides.rx.steps, tx: sides.tx.steps },
    left,
  };
}

/** The fields of one side's entries. */
class SidePlan {
  readonly steps: Step[] = [];
  /** What no entry holds yet. */
  readonly rest: Uint8Array;
  readonly builders: readonly DumpBuilder[];

  constructor(matcher: DumpMatcher, side: Side) {
    const { domain } = matcher.table;
    this.rest = matcher.mask.slice();
    this.builders = matcher.builders.filter((builder) => builder.side === side);
    const format = domain.format ?? (matcher.rules[0]?.entries[0]?.later === true ? 1 : 0);
    this.builders.forEach(({ lookupType, definer }, entry) => {
      const first = (FLEXIBLE[format === 0 ? 0 : 1] ?? []).indexOf(lookupType);
      if (definer < 0 && first >= 0) this.#flexible(entry, first * 4, domain);
      else this.#fixed(entry, layoutOf(format, lookupType, definer) ?? []);
    });
  }

  #fixed(entry: number, alternatives: readonly (readonly Run[])[]): void {
    const runs = alternatives.find((list) => list.some(({ keyBit, width }) => anyBit(this.rest, keyBit, width)));
    for (const run of runs ?? []) {
      if (!anyBit(this.rest, run.keyBit, run.width)) continue;
      this.steps.push({ entry, run });
    }
    for (const { keyBit, width } of runs ?? []) clear(this.rest, keyBit, width);
    const qualifiers = this.steps.filter((step) => step.entry === entry && /[cs]vlan_tag$/.test(step.run.field.name));
    for (const { run } of qualifiers) this.#otherQualifier(entry, run, runs ?? []);
  }

  /** A mask of one qualifier bit compares both. */
  #otherQualifier(entry: number, { field }: Run, runs: readonly Run[]): void {
    const other = field.name.replace(/([cs])vlan_tag$/, (_, one: string) => `${one === "c" ? "s" : "c"}vlan_tag`);
    const run = runs.find((one) => one.field.name === other);
    if (run === undefined || this.steps.some((step) => step.entry === entry && step.run === run)) return;
    this.steps.push({ entry, run });
  }

  /** Words of flexible parsers: parser n is the word of tag bits 32 * (3 - n % 4). */
  #flexible(entry: number, firstParser: number, { flexParsers, flexProtocols }: DumpDomain): void {
    const inRange = (parser: number): boolean => parser >= firstParser && parser < firstParser + 4;
    const before = this.steps.length;
    for (const { fields, parser: name } of ICMP_WORDS) {
      const parser = flexParsers.get(name);
      if (parser === undefined || !inRange(parser)) continue;
      for (const { field, bit } of fields) this.#word(entry, field, 32 * (3 - (parser % 4)) + bit);
    }
    if (this.steps.length > before) return;
    for (const [id, word] of SAMPLES) {
      if (!hasBits(this.rest, word)) continue;
      const parser = Number(readField(this.rest, id));
      if (!inRange(parser)) continue;
      this.#word(entry, word, 32 * (3 - (parser % 4)));
      clear(this.rest, id.bit, id.width);
    }
    if (this.steps.length > before) return;
    // The dump does not name their parsers. All other words of the entry are 0.
    const candidates = ANYWHERE.filter(
      (word) =>
        word.some(({ field }) => hasBits(this.rest, field)) &&
        (word[0]?.field !== TEID || (flexProtocols & TEID_FLEXIBLE) !== 0),
    );
    // Several words may share the entry: which is which, and whether another entry has one, the dump does not say.
    const isKnown = candidates.length <= 1;
    for (const word of candidates) for (const { field, bit } of word) this.#anywhere(entry, field, bit, isKnown);
  }

  #word(entry: number, field: Field, bit: number): void {
    if (!hasBits(this.rest, field)) return;
    this.steps.push({ entry, run: { field, keyBit: field.bit, width: field.width, tag: { kind: "same", bit } } });
    clear(this.rest, field.bit, field.width);
  }

  #anywhere(entry: number, field: Field, bit: number, isKnown: boolean): void {
    if (!hasBits(this.rest, field)) return;
    const tag = isKnown ? ({ kind: "anyWord", bit } as const) : ({ kind: "unknown" } as const);
    this.steps.push({ entry, run: { field, keyBit: field.bit, width: field.width, tag } });
    clear(this.rest, field.bit, field.width);
  }
}

/** The lookup types of parsers 0 to 3 and 4 to 7, of format 0 and of later ones. */
const FLEXIBLE: readonly (readonly number[])[] = [
  [0x22, 0x23],
  [0x0111, 0x0112],
];

interface Part {
  readonly field: Field;
  /** In its word. */
  readonly bit: number;
}

const part = (name: string, bit = 0): Part => ({ field: fieldNamed(name) as Field, bit });

const ICMP_WORDS: readonly { readonly parser: string; readonly fields: readonly Part[] }[] = [
  { parser: "icmp_dw0", fields: [part("misc3.icmp_type"), part("misc3.icmp_code", 8)] },
  { parser: "icmp_dw1", fields: [part("misc3.icmp_header_data")] },
  { parser: "icmpv6_dw0", fields: [part("misc3.icmpv6_type"), part("misc3.icmpv6_code", 8)] },
  { parser: "icmpv6_dw1", fields: [part("misc3.icmpv6_header_data")] },
];

const SAMPLES: readonly (readonly [id: Field, value: Field])[] = [0, 1, 2, 3].map((n) => [
  fieldNamed(`misc4.prog_sample_field_id_${n}`) as Field,
  fieldNamed(`misc4.prog_sample_field_value_${n}`) as Field,
]);

export const SAMPLE_IDS: readonly Field[] = SAMPLES.map(([id]) => id);

const mplsWord = (name: string): Part[] => [
  part(`misc2.${name}_label`),
  part(`misc2.${name}_exp`, 20),
  part(`misc2.${name}_s_bos`, 23),
  part(`misc2.${name}_ttl`, 24),
];
const TEID = fieldNamed("misc3.gtpu_teid") as Field;
/** A bit of the parser features: the TEID is in a flexible parser. */
const TEID_FLEXIBLE = 1 << 19;
const ANYWHERE: readonly (readonly Part[])[] = [
  mplsWord("outer_first_mpls_over_gre"),
  mplsWord("outer_first_mpls_over_udp"),
  [{ field: TEID, bit: 0 }],
  ...["geneve_tlv_option_0_data", "gtpu_dw_0", "gtpu_dw_2", "gtpu_first_ext_dw_0"].map((name) => [
    part(`misc3.${name}`),
  ]),
];
