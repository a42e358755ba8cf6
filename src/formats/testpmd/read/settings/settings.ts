/** What commands before a rule set for it. */
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { readActions, type Action } from "../actions/read.js";
import { readPattern } from "../pattern/read.js";
import { numberAt } from "../values.js";
import { Conntrack } from "./conntrack.js";
import { rawHeaders, type RawHeader } from "./headers.js";
import { Meters } from "./meters.js";
import { Tunnels } from "./tunnels.js";

type RawKind = "raw_encap" | "raw_decap";

export class Settings {
  readonly tunnels = new Tunnels();
  readonly meters = new Meters();
  readonly conntrack = new Conntrack();
  readonly #raw = new Map<string, readonly RawHeader[]>();
  readonly #samples = new Map<bigint, readonly Action[]>();
  readonly #indirect = new Map<string, readonly Action[]>();
  /** Queues of each port, where the text says it. */
  queues: number | undefined;

  /** `set raw_encap [INDEX] ITEMS end_set`. @throws NotImported */
  setRaw(kind: RawKind, words: Cursor): void {
    const hasIndex = /^\d/.test(words.peek() ?? "");
    const index = hasIndex ? numberAt(words.next(""), "the index", 16) : 0n;
    // If it is refused, rules after it do not have what an earlier command set.
    this.#raw.delete(`${kind} ${index}`);
    this.#raw.set(`${kind} ${index}`, rawHeaders(readPattern(words, ["end_set"])));
  }

  /** @throws NotImported there is none, or it was refused */
  raw(kind: RawKind, index: bigint, word: Word): readonly RawHeader[] {
    return this.#raw.get(`${kind} ${index}`) ?? notImported(word, `there is no "set ${kind} ${index}" before this`);
  }

  /** `set sample_actions INDEX ACTIONS end`. @throws NotImported */
  setSample(words: Cursor): void {
    const index = numberAt(words.next("the index"), "the index", 16);
    this.#samples.delete(index);
    this.#samples.set(index, readActions(words));
  }

  /** @throws NotImported */
  sample(index: bigint, word: Word): readonly Action[] {
    return this.#samples.get(index) ?? notImported(word, `there is no "set sample_actions ${index}" before this`);
  }

  setIndirect(port: number, handle: bigint, actions: readonly Action[]): void {
    this.#indirect.set(`${port} ${handle}`, actions);
  }

  /** @throws NotImported */
  indirect(port: number, handle: bigint, word: Word): readonly Action[] {
    return (
      this.#indirect.get(`${port} ${handle}`) ??
      notImported(word, `port ${port} has no "flow indirect_action" ${handle} before this`)
    );
  }
}
