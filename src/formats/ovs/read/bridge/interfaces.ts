/** What texts say of the interfaces of bridges: `ovs-vsctl add-port`, `ovs-vsctl show`, `ovs-ofctl show`. */
import type { Place } from "../../../text/refusal.js";

export interface Interface {
  readonly name: string;
  /** Where the text names it first. */
  readonly place: Place;
  /** Undefined: the text does not say. */
  bridge?: string;
  number?: string;
  type?: string;
  /** Whether the text would say its type if it had one: ovs-vsctl and ovs-dpctl do, ovs-ofctl does not. */
  isTyped?: true;
  readonly options: Map<string, string>;
}

export class Interfaces {
  readonly #byName = new Map<string, Interface>();
  readonly #numbered: Interface[] = [];
  readonly #numbers = new Set<string>();
  readonly #members = new Map<string, Set<Interface>>();

  get all(): Interface[] {
    return [...this.#byName.values()];
  }

  /** The interface of a name, which bridges share. */
  named(name: string, place: Place): Interface {
    const found = this.#byName.get(name);
    if (found !== undefined) return found;
    const made: Interface = { name, place, options: new Map() };
    this.#byName.set(name, made);
    return made;
  }

  get(name: string): Interface | undefined {
    return this.#byName.get(name);
  }

  hasNumber(number: string): boolean {
    return this.#numbers.has(number);
  }

  /** Gives an interface its number, and its bridge if the text says it. */
  number(one: Interface, number: string, bridge?: string): void {
    one.number = number;
    this.#numbers.add(number);
    if (bridge !== undefined) this.join(one, bridge);
    this.#numbered.push(one);
  }

  /** The interfaces by bridge and number. @param home the bridge of interfaces of which the text does not say it */
  byNumber(home: string | undefined): Map<string, Interface> {
    const found = new Map<string, Interface>();
    for (const one of this.#numbered) {
      if (this.#byName.get(one.name) !== one || one.number === undefined) continue;
      found.set(numberKey(one.bridge ?? home, one.number), one);
    }
    return found;
  }

  remove(name: string): void {
    this.#byName.delete(name);
  }

  removeBridge(bridge: string): void {
    for (const one of this.#members.get(bridge) ?? []) if (one.bridge === bridge) this.remove(one.name);
    this.#members.delete(bridge);
  }

  /** Adds an interface to a bridge. */
  join(one: Interface, bridge: string): void {
    one.bridge = bridge;
    const members = this.#members.get(bridge) ?? new Set();
    this.#members.set(bridge, members.add(one));
  }
}

export function numberKey(bridge: string | undefined, number: string): string {
  return `${bridge ?? ""} ${number}`;
}
