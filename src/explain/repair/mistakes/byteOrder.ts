/** Values whose bytes or bits lie in another place than the field has them. */
import { ones } from "../../../base/bits.js";
import { fullMask } from "../../../model/match/term.js";
import { termText } from "../../match/notation.js";
import type { FieldName } from "../../../model/match/fields.js";
import type { KeyMatch } from "../../match/terms.js";
import { named, termFacts, type Facts } from "../facts.js";
import type { Detector } from "../finding.js";
import { aboutValues, differs, isPresentTerm, leavesOut, takesFound, type PresentTerm } from "./terms.js";

/** Reverses the bytes of a value that is `bytes` long, in each unit of `size` bytes. */
export function reversedBytes(value: bigint, bytes: number, size = bytes): bigint {
  let result = 0n;
  for (let unit = bytes - size; unit >= 0; unit -= size) {
    for (let byte = 0; byte < size; byte++) result = (result << 8n) | ((value >> BigInt(8 * (unit + byte))) & 0xffn);
  }
  return result;
}

/** What a field becomes when a program stores it in the byte order of its CPU; the value itself is not among them. */
export function swappedForms(width: number, value: bigint): bigint[] {
  const whole = ones(width);
  const forms: bigint[] = [];
  if (width === 12) forms.push(reversedBytes(value, 2) & whole);
  else if (width === 20) forms.push((reversedBytes(value << 12n, 4) >> 12n) & whole, reversedBytes(value, 4) & whole);
  else if (width > 8 && width % 8 === 0) forms.push(reversedBytes(value, width / 8));
  // A program that swaps 16 bits of a number in a wider field; with one byte 0 it is a shift.
  if ([20, 24, 32].includes(width) && value <= 0xffffn && value > 0xffn && (value & 0xffn) !== 0n)
    forms.push(reversedBytes(value, 2));
  if (width === 128) forms.push(reversedBytes(value, 16, 4), reversedBytes(value, 16, 2));
  return forms.filter((form) => form !== value);
}

/** The fewest masked bits that say enough about the order of bytes: those of a VLAN id. */
const ENOUGH = 12;

/** Whether a term expects the bytes of the frame in the opposite order. */
export function isSwapped({ field, mask, value, found }: PresentTerm): boolean {
  if (mask.toString(2).replaceAll("0", "").length < ENOUGH) return false;
  // A frame that has the value, or one that reads the same both ways, says nothing.
  return swappedForms(field.width, found).some((form) => (form & mask) === value && value !== (found & mask));
}

/** Whether a key fails a rule, and every field that differs has the same bytes in the opposite order. */
export function wantsSwappedBytes(rule: KeyMatch, key: Uint8Array): boolean {
  const failing = termFacts(rule, key).filter(({ agrees }) => !agrees);
  return failing.length > 0 && failing.every((term) => isPresentTerm(term) && isSwapped(term));
}

const swappedBytes: Detector = {
  name: "swapped-bytes",
  detect({ failing }) {
    return aboutValues(failing.filter(isPresentTerm).filter(isSwapped), (term) => {
      const digits = term.field.kind === "number" ? ` (${hex(term, term.value)} and ${hex(term, term.found)})` : "";
      return `${differs(term)}${digits}: these are the same bytes in the opposite order. Give the value as ${takesFound(term).after}.`;
    });
  },
};

/** Ranges have numbers in the order of the CPU as well. */
const swappedRange: Detector = {
  name: "swapped-bytes",
  detect({ failing }) {
    for (const { field, range, found, wanted } of failing) {
      if (range === null || found === null || field.width !== 16) continue;
      const [low, high] = [reversedBytes(range.low, 2), reversedBytes(range.high, 2)];
      // Ranges of ports are narrow; with swapped bytes they become wide.
      if (low > high || found < low || found > high || high - low >= range.high - range.low) continue;
      const after = `${low}-${high}`;
      return {
        sentence: `The rule expects ${field.name} in ${wanted}, and the frame has ${found}: with the bytes of both ends swapped, the range is ${after}. Match that range.`,
        changes: [{ field: field.name, before: wanted, after }],
      };
    }
    return null;
  },
};

/** Full values that are those of the frame, shifted. */
function shifted({ failing }: Facts, fields: RegExp, bits: number): PresentTerm[] {
  const shift = BigInt(bits);
  return failing.filter(isPresentTerm).filter(({ field, mask, value, found }) => {
    if (!fields.test(field.name) || mask !== fullMask(field) || value === 0n || found === 0n) return false;
    return value === ((found << shift) & mask) || value === found >> shift;
  });
}

const vniShifted: Detector = {
  name: "vni-shifted",
  detect(facts) {
    const terms = shifted(facts, /(vxlan|geneve|gpe)_vni$/, 8);
    const say = (whose: string) => (term: PresentTerm) =>
      `${differs(term)}: ${whose} is shifted by 8 bits. The VNI is 24 bits, and the byte after it is reserved.`;
    // Where no bit of the number is lost in the rule, the frame has the shifted one.
    const [inFrame] = terms.filter(({ value, found }) => found === value << 8n);
    return inFrame === undefined
      ? aboutValues(terms, say("the value"))
      : { sentence: say("the VNI of the frame")(inFrame) };
  },
};

/** NVGRE: the VSID is the upper 24 bits of the key, and the flow ID the lower 8 (RFC 7637). */
const vsidAsKey: Detector = {
  name: "vsid-as-gre-key",
  detect({ failing }) {
    const [term, ...others] = failing;
    if (term?.name !== "misc.gre_key" || !isPresentTerm(term) || others.length > 0) return null;
    if (term.value === 0n || term.mask !== fullMask(term.field) || term.found >> 8n !== term.value) return null;
    const after = termText(term.field, 0xffffff00n, term.value << 8n);
    return {
      sentence: `${differs(term)}: ${term.value} is its upper 24 bits. In NVGRE these are the VSID, and the lower 8 bits are the flow ID. Match ${after}.`,
      changes: [{ field: term.name, before: term.wanted, after }],
    };
  },
};

const dscpShifted: Detector = {
  name: "dscp-shifted",
  detect: (facts) =>
    aboutValues(
      shifted(facts, /\.ip_dscp$/, 2),
      (term) =>
        `${differs(term)}: the value is shifted by 2 bits. The DSCP is the upper six bits of the TOS byte, without ECN.`,
    ),
};

/** The parts of a label stack entry, from its most significant bits. */
const ENTRY = [
  ["label", 20n],
  ["exp", 3n],
  ["s_bos", 1n],
  ["ttl", 8n],
] as const;

const labelShifted: Detector = {
  name: "mpls-label-shifted",
  detect(facts) {
    for (const stack of new Set(
      facts.failing.flatMap(({ name }) => /^(.*mpls.*)_(label|exp|s_bos|ttl)$/.exec(name)?.[1] ?? []),
    )) {
      const label = named(`${stack}_label` as FieldName);
      const found = facts.found(label.name as FieldName);
      if (found === null || found === 0n) continue;
      const parts = ENTRY.map(([part, width]) => ({
        term: facts.terms.find(({ name }) => name === `${stack}_${part}`),
        width,
      }));
      const entryBits = (bits: "mask" | "value"): bigint =>
        parts.reduce((sum, { term, width }) => (sum << width) | (term?.[bits] ?? 0n), 0n);
      const [mask, value] = [entryBits("mask"), entryBits("value")];
      // The label lies in the lowest bits of the entry, or it was shifted although the field has no other bits.
      const isLow = (mask & 0xffn) === 0xffn && value !== 0n && (found & mask) === value;
      const isHigh = parts[0]?.term?.mask === 0xfffffn && value >> 12n === ((found << 12n) & 0xfffffn) && value !== 0n;
      if (!isLow && !isHigh) continue;
      const terms = parts.flatMap(({ term }) => term ?? []);
      const wanted = terms.map(({ name, wanted: text }) => `${name} ${text}`).join(", ");
      return {
        sentence: `The rule expects ${wanted}, and the frame has ${label.name} ${found}: the label is shifted by 12 bits. It is the upper 20 bits of the label stack entry; EXP, bottom of stack and TTL follow it.`,
        changes: [
          { field: label.name, before: parts[0]?.term?.wanted ?? null, after: found.toString() },
          ...(isLow ? terms.filter(({ name }) => name !== label.name).map(leavesOut) : []),
        ],
      };
    }
    return null;
  },
};

function hex({ field: { width } }: PresentTerm, value: bigint): string {
  return `0x${value.toString(16).padStart(Math.ceil(width / 4), "0")}`;
}

export const BYTE_ORDER: readonly Detector[] = [
  swappedBytes,
  swappedRange,
  vniShifted,
  vsidAsKey,
  dscpShifted,
  labelShifted,
];
