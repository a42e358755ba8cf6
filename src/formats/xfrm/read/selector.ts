/** Which packets a policy or a state is for: `src ADDR/LEN dst ADDR/LEN proto tcp sport N dport N dev DEV`. */
import { parseIpv6 } from "../../../packet/addresses.js";
import { addressOf, numberOf, prefixMask } from "../../text/numbers.js";
import type { MatchDraft } from "../../rules/matchDraft.js";
import { notImported, partOf, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";

export const TCP = 6;
export const UDP = 17;
const PROTOCOLS: Readonly<Record<string, number>> = { tcp: TCP, udp: UDP, esp: 50, ah: 51, icmp: 1, sctp: 132 };

export interface Prefix {
  readonly version: 4 | 6;
  readonly value: bigint;
  readonly mask: bigint;
}

export interface Selector {
  src?: Prefix | undefined;
  dst?: Prefix | undefined;
  protocol?: number;
  protocolWord?: Word;
  sport?: number;
  dport?: number;
}

const ANY = /^(?:any|all|default)$/;

/** An address, or a prefix; undefined for any. @throws NotImported */
export function prefixOf(word: Word): Prefix | undefined {
  if (ANY.test(word.text)) return undefined;
  const at = word.text.indexOf("/");
  const address = at < 0 ? word : partOf(word, 0, at);
  const version = parseIpv6(address.text) === undefined ? 4 : 6;
  const width = version === 4 ? 32 : 128;
  const value = addressOf(address, version === 4 ? "ipv4" : "ipv6");
  const length = at < 0 ? width : numberOf(partOf(word, at + 1), "the length of a prefix", 8);
  if (length > width) notImported(word, `a prefix of IPv${version} has ${width} bits at most`);
  const mask = prefixMask(length, width);
  return { version, value: value & mask, mask };
}

/** Reads a word of a selector, and its value. @returns whether it is one. @throws NotImported */
export function readSelector(word: Word, words: Cursor, selector: Selector): boolean {
  switch (word.text) {
    case "src":
    case "dst": {
      selector[word.text] = prefixOf(words.next("an address"));
      return true;
    }
    case "proto": {
      const name = words.next("a protocol");
      selector.protocol = PROTOCOLS[name.text] ?? numberOf(name, "a protocol", 8);
      selector.protocolWord = name;
      return true;
    }
    case "sport":
    case "dport":
      selector[word.text] = numberOf(words.next("a port"), "a port", 16);
      return true;
    case "dev":
    case "uid":
      words.next("its value");
      return true;
    case "type":
    case "code":
    case "key":
      return notImported(word, UPPER);
    default:
      return false;
  }
}

const UPPER = "the mlx5 driver accepts the ports of TCP and UDP, and no other upper protocol";

/** Asks for the packets of a selector. @throws NotImported the driver does not take it */
export function askSelector(match: MatchDraft, { src, dst, ...upper }: Selector): void {
  askAddress(match, "src", src);
  askAddress(match, "dst", dst);
  askUpper(match, upper);
}

/** Asks for the upper protocol of a selector. @throws NotImported */
export function askUpper(match: MatchDraft, { protocol = 0, protocolWord, sport = 0, dport = 0 }: Selector): void {
  if (protocol === 0) return;
  if (protocol !== TCP && protocol !== UDP) notImported(protocolWord as Word, UPPER);
  match.ask("outer.ip_protocol", protocol);
  const name = protocol === TCP ? "outer.tcp" : "outer.udp";
  if (sport !== 0) match.ask(`${name}_sport`, sport);
  if (dport !== 0) match.ask(`${name}_dport`, dport);
}

export function askAddress(match: MatchDraft, end: "src" | "dst", prefix: Prefix | undefined): void {
  if (prefix === undefined) return;
  match.ask("outer.ip_version", prefix.version);
  if (prefix.mask !== 0n) match.ask(`outer.ipv${prefix.version}_${end}`, prefix.value, prefix.mask);
}

/** The same text for selectors of the same packets. */
export function selectorKey({ src, dst, protocol = 0, sport = 0, dport = 0 }: Selector): string {
  const ends = [src, dst].map((of) => `${of?.value ?? 0n}/${of?.mask ?? 0n}`);
  return [...ends, protocol, sport, dport].join();
}
