/** Broken bytes, texts and documents, made from whole ones. */
import type { Random } from "../../../oracle/generate/random.js";

/** Lengths and counts at their ends. */
const EXTREMES = [0, 1, 2, 3, 4, 7, 8, 12, 16, 31, 32, 255, 256, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff];

/** Up to three faults in a copy of `bytes`. */
export function brokenBytes(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  let copy: Uint8Array = bytes.slice();
  for (let left = random.below(4); left > 0; left--) copy = byteFault(copy, other, random);
  return copy;
}

function byteFault(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const reach = random.pick([bytes.length, 128, 32]);
  const at = random.below(Math.min(reach, bytes.length) + 1);
  switch (random.below(6)) {
    case 0:
      if (at < bytes.length) bytes[at]! ^= 1 << random.below(8);
      return bytes;
    case 1:
      putNumber(bytes, at & ~random.pick([0, 3]), random);
      return bytes;
    case 2:
      return bytes.slice(0, at);
    case 3:
      return joined(bytes.subarray(0, at), other.subarray(random.below(other.length + 1)));
    case 4:
      return joined(bytes.subarray(0, at), bytes.subarray(Math.min(at + random.between(1, 64), bytes.length)));
    default:
      return joined(bytes.subarray(0, at), bytes.subarray(Math.max(at - random.below(64), 0)));
  }
}

/** A number of 2 or 4 bytes in either byte order. */
function putNumber(bytes: Uint8Array, at: number, random: Random): void {
  const size = random.pick([2, 4, 4]);
  const value = random.chance(0.8) ? random.pick(EXTREMES) : random.word();
  const little = random.chance(0.5);
  for (let i = 0; i < size && at + i < bytes.length; i++)
    bytes[at + i] = (value >>> (8 * (little ? i : size - 1 - i))) & 0xff;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Numbers and signs that texts have in wrong places. */
const WORDS = [
  ...["0", "-1", "1", "65536", "4294967295", "4294967296", "18446744073709551616", "1e999", "0x", "0xffffffff", "08"],
  ...["*", "/", "/33", "/129", "255.255.255.256", "::", ":", "::/0", "-", "!", "any", "all", "=", ",", ";", "\\", '"'],
  ...["'", "{", "}", "(", ")", "[", "]", "<<", "$(", "`", "#", "\t", "\u0000", "\u2028", "\ufeff", "é", "😀", ""],
];

/** Up to four faults in a text: words, lines, characters. */
export function brokenText(text: string, other: string, random: Random): string {
  let copy = text;
  for (let left = random.below(5); left > 0; left--) copy = textFault(copy, other, random);
  return copy;
}

function textFault(text: string, other: string, random: Random): string {
  const at = random.below(text.length + 1);
  switch (random.below(7)) {
    case 0:
      return onWords(text, random, () => random.pick(WORDS));
    case 1:
      return onWords(text, random, (word) => `${word}${random.pick(WORDS)}`);
    case 2:
      return onLines(text, random, (line) => random.pick(["", `${line}\n${line}`, line.split("").reverse().join("")]));
    case 3:
      return onLines(text, random, () => random.pick(other.split("\n")));
    case 4:
      return text.slice(0, at) + random.pick(WORDS) + text.slice(at + random.below(3));
    case 5:
      return text.slice(0, at) + text.slice(at + random.between(1, 40));
    default:
      return onWords(text, random, (word) => random.pick(other.split(/\s+/)) || word);
  }
}

function onWords(text: string, random: Random, change: (word: string) => string): string {
  const words = [...text.matchAll(/[^\s,=:()[\]{}"]+/g)];
  if (words.length === 0) return text;
  const { 0: word, index } = random.pick(words);
  return text.slice(0, index) + change(word) + text.slice(index + word.length);
}

function onLines(text: string, random: Random, change: (line: string) => string): string {
  const lines = text.split("\n");
  const at = random.below(lines.length);
  lines[at] = change(lines[at] ?? "");
  return lines.join("\n");
}

/** Values that hardly any key of a document takes. */
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 32, 2 ** 53, 1e300, "", "0", "-1", "full", "x".repeat(300), [], {}, [[]]],
  ...["10.0.0.0/8", "2001:db8::/32", "1-9", "0x1/0x1", "02:00:00:00:00:01", "__proto__", "constructor", "\u0000"],
];

/** A copy of a document with up to four faults: values, keys and elements changed, removed, doubled, moved. */
export function brokenDocument(document: unknown, random: Random): unknown {
  const copy = structuredClone(document);
  for (let left = random.below(5); left > 0; left--) documentFault(copy, random);
  return copy;
}

type Parent = Record<string, unknown>;

function documentFault(document: unknown, random: Random): void {
  const places = placesIn(document);
  if (places.length === 0) return;
  const { parent, key } = random.pick(places);
  const other = random.pick(places);
  switch (random.below(6)) {
    case 0:
      parent[key] = structuredClone(random.pick(VALUES));
      return;
    case 1:
      remove(parent, key);
      return;
    case 2:
      parent[key] = structuredClone(other.parent[other.key]);
      return;
    case 3:
      if (Array.isArray(parent)) parent.push(structuredClone(parent[Number(key)]));
      else parent[random.pick([other.key, "more", "__proto__"])] = structuredClone(random.pick(VALUES));
      return;
    case 4:
      parent[key] = near(parent[key], random);
      return;
    default:
      // Copies: one may hold the other.
      [parent[key], other.parent[other.key]] = structuredClone([other.parent[other.key], parent[key]]);
  }
}

/** A value beside the one that was there. */
function near(value: unknown, random: Random): unknown {
  if (typeof value === "number")
    return value + random.pick([-1, 1, 0.5, 256, -value, 2 ** 16 - value, 2 ** 32 - value]);
  if (typeof value === "string") return brokenText(value, "next drop full 10.0.0.1 0x800", random);
  if (Array.isArray(value)) return random.shuffle(value as unknown[]);
  return typeof value === "boolean" ? !value : value;
}

function remove(parent: Parent, key: string): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else Reflect.deleteProperty(parent, key);
}

interface DocumentPlace {
  readonly parent: Parent;
  readonly key: string;
}

/** Every value within a document, by what holds it. */
function placesIn(value: unknown, found: DocumentPlace[] = []): DocumentPlace[] {
  if (typeof value !== "object" || value === null) return found;
  const parent = value as Parent;
  for (const key of Object.keys(parent)) {
    found.push({ parent, key });
    placesIn(parent[key], found);
  }
  return found;
}
