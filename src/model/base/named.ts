/** Objects that C programs hold by pointers, by the numbers that stand for these in C bytes. */

export class NamedObjects {
  readonly #byNumber = new Map<number, object>();
  #last = 0;

  /** Gives an object a number, which is never given again. */
  add(object: object): number {
    this.#byNumber.set(++this.#last, object);
    return this.#last;
  }

  remove({ handle }: { readonly handle: number }): void {
    this.#byNumber.delete(handle);
  }

  /** The object of a number, if one is alive. */
  at(number: bigint): object | undefined {
    return this.#byNumber.get(Number(number));
  }
}
