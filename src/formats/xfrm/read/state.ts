/** A state of `ip xfrm`: the words of its command, into which lines of listings are turned. */
import type { SourceElement } from "../../reading/finding.js";
import { nearest } from "../../../base/nearest.js";
import { integerOf } from "../../../base/integer.js";
import { bigOf, numberOf } from "../../text/numbers.js";
import { notImported, unknownName, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";
import { prefixOf, readSelector, type Prefix, type Selector } from "./selector.js";
import type { STATE_WORDS } from "./elements.js";

export interface Offload {
  readonly kind: "crypto" | "packet";
  readonly dev: Word;
  readonly direction: "in" | "out";
}

export interface XfrmState {
  readonly origin: SourceElement;
  readonly first: Word;
  src?: Prefix | undefined;
  dst?: Prefix | undefined;
  protocol: string;
  spi: number;
  reqid: number;
  mode: Word;
  /** The algorithm, the digits of key and salt, and bits of the ICV. */
  aead?: { readonly name: Word; readonly digits: string; readonly icv: number };
  /** Other algorithms: two passes, or no cipher. */
  other?: Word;
  isEsn: boolean;
  window: number;
  readonly numbers: { seq: number; oseq: number; seqHi: number; oseqHi: number };
  encap?: { readonly type: Word; readonly sport: number; readonly dport: number };
  hardPackets: bigint;
  tfcPad?: Word;
  readonly selector: Selector;
  offload?: Offload;
}

export function newState(origin: SourceElement, first: Word): XfrmState {
  return {
    origin,
    first,
    protocol: "esp",
    spi: 0,
    reqid: 0,
    mode: { ...first, text: "transport" },
    isEsn: false,
    window: 0,
    numbers: { seq: 0, oseq: 0, seqHi: 0, oseqHi: 0 },
    hardPackets: 0n,
    selector: {},
  };
}

/** Reads the words of a state up to the end. @throws NotImported */
export function readState(state: XfrmState, words: Cursor): void {
  while (!words.done) {
    const word = words.next("a word");
    const read = READERS[word.text];
    if (read !== undefined) {
      read(state, words, word);
      continue;
    }
    // What is far from each word may be a key.
    const shown = nearest(word.text, WORDS) === undefined ? { ...word, text: "a word" } : word;
    unknownName(shown, "a word of a state", "words", WORDS);
  }
}

const FLAGS = ["noecn", "decap-dscp", "nopmtudisc", "wildrecv", "icmp", "af-unspec", "align4", "esn"];
const EXTRA_FLAGS = ["dont-encap-dscp", "oseq-may-wrap"];

type Read = (state: XfrmState, words: Cursor, word: Word) => void;

/** A word with one value, which changes nothing here. */
const skip: Read = (_, words) => {
  words.next("its value");
};
/** A value and, after `mask`, a mask. */
const skipMarked: Read = (_, words) => {
  words.next("its value");
  if (words.take("mask")) words.next("a mask");
};
const other: Read = (state, words, word) => {
  state.other = word;
  words.next("an algorithm");
  if (word.text !== "comp") words.next("a key");
  if (word.text === "auth-trunc") words.next("a length");
};
const counter =
  (name: keyof XfrmState["numbers"]): Read =>
  (state, words, word) => {
    state.numbers[name] = numberOf(words.next("a number"), word.text);
  };

const READERS: Readonly<Record<keyof typeof STATE_WORDS, Read>> & Readonly<Record<string, Read | undefined>> = {
  src: (state, words) => setAddress(state, "src", words.next("an address")),
  dst: (state, words) => setAddress(state, "dst", words.next("an address")),
  proto: (state, words) => {
    state.protocol = words.next("a protocol").text;
  },
  spi: (state, words) => {
    state.spi = numberOf(words.next("a SPI"), "a SPI");
  },
  reqid: (state, words) => {
    state.reqid = numberOf(words.next("a number"), "reqid");
  },
  mode: (state, words) => {
    state.mode = words.next("a mode");
  },
  aead(state, words) {
    const name = words.next("an algorithm");
    const digits = digitsOf(words.next("a key"));
    const icv = words.next("bits of the ICV");
    if (integerOf(icv.text) === undefined)
      notImported(
        { text: "aead", place: icv.place },
        "it has an algorithm, a key and the bits of the ICV: a key with blanks is quoted",
      );
    state.aead = { name, digits, icv: numberOf(icv, "bits of the ICV", 16) };
  },
  enc: other,
  auth: other,
  "auth-trunc": other,
  comp: other,
  "replay-window": (state, words) => {
    state.window = numberOf(words.next("a number"), "replay-window");
  },
  "replay-seq": counter("seq"),
  "replay-oseq": counter("oseq"),
  "replay-seq-hi": counter("seqHi"),
  "replay-oseq-hi": counter("oseqHi"),
  flag(state, words) {
    while (FLAGS.includes(words.peek() ?? "")) if (words.next("a flag").text === "esn") state.isEsn = true;
  },
  "extra-flag"(_, words) {
    while (EXTRA_FLAGS.includes(words.peek() ?? "")) words.next("a flag");
  },
  sel(state, words) {
    while (/^(?:src|dst|proto|sport|dport|dev|uid|type|code|key)$/.test(words.peek() ?? ""))
      readSelector(words.next("a word"), words, state.selector);
  },
  limit(state, words) {
    const what = words.next("a limit");
    const value = words.next("a number");
    if (what.text === "packet-hard") state.hardPackets = bigOf(value, what.text, 64);
  },
  encap(state, words) {
    const type = words.next("a type");
    const [sport, dport] = [words.next("a port"), words.next("a port")].map((port) => numberOf(port, "a port", 16));
    if (!words.done && !((words.peek() as string) in READERS)) words.next("an address");
    state.encap = { type, sport: sport ?? 0, dport: dport ?? 0 };
  },
  tfcpad(state, words, word) {
    if (integerOf(words.next("a length").text) !== 0n) state.tfcPad = word;
  },
  offload(state, words, word) {
    const kind = words.take("packet") ? "packet" : "crypto";
    words.take("crypto");
    if (!["dev", "dir", undefined].includes(words.peek()))
      unknownName(words.next("a word"), "a word of an offload", "words", ["packet", "crypto", "dev", "dir"]);
    const [dev, direction] = deviceAndDirection(words);
    if (dev === undefined || direction === undefined) notImported(word, "an offload has dev NAME dir in|out");
    else state.offload = { kind, dev, direction };
  },
  dir: skip,
  seq: skip,
  coa: skip,
  ctx: skip,
  if_id: skip,
  "pcpu-num": skip,
  mark: skipMarked,
  "output-mark": skipMarked,
};
const WORDS = Object.keys(READERS);

function deviceAndDirection(words: Cursor): [Word | undefined, "in" | "out" | undefined] {
  let dev: Word | undefined;
  let direction: "in" | "out" | undefined;
  for (;;) {
    if (words.take("dev")) dev = words.next("a device");
    else if (words.take("dir")) {
      const to = words.next("in or out");
      if (to.text !== "in" && to.text !== "out") return notImported(to, "a direction is in or out");
      direction = to.text;
    } else return [dev, direction];
  }
}

function setAddress(state: XfrmState, end: "src" | "dst", word: Word): void {
  const prefix = prefixOf(word);
  // 0.0.0.0 and :: are any address.
  state[end] = prefix?.value === 0n ? undefined : prefix;
  // iproute2, ip/ipxfrm.c, xfrm_id_parse().
  if (state[end] !== undefined && (state[end].mask & 1n) === 0n)
    notImported(word, "a state has one address here: ip ignores the length of the prefix");
}

/** The key as digits: it is given in hexadecimal, or as the characters that it has. @throws NotImported */
function digitsOf({ text, place }: Word): string {
  if (/^0x/i.test(text)) {
    if (/^0x(?:[\da-f]{2})+$/i.test(text)) return text.slice(2).toLowerCase();
    return notImported({ text: "key", place }, "after 0x a key has pairs of hexadecimal digits");
  }
  if (text.startsWith("<"))
    return notImported({ text: "key", place }, "the key is not in the text: list states without nokeys");
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
