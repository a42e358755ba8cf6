/** What is made when it is first asked for: tables that most programs never read are not made by a start. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
