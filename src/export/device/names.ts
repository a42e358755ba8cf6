/** Names of objects of a device, each different among those of its kind. */
export class DeviceNames<Kind extends { readonly name: string }> {
  readonly #names = new Map<Kind, string>();
  readonly #taken = new Set<string>();

  /** The objects that have been named, in that order. */
  get objects(): Iterable<readonly [object: Kind, name: string]> {
    return this.#names;
  }

  of(object: Kind): string {
    const known = this.#names.get(object);
    if (known !== undefined) return known;
    let name = object.name;
    for (let n = 2; this.#taken.has(name); n++) name = `${object.name} ${n}`;
    this.#taken.add(name);
    this.#names.set(object, name);
    return name;
  }
}
