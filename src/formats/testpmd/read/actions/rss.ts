/** The action rss: which queues, by which hash, over which fields. */
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { ACTION_NAMES } from "./actions.js";
import { numberAt, unknownWord } from "../values.js";

export interface Rss {
  /** Undefined: all queues of the port. */
  queues: number[] | undefined;
  types: Word[] | undefined;
  func: Word | undefined;
  level: bigint;
  key: Word | undefined;
}

const FUNCTIONS = ["default", "toeplitz", "simple_xor", "symmetric_toeplitz"];
const ARGUMENTS = ["func", "level", "types", "key", "key_len", "queues"];

/** Types that choose fields, and types that name headers whose fields are not hashed. */
export const TYPES: readonly string[] = [
  ...["all", "none", "ip", "udp", "tcp", "sctp", "tunnel", "vlan"],
  ...["ipv4", "ipv4-frag", "ipv4-tcp", "ipv4-udp", "ipv4-sctp", "ipv4-other"],
  ...["ipv6", "ipv6-frag", "ipv6-tcp", "ipv6-udp", "ipv6-sctp", "ipv6-other"],
  ...["l2-payload", "ipv6-ex", "ipv6-tcp-ex", "ipv6-udp-ex", "port", "vxlan", "geneve", "nvgre", "gtpu", "eth"],
  ...[
    "s-vlan",
    "c-vlan",
    "esp",
    "ah",
    "l2tpv3",
    "pfcp",
    "pppoe",
    "ecpri",
    "mpls",
    "ipv4-chksum",
    "l4-chksum",
    "l2tpv2",
  ],
  ...["l3-pre96", "l3-pre64", "l3-pre56", "l3-pre48", "l3-pre40", "l3-pre32"],
  ...["l2-dst-only", "l2-src-only", "l4-dst-only", "l4-src-only", "l3-dst-only", "l3-src-only"],
];

/** @throws NotImported */
export function readRss(words: Cursor): Rss {
  const rss: Rss = { queues: undefined, types: undefined, func: undefined, level: 0n, key: undefined };
  while (!words.take("/")) {
    const word = words.next('the "/" after an action');
    switch (word.text) {
      case "func":
        rss.func = oneOf(words, "function", FUNCTIONS);
        break;
      case "level":
        rss.level = numberAt(words.next("a level"), "level", 32);
        break;
      case "key":
        rss.key = words.next("the key");
        if (!/^(?:0x)?(?:[0-9a-f]{2})+$/i.test(rss.key.text))
          notImported(rss.key, "a key is bytes as hexadecimal digits");
        break;
      case "key_len":
        numberAt(words.next("a length"), "key_len", 8);
        break;
      case "types":
        rss.types = list(words, (one) => {
          if (!TYPES.includes(one.text)) unknownWord(one, "type of RSS", TYPES);
          return one;
        });
        break;
      case "queues":
        rss.queues = list(words, (one) => Number(numberAt(one, "a queue", 16)));
        break;
      default:
        if (ACTION_NAMES.includes(word.text)) notImported(word, `"/" is missing between rss and ${word.text}`);
        unknownWord(word, "argument of rss", ARGUMENTS);
    }
  }
  return rss;
}

function list<One>(words: Cursor, read: (word: Word) => One): One[] {
  const all: One[] = [];
  for (;;) {
    const word = words.next('the "end" of a list');
    if (word.text === "end") return all;
    all.push(read(word));
  }
}

function oneOf(words: Cursor, what: string, names: readonly string[]): Word {
  const word = words.next(`a ${what}`);
  return names.includes(word.text) ? word : unknownWord(word, what, names);
}
