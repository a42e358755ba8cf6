/** What ways make of states, kept for later worlds of a device: they have most ways in common. */
import type { Tracer } from "../../explain/trace/tracer.js";
import type { Edge } from "./graph.js";

/** Known bits of keys, as a mask and their values. */
export interface State {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
}

/** More are forgotten. */
const MAX_KNOWN = 50_000;

interface Kept {
  /** The rules that the device had. */
  readonly rules: string;
  readonly ways: Map<string, State | null>;
}

const KEPT = new WeakMap<Tracer, Kept>();
const LATIN = new TextDecoder("latin1");

/** States after ways, by what they depend on: the actions, the move, the state before, and the bits that states have. */
export class KnownWays {
  readonly #ways: Map<string, State | null>;
  readonly #bits: string;

  constructor(tracer: Tracer, bits: readonly number[]) {
    const rules = rulesOf(tracer);
    let kept = KEPT.get(tracer);
    if (kept?.rules !== rules) KEPT.set(tracer, (kept = { rules, ways: new Map() }));
    this.#ways = kept.ways;
    this.#bits = bits.join();
  }

  /** The state at the end of a way, known or made. */
  along({ from, to, changes, move, by, vport }: Edge, { mask, value }: State, make: () => State | null): State | null {
    const way = [from, to, move, by, vport, changes].join();
    const key = `${way} ${LATIN.decode(mask)}${LATIN.decode(value)}${this.#bits}`;
    let state = this.#ways.get(key);
    if (state !== undefined) return state;
    if (this.#ways.size >= MAX_KNOWN) this.#ways.clear();
    this.#ways.set(key, (state = make()));
    return state;
  }
}

/** Changes with the rules of a device: as long as no rule is made or removed, addresses of actions mean the same. */
function rulesOf({ device: { installed, parser } }: Tracer): string {
  return `${installed.removed} ${installed.nextId} ${installed.room} ${parser.vxlanPorts.join()}`;
}
