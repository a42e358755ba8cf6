/** What an OpenFlow flow matches. */
import { ones } from "../../../base/bits.js";
import { namesHint } from "../../../base/nearest.js";
import { numberOf } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import { fragment, fragments, OpenMatch, UNTAGGED } from "./openMatch.js";
import { stateAsk, zoneAsk } from "./connection.js";
import {
  bitsOf,
  FIELD_NAMES,
  fieldNamed,
  PROTOCOL,
  SHORTHANDS,
  TYPE,
  whyRefused,
  type Needs,
  type OvsField,
  type Ask,
} from "../fields.js";
import { type FlowMatch, type TunnelKey } from "./steps.js";
import { maskedOf, valueOf, type Masked } from "./values.js";

/** A field of a match, by the word that it has in the text. */
export interface MatchWord {
  readonly name: Word;
  /** Undefined: a word without a value, such as "tcp". */
  readonly value: Word | undefined;
}

/** What flows of one kind have: their EtherType and protocol, if the match says them. */
export interface Kind {
  readonly type: number | undefined;
  readonly protocol: number | undefined;
}

/** Where actions stand. */
export interface Around {
  readonly kind: Kind;
  /** The table of the flow. */
  readonly table: string;
  /** Whether all frames have a tag there; null for a bucket, of which no match says what its frames are. */
  readonly isTagged: boolean | null;
}

/** A kind of which nothing is known. */
export const ANY_KIND: Kind = { type: undefined, protocol: undefined };

/** Whether flows of a kind may not have the header that a field needs (`mf_are_prereqs_ok` of lib/meta-flow.c). */
export function lacksHeader({ type, protocol }: Kind, { types, protocols }: Needs): boolean {
  if (types !== undefined && (type === undefined || !types.includes(type))) return true;
  return protocols !== undefined && (protocol === undefined || !protocols.includes(protocol));
}

export interface ReadMatch {
  readonly match: FlowMatch;
  readonly kind: Kind;
  /** Whether it asks for a tag. */
  readonly isTagged: boolean;
}

/** What a flow has besides its match: numbers of what it has counted, and what says nothing of frames. */
const FLAGS = ["send_flow_rem", "check_overlap", "reset_counts", "no_packet_counts", "no_byte_counts"];
const COUNTS = "n_packets n_bytes idle_age hard_age importance n_offload_packets n_offload_bytes hit_count".split(" ");
export const ABOUT: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(FLAGS.map((name) => [name, /^$/])),
  ...Object.fromEntries(COUNTS.map((name) => [name, /^\d+$/])),
  cookie: /^(?:0x)?[\da-f]+(?:\/(?:0x[\da-f]+|-?\d+))?$/i,
  duration: /^[\d.]+s?$/,
  flags: /^(?:0x[\da-f]+|\d+)$/i,
  packet_type: /^(?:\\?\(\w+,\w+\\?\)|ptap)$/,
};
export const TIMEOUTS = ["idle_timeout", "hard_timeout"];
const FLOW_WORDS = ["priority", "table", ...TIMEOUTS, ...Object.keys(ABOUT)];

export type Assume = (word: Word, reason: string) => void;

/** The word for a tag that is not there. */
const NO_VLAN = 0xffffn;
const TAGGED = 0x1000n;

/** Fields that Open vSwitch takes for 0 in fragments, the first one included. */
const HIDDEN_IN_FRAGMENTS: ReadonlySet<string> = new Set([
  ...["tcp", "udp", "sctp"].flatMap((protocol) => [`${protocol}_src`, `${protocol}_dst`]),
  ...["icmp_type", "icmp_code", "icmpv6_type", "icmpv6_code"],
]);

/** @throws NotImported the match cannot be expressed */
export function readMatch(words: readonly MatchWord[], assume: Assume): ReadMatch {
  const kind = kindOf(words);
  const reader = new MatchReader(kind, assume);
  for (const word of words) reader.add(word);
  return { match: reader.match(), kind, isTagged: reader.isTagged };
}

function kindOf(words: readonly MatchWord[]): Kind {
  let type: number | undefined;
  let protocol: number | undefined;
  for (const { name, value } of words) {
    const text = name.text.toLowerCase();
    const shorthand = value === undefined ? SHORTHANDS[text] : undefined;
    if (shorthand !== undefined) [type, protocol = protocol] = shorthand;
    if (value === undefined || value.text.includes("/")) continue;
    const field = fieldNamed(text);
    if (field?.name === "eth_type") type = Number(valueOf(value, field));
    if (field?.name === "ip_proto") protocol = Number(valueOf(value, field));
  }
  return { type, protocol };
}

/** Names that mean other fields for other kinds of frames. */
export function realName(name: string, { type, protocol }: Kind): string {
  const text = name.toLowerCase();
  const [, side = ""] = /_(src|dst)$/.exec(text) ?? [];
  const isArp = type === TYPE.arp || type === TYPE.rarp;
  if (/^nw_(src|dst)$/.test(text)) return isArp ? `arp_${side === "src" ? "spa" : "tpa"}` : `ip_${side}`;
  if (isArp && (text === "nw_proto" || text === "ip_proto")) return "arp_op";
  if (/^icmp_(type|code)$/.test(text) && protocol === PROTOCOL.icmp6) return text.replace("icmp", "icmpv6");
  if (!/^tp_(src|dst)$/.test(text)) return text;
  if (protocol === PROTOCOL.icmp) return side === "src" ? "icmp_type" : "icmp_code";
  if (protocol === PROTOCOL.icmp6) return side === "src" ? "icmpv6_type" : "icmpv6_code";
  const names = { [PROTOCOL.udp]: "udp", [PROTOCOL.sctp]: "sctp" } as Readonly<Record<number, string>>;
  return `${names[protocol ?? PROTOCOL.tcp] ?? "tcp"}_${side}`;
}

class MatchReader extends OpenMatch {
  isTagged = false;

  constructor(
    private readonly kind: Kind,
    private readonly assume: Assume,
  ) {
    super();
  }

  add({ name, value }: MatchWord): void {
    if (value === undefined) {
      this.#shorthand(name);
      return;
    }
    const text = realName(name.text, this.kind);
    if (text === "ct_state") {
      this.asks.push(stateAsk(value));
      return;
    }
    if (text === "conj_id") {
      this.conjunction = numberOf(value, "conj_id", 32);
      return;
    }
    const refused = whyRefused(text);
    if (refused !== undefined) notImported(name, refused);
    const field =
      fieldNamed(text) ??
      notImported(
        name,
        `there is no field ${name.text}; ${namesHint(name.text, "fields", [...FLOW_WORDS, ...FIELD_NAMES])}`,
      );
    if (lacksHeader(this.kind, field.needs)) {
      this.assume(name, "Open vSwitch leaves it out: the match does not say the protocol that has it");
      return;
    }
    this.#field(field, value);
  }

  #shorthand(name: Word): void {
    const [type, protocol] = SHORTHANDS[name.text.toLowerCase()] ?? [];
    if (type === undefined) {
      if (name.text === "eth") return;
      notImported(
        name,
        `there is no field ${name.text}; ${namesHint(name.text, "fields", [...Object.keys(SHORTHANDS), ...FLOW_WORDS, ...FIELD_NAMES])}`,
      );
    }
    this.asks.push(...shorthandAsks(type, protocol));
  }

  #field(field: OvsField, value: Word): void {
    const { name } = field;
    if (name === "in_port") this.inPort = value.text.replace(/^(["'])(.*)\1$/, "$2");
    else if (name === "nw_frag") this.#fragment(value);
    else if (name === "dl_vlan") this.#tag(dlVlan(value));
    else if (name === "vlan_pcp") {
      const { value: pcp, mask } = maskedOf(value, field);
      this.#tag({ value: (pcp << 13n) | TAGGED, mask: (mask << 13n) | TAGGED });
    } else if (name === "vlan_vid" || name === "vlan_tci") this.#tag(maskedOf(value, field));
    else if (name.startsWith("tun_")) this.tunnel[name.slice(4) as TunnelKey] = maskedOf(value, field);
    else if (name === "ct_zone") this.asks.push(zoneAsk(maskedOf(value, field)));
    else this.#parts(field, maskedOf(value, field), value);
  }

  #parts(field: OvsField, { value, mask }: Masked, word: Word): void {
    const covered = field.parts.reduce((bits, { low, width }) => bits | (ones(width) << BigInt(low)), 0n);
    if ((mask & value & ~covered) !== 0n) notImported(word, `the device does not match all bits of ${field.name}`);
    const asks = bitsOf(field, value, mask);
    if (asks.length === 0 || !HIDDEN_IN_FRAGMENTS.has(field.name)) this.asks.push(...asks);
    else if (value === 0n) this.either.push([[fragment(0n), ...asks], [fragment(1n)]]);
    else this.asks.push(fragment(0n), ...asks);
  }

  /** A tag control field of which bit 12 says that there is a tag. */
  #tag({ value, mask }: Masked): void {
    const bits = { value: value & ~TAGGED, mask: mask & ~TAGGED };
    const isThere = (mask & TAGGED) !== 0n;
    this.isTagged ||= isThere && (value & TAGGED) !== 0n;
    if (mask === 0n) return;
    if (isThere && (value & TAGGED) === 0n) {
      for (const ask of UNTAGGED) this.asks.push(ask);
      if (bits.value !== 0n) this.ask("outer.cvlan_tag", 1n, 1n);
    } else if (isThere || bits.value !== 0n) this.asks.push(...tagAsks(bits));
    else this.either.push([UNTAGGED, tagAsks(bits)]);
  }

  #fragment(word: Word): void {
    const { text } = word;
    const first = fragments("first", this.kind.type === TYPE.ipv6);
    if (text === "0/3" || text === "0") this.asks.push(fragment(0n));
    else if (text === "yes") this.asks.push(fragment(1n));
    else if (text === "not_later") this.either.push([[fragment(0n)], ...first]);
    else if (!this.fragment(text, this.kind.type === TYPE.ipv6))
      notImported(word, `fragments are "no", "yes", "first", "later" or "not_later"; not ${text}`);
  }
}

/** What shorthands ask for: one list for all flows of a kind. */
const OF_SHORTHANDS = new Map<string, readonly Ask[]>();

function shorthandAsks(type: number, protocol: number | undefined): readonly Ask[] {
  const key = `${type} ${protocol}`;
  const found = OF_SHORTHANDS.get(key);
  if (found !== undefined) return found;
  const asks: Ask[] = [{ field: "outer.ethertype", value: BigInt(type), mask: 0xffffn }];
  if (protocol !== undefined) asks.push({ field: "outer.ip_protocol", value: BigInt(protocol), mask: 0xffn });
  OF_SHORTHANDS.set(key, asks);
  return asks;
}

function tagAsks({ value, mask }: Masked): Ask[] {
  const vid = mask & 0xfffn;
  const pcp = (mask >> 13n) & 7n;
  return [
    ...(vid !== 0n || pcp === 0n ? [{ field: "outer.first_vid", value: value & vid, mask: vid }] : []),
    ...(pcp === 0n ? [] : [{ field: "outer.first_prio", value: (value >> 13n) & pcp, mask: pcp }]),
  ];
}

function dlVlan(word: Word): Masked {
  const [text = "", mask] = word.text.split("/");
  const number = valueOf({ text, place: word.place }, { name: "dl_vlan", kind: "number", width: 16 });
  if (number === NO_VLAN && mask === undefined) return { value: 0n, mask: 0xffffn };
  const bits = maskedOf(word, { name: "dl_vlan", kind: "number", width: 12 });
  return { value: bits.value | TAGGED, mask: bits.mask | TAGGED };
}
