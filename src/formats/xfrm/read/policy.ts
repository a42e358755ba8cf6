/** A policy of `ip xfrm`: the words of its command, into which lines of listings are turned. */
import type { SourceElement } from "../../reading/finding.js";
import { namesHint } from "../../../base/nearest.js";
import { numberOf } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";
import { prefixOf, readSelector, type Prefix, type Selector } from "./selector.js";

export interface Template {
  src?: Prefix;
  dst?: Prefix;
  protocol: string;
  spi: number;
  reqid: number;
  mode: string;
}

export interface XfrmPolicy {
  readonly origin: SourceElement;
  readonly first: Word;
  /** Of policies of one priority the one with the lowest number is first. */
  readonly order: number;
  readonly selector: Selector;
  direction: string;
  priority: number;
  index?: number;
  type: Word | undefined;
  isBlock: boolean;
  /** A policy of one socket. */
  isOfSocket: boolean;
  readonly templates: Template[];
  /** The device of `offload packet`. */
  dev?: Word;
}

export function newPolicy(origin: SourceElement, first: Word, order = 0): XfrmPolicy {
  return {
    origin,
    first,
    order,
    selector: {},
    direction: "",
    priority: 0,
    type: undefined,
    isBlock: false,
    isOfSocket: false,
    templates: [],
  };
}

const WORDS = [
  "src",
  "dst",
  "proto",
  "sport",
  "dport",
  "dir",
  "priority",
  "action",
  "tmpl",
  "offload",
  "index",
  "ptype",
];
const FLAGS = ["localok", "icmp"];

/** Reads the words of a policy up to the end. @throws NotImported */
export function readPolicy(policy: XfrmPolicy, words: Cursor): void {
  while (!words.done) {
    const word = words.next("a word");
    switch (word.text) {
      case "dir":
        policy.direction = words.next("a direction").text;
        break;
      case "socket":
        policy.isOfSocket = true;
        words.next("a direction");
        break;
      case "priority":
        policy.priority = numberOf(words.next("a number"), "priority");
        break;
      case "index":
        policy.index = numberOf(words.next("a number"), "index");
        break;
      case "action":
        policy.isBlock = words.next("allow or block").text === "block";
        break;
      case "ptype":
        policy.type = words.next("a type");
        break;
      case "tmpl":
        policy.templates.push(readTemplate(words));
        break;
      case "offload": {
        words.take("packet");
        if (!words.take("dev")) notImported(word, "an offload has dev NAME");
        policy.dev = words.next("a device");
        if (words.take("dir")) words.next("a direction");
        break;
      }
      case "flag":
        while (FLAGS.includes(words.peek() ?? "")) words.next("a flag");
        break;
      case "limit":
        words.next("a limit");
        words.next("a number");
        break;
      case "mark":
        words.next("a mark");
        if (words.take("mask")) words.next("a mask");
        break;
      case "ctx":
      case "if_id":
        words.next("its value");
        break;
      default:
        if (!readSelector(word, words, policy.selector))
          notImported(word, `not a word of a policy; ${namesHint(word.text, "words", WORDS)}`);
    }
  }
}

// ip-xfrm(8): XFRM-PROTO and MODE.
const PROTOCOLS = ["esp", "ah", "comp", "route2", "hao"];
const MODES = ["transport", "tunnel", "beet", "ro", "in_trigger", "iptfs"];

function oneOf(names: readonly string[], word: Word, what: string): string {
  return names.includes(word.text) ? word.text : notImported(word, `${what} is ${names.join(", ")}`);
}

function readTemplate(words: Cursor): Template {
  const template: Template = { protocol: "esp", spi: 0, reqid: 0, mode: "transport" };
  for (;;) {
    const name = words.peek();
    if (name === "src" || name === "dst") {
      words.next(name);
      const prefix = prefixOf(words.next("an address"));
      if (prefix !== undefined && prefix.value !== 0n) template[name] = prefix;
    } else if (name === "proto") {
      words.next(name);
      template.protocol = oneOf(PROTOCOLS, words.next("a protocol"), "the protocol of a template");
    } else if (name === "spi" || name === "reqid") {
      words.next(name);
      template[name] = numberOf(words.next("a number"), name);
    } else if (name === "mode") {
      words.next(name);
      template.mode = oneOf(MODES, words.next("a mode"), "the mode of a template");
    } else if (name === "level" || name === "share") {
      words.next(name);
      words.next("its value");
    } else return template;
  }
}
