/** Objects that C bytes name by a pointer: the model gives each a number instead. */

export class NamedObjects {
  private readonly _byNumber = new Map<number, object>();
  private _last = 0;

  /** Gives an object a number. Numbers are not reused. */
  add(object: object): number {
    this._byNumber.set(++this._last, object);
    return this._last;
  }

  remove({ handle }: { readonly handle: number }): void {
    this._byNumber.delete(handle);
  }

  /** The living object of a number. */
  at(number: bigint): object | undefined {
    return this._byNumber.get(Number(number));
  }
}
