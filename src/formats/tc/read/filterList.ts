/** The filters of a device, in the order in which they were added. */
import type { Filter } from "./filter.js";

/** Priorities that the kernel gives: it looks for given ones from the first number on. */
const FIRST_SEARCHED = 0x8000;
const FIRST_GIVEN = 0xc000;

type Undo = () => void;

export class FilterList {
  /** By numbers that grow: a filter that comes back has its place again. */
  readonly #filters = new Map<number, Filter>();
  /** The numbers of the filters of each chain, by their priorities. */
  readonly #chains = new Map<number, Map<number, Set<number>>>();
  /** The first filter of a chain, a priority and a handle that is given. */
  readonly #handles = new Map<string, number>();
  readonly #lowest = new Map<number, number>();
  /** The numbers of the filters by hashes of what they match: the texts themselves would take more memory. */
  readonly #keys = new Map<number, number[]>();
  #next = 0;

  get all(): readonly Filter[] {
    return [...this.#filters].sort(([a], [b]) => a - b).map(([, filter]) => filter);
  }

  /** The priority that the kernel gives: one before the lowest that it gave so far. */
  newPrio(chain: number): number {
    let lowest = this.#lowest.get(chain);
    if (lowest === undefined || !this.#at(chain, lowest)) {
      lowest = Infinity;
      for (const prio of this.#chains.get(chain)?.keys() ?? [])
        if (prio >= FIRST_SEARCHED && prio < lowest) lowest = prio;
    }
    return lowest === Infinity ? FIRST_GIVEN : lowest - 1;
  }

  /** A filter of a chain and a priority; undefined for none. */
  someAt(chain: number, prio: number): Filter | undefined {
    const [number = -1] = this.#at(chain, prio) ?? [];
    return this.#filters.get(number);
  }

  /** The filter of a chain and a priority that matches the same keys. */
  sameAs(filter: Filter): Filter | undefined {
    const key = keyOf(filter);
    const numbers = this.#keys.get(hashOf(key)) ?? [];
    return numbers.map((number) => this.#filters.get(number)).find((one) => one !== undefined && keyOf(one) === key);
  }

  /** @param replaces whether it takes the place of one with the same handle */
  add(filter: Filter, replaces: boolean): Undo {
    const { chain, prio, handle } = filter;
    const same = replaces && handle !== undefined ? this.#handles.get(`${chain} ${prio} ${handle}`) : undefined;
    const number = same ?? this.#next++;
    const before = this.#filters.get(number);
    this.#put(number, filter);
    return () => (before === undefined ? this.#remove(number) : this.#put(number, before));
  }

  /** Deletes the filters of a chain (-1: of all chains), of a priority, with a handle. */
  delete(chain: number, prio: number | undefined, handle: number | undefined): Undo {
    const chains = chain < 0 ? [...this.#chains.values()] : [this.#chains.get(chain) ?? new Map<number, Set<number>>()];
    const gone = chains
      .flatMap((prios) => (prio === undefined ? [...prios.values()] : [prios.get(prio) ?? new Set<number>()]))
      .flatMap((numbers) => [...numbers])
      .map((number) => [number, this.#filters.get(number) as Filter] as const)
      .filter(([, filter]) => handle === undefined || filter.handle === handle);
    for (const [number] of gone) this.#remove(number);
    return () => {
      for (const [number, filter] of gone) this.#put(number, filter);
    };
  }

  #at(chain: number, prio: number): Set<number> | undefined {
    return this.#chains.get(chain)?.get(prio);
  }

  #put(number: number, filter: Filter): void {
    const { chain, prio, handle } = filter;
    this.#filters.set(number, filter);
    const hash = hashOf(keyOf(filter));
    this.#keys.set(hash, [...(this.#keys.get(hash) ?? []), number]);
    if (handle !== undefined) {
      const key = `${chain} ${prio} ${handle}`;
      this.#handles.set(key, this.#handles.get(key) ?? number);
    }
    const prios = this.#chains.get(chain) ?? new Map<number, Set<number>>();
    this.#chains.set(chain, prios);
    prios.set(prio, (prios.get(prio) ?? new Set()).add(number));
    if (prio >= FIRST_SEARCHED) this.#lowest.set(chain, Math.min(this.#lowest.get(chain) ?? Infinity, prio));
  }

  #remove(number: number): void {
    const filter = this.#filters.get(number) as Filter;
    const { chain, prio, handle } = filter;
    this.#filters.delete(number);
    const hash = hashOf(keyOf(filter));
    this.#keys.set(
      hash,
      (this.#keys.get(hash) ?? []).filter((one) => one !== number),
    );
    const key = `${chain} ${prio} ${handle}`;
    if (this.#handles.get(key) === number) this.#handles.delete(key);
    const prios = this.#chains.get(chain);
    const numbers = prios?.get(prio);
    numbers?.delete(number);
    if (numbers?.size !== 0) return;
    prios?.delete(prio);
    if (this.#lowest.get(chain) === prio) this.#lowest.delete(chain);
  }
}

/** What the kernel knows a filter by, in its chain. */
function keyOf({ chain, prio, match: { terms } }: Filter): string {
  return JSON.stringify([chain, prio, terms]);
}

function hashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
