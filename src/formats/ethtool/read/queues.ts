/** The queues of devices: their number, and their RSS contexts. */
import { equalContext, type RssContext } from "./contexts.js";

/** The context of frames that no rule takes. */
export const DEFAULT_CONTEXT = 0;

export class Queues {
  /** By device, then by number. */
  readonly #contexts = new Map<string, Map<number, RssContext>>();
  /** Queues of a device, as commands have set them. */
  readonly #numbers = new Map<string, number>();
  /** Queues of a device, as a listing of its rules counts them. */
  readonly #rings = new Map<string, number>();

  setNumber(device: string, queues: number): void {
    this.#numbers.set(device, Math.max(1, queues));
  }

  setRings(device: string, queues: number): void {
    this.#rings.set(device, Math.max(1, queues));
  }

  /** A listing is of rules and their contexts: it makes no rule for other frames. */
  numberOf(device: string, id: number): number | undefined {
    return this.#numbers.get(device) ?? (id === DEFAULT_CONTEXT ? undefined : this.#rings.get(device));
  }

  /** A context as commands have set it. */
  set(device: string, id: number): RssContext | undefined {
    return this.#contexts.get(device)?.get(id);
  }

  /** A context as commands have set it, or over all queues of the device; undefined where the text says neither. */
  of(device: string, id = DEFAULT_CONTEXT): RssContext | undefined {
    const queues = this.numberOf(device, id);
    return this.set(device, id) ?? (queues === undefined ? undefined : equalContext(queues));
  }

  put(device: string, id: number, context: RssContext | undefined): void {
    const own = this.#contexts.get(device) ?? new Map<number, RssContext>();
    this.#contexts.set(device, own);
    if (context === undefined) own.delete(id);
    else own.set(id, context);
  }

  /** The number of the next new context of a device. */
  nextId(device: string): number {
    const own = this.#contexts.get(device);
    return (own?.size ?? 0) + (own?.has(DEFAULT_CONTEXT) === true ? 0 : 1);
  }
}
