/** Creates a value on first use, so that a start does not create tables that most programs never read. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
