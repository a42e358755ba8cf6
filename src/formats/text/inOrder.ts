/** Whether a text has both, the second after the first. One expression with `.*` between them takes quadratic time. */
export function inOrder(text: string, first: RegExp, second: RegExp): boolean {
  const found = first.exec(text);
  return found !== null && second.test(text.slice(found.index + found[0].length));
}
