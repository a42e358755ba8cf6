/** The rules that the driver of a port makes for frames that no other rule takes. */
import type { Cursor } from "../../text/words.js";
import type { Word } from "../../text/refusal.js";
import { fatesOfRss } from "./actions/hash.js";
import type { Fate } from "./actions/steps.js";
import { matchOf } from "./pattern/match.js";
import type { RssPlace } from "./actions/hash.js";
import { numberAt, unknownWord } from "./values.js";

/** A function whose received frames have rules. */
export interface Receiver {
  readonly port: bigint;
  /** The port in the first of its rules. */
  readonly word: Word;
  /** The source of that rule. */
  readonly file: string;
  /** Queues that rules name, from 0. */
  queues: number;
  /** Whether its rules are of template tables. */
  isTemplated: boolean;
}

const ON = ["on", "1", "yes", "true"];
const OFF = ["off", "0", "no", "false"];

export class Receivers {
  readonly #all = new Map<number, Receiver>();
  readonly #isolated = new Set<bigint>();

  /** A rule for what a function receives. */
  of(vport: number, port: { readonly number: bigint; readonly word: Word }, file: string): Receiver {
    const known = this.#all.get(vport);
    if (known !== undefined) return known;
    const made = { port: port.number, word: port.word, file, queues: 1, isTemplated: false };
    this.#all.set(vport, made);
    return made;
  }

  /** `flow isolate PORT on|off`. @returns what undoes it @throws NotImported */
  isolate(words: Cursor): () => void {
    const port = numberAt(words.next("the port"), "the port", 16);
    const state = words.next("on or off");
    const was = this.#isolated.has(port);
    if (ON.includes(state.text)) this.#isolated.add(port);
    else if (OFF.includes(state.text)) this.#isolated.delete(port);
    else unknownWord(state, "word here", ["on", "off"]);
    return () => {
      if (was) this.#isolated.add(port);
      else this.#isolated.delete(port);
    };
  }

  /** The functions whose drivers make rules of their own. */
  get open(): readonly (readonly [vport: number, Receiver])[] {
    return [...this.#all].filter(([, { port }]) => !this.#isolated.has(port));
  }
}

/** Where the driver sends frames that no other rule takes: to all queues of the port. */
export function controlFates(queues: number, word: Word, place: Pick<RssPlace, "draft" | "queue">): Fate[] {
  const rss = { queues: Array.from({ length: queues }, (_, n) => n), types: undefined, func: undefined, level: 0n };
  const nothing = (): void => undefined;
  const walk = matchOf([], { domain: "nic_rx", sourceOf: () => 0n, option: nothing, assume: nothing });
  const silent = { packet: undefined, queues, assume: nothing, lack: nothing };
  return fatesOfRss({ ...rss, key: undefined }, word, { ...place, ...silent, walk });
}
