/** Reads options in brackets, as `printFrame` writes them: `[mss 1460, nop, wscale 7]`. */
import { IPV4, IPV6, TCP, type Option } from "../options.js";
import type { FieldKind } from "../layout.js";
import { refuseAt, type Token } from "./tokens.js";
import { wholeNumber, zeroBytes } from "./values.js";

const FAMILIES = { tcp_options: TCP, ipv4_options: IPV4, ipv6_options: IPV6 } as const;

/** A list that a field of options, or a route, takes. */
export function optionList(kind: FieldKind, list: Token): readonly (Option | string)[] {
  let column = list.column + 1;
  return list.text.split(",").flatMap((text) => {
    const at = column + (/^\s*/.exec(text)?.[0].length ?? 0);
    column += text.length + 1;
    const words = text.split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return [];
    return [kind === "route" ? (words[0] ?? "") : optionOf(kind, words, at)];
  });
}

function optionOf(kind: FieldKind, words: string[], column: number): Option {
  const [first = ""] = words;
  if (first === "rest") return { option: "rest", data: bytesIn(words.slice(1), column) };
  if (kind === "geneve_options") return geneveOption(words, column);
  if (first === "option") {
    const data = bytesIn(words.slice(2), column);
    return { option: numberIn(words[1], column), ...(data === "" ? {} : { data }) };
  }
  const { named } = FAMILIES[kind as keyof typeof FAMILIES];
  const text = words.join("_");
  const one = named.find(({ name }) => text === name || text.startsWith(`${name}_`));
  if (one === undefined) {
    const hint = `options: ${named.map(({ name }) => name.replaceAll("_", " ")).join(", ")}, option N 0x..., rest 0x...`;
    return refuseAt(column, { reason: "bad_option", value: words.join(" "), hint });
  }
  const left = words.slice(one.name.split("_").length);
  const option: Record<string, unknown> = { option: one.name };
  for (const [part, size] of one.parts) {
    const called = part.split("_");
    if (called.every((word, i) => left[i] === word)) left.splice(0, called.length);
    if (size === "addresses") option[part] = left.splice(0);
    else if (size === "data") option[part] = bytesIn(left.splice(0), column);
    else if (size === "words")
      option[part] = left.splice(0).flatMap((pair) => pair.split(":").map((word) => numberIn(word, column))); // prettier-ignore
    else option[part] = numberIn(left.shift(), column);
  }
  if (left.length === 0) return option;
  const parts = one.parts.map(([part]) => part.replaceAll("_", " ")).join(", ") || "nothing";
  const hint = `${one.name.replaceAll("_", " ")} takes ${parts}`;
  return refuseAt(column, { reason: "bad_option", value: words.join(" "), hint });
}

/** `class 0x0102 type 0x80 data 0xcafebabe`. */
function geneveOption(words: readonly string[], column: number): Option {
  const option: Record<string, unknown> = {};
  for (let i = 0; i < words.length; i += 2) {
    const key = words[i] ?? "";
    if (!["class", "type", "reserved", "length", "data"].includes(key)) {
      const hint = "an option is class N type N, with data 0x..., reserved N or length N";
      return refuseAt(column, { reason: "bad_option", value: words.join(" "), hint });
    }
    if (key !== "data") option[key] = numberIn(words[i + 1], column);
    else {
      option[key] = bytesIn(words.slice(i + 1), column);
      break;
    }
  }
  return option;
}

function numberIn(word: string | undefined, column: number): number | bigint {
  const number = wholeNumber(word ?? "");
  if (number !== undefined) return number;
  return refuseAt(column, { reason: "bad_option", value: word ?? "", hint: "a number, decimal or 0x..." });
}

/** `0x0102`, `4 zero bytes`, or nothing; as hexadecimal digits. */
function bytesIn(words: readonly string[], column: number): string {
  const [first = "", zero, bytes = ""] = words;
  if (first === "") return "";
  if (/^0x/i.test(first) && words.length === 1) return first.slice(2);
  const zeros = zero === "zero" ? zeroBytes(first, bytes) : undefined;
  if (zeros !== undefined && words.length === 3) return zeros;
  return refuseAt(column, { reason: "bad_option", value: words.join(" "), hint: "bytes are 0x0102 or 2 zero bytes" });
}
