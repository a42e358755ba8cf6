/** Characters of a piece, unless one item has more. */
const PIECE = 1 << 20;

/** A document as indented JSON with a newline at its end, in pieces: one text would take as much memory as the document. */
export function* jsonPieces(document: object): Generator<string> {
  let held = "";
  for (const text of parts(document)) {
    held += text;
    if (held.length < PIECE) continue;
    yield held;
    held = "";
  }
  yield held;
}

function* parts(document: object): Generator<string> {
  const entries = Object.entries(document).filter(([, value]) => value !== undefined) as [string, unknown][];
  for (const [n, [key, value]] of entries.entries()) {
    yield `${n === 0 ? "{" : ","}\n  ${JSON.stringify(key)}: `;
    if (Array.isArray(value) && value.length > 0) {
      for (const [m, item] of value.entries()) yield `${m === 0 ? "[" : ","}\n    ${indented(item, "\n    ")}`;
      yield "\n  ]";
    } else yield indented(value, "\n  ");
  }
  yield entries.length === 0 ? "{}\n" : "\n}\n";
}

function indented(value: unknown, newline: string): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", newline);
}
