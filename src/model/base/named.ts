/** Objects that C bytes name by a pointer: the model gives each a number instead. */

export class NamedObjects {
  readonly #byNumber = new Map<number, object>();
  #last = 0;

  /** Gives an object a number. Numbers are not reused. */
  add(object: object): number {
    this.#byNumber.set(++this.#last, object);
    return this.#last;
  }

  remove({ handle }: { readonly handle: number }): void {
    this.#byNumber.delete(handle);
  }

  /** The living object of a number. */
  at(number: bigint): object | undefined {
    return this.#byNumber.get(Number(number));
  }
}
