/** Writes all mutants of a text into it, each behind a switch, so that one compile holds them all. */

/**
 * Two ways to write a place that mutants change. `expression` stands before the original expression, `statement` before the
 * original statement.
 */
export const SWITCHES = {
  expression: (mutants) => mutants.map(({ number, text }) => `__mutant == ${number} ? (${text}) : `).join(""),
  statement: ([{ number }]) => `if (__mutant != ${number}) `,
};
export const RECORDERS = {
  expression: (mutants) => mutants.map(({ number }) => `${recorded(number)}, `).join(""),
  statement: ([{ number }]) => `${recorded(number)}; `,
};

/** The bits that recorders set are imported, 64 of them a global. */
function recorded(number) {
  return `__reached${number >> 6} |= ${1n << BigInt(number & 63)}`;
}

/**
 * The text with its mutants, and the span of each in it. Each turn of a loop first takes one of the turns that are left, so
 * that no mutant runs for ever.
 */
export function withMutants(text, mutants, loops, writer) {
  const places = new Map();
  for (const one of mutants) {
    const id = `${one.start} ${one.end} ${one.statement}`;
    if (!places.has(id)) places.set(id, { start: one.start, end: one.end, statement: one.statement, mutants: [] });
    places.get(id).mutants.push(one);
  }
  // A place that holds others comes before them. Of two at the same place: the loop's body, the statement, the expression.
  const depth = ({ mutants, statement }) => (mutants === undefined ? 0 : statement ? 1 : 2);
  const sorted = [...loops, ...places.values()].sort(
    (a, b) => a.start - b.start || b.end - a.end || depth(a) - depth(b),
  );
  const spans = [];
  let out = "";
  let next = 0;

  function write(start, end) {
    let at = start;
    while (next < sorted.length && sorted[next].start < end) {
      const { mutants: here, statement, ...one } = sorted[next++];
      out += text.slice(at, one.start);
      const from = out.length;
      if (here === undefined) out += "{ __turn(); ";
      else out += statement ? `{ ${writer.statement(here)}{ ` : `(${writer.expression(here)}(`;
      if (here !== undefined) spans.push({ mutants: here, start: from, end: out.length });
      write(one.start, one.end);
      out += here === undefined ? " }" : statement ? " } }" : "))";
      at = one.end;
    }
    out += text.slice(at, end);
  }
  write(0, text.length);
  return { text: out, spans };
}

/** What the switches and recorders of a program read: declared beside its files, imported from `mutants`. */
export function prelude(count) {
  const words = Array.from({ length: (count + 63) >> 6 }, (_, i) => imported(`reached${i}`, "u64"));
  return `${[imported("mutant", "i32"), imported("turns", "i64"), ...words].join("\n")}
@global @inline function __turn(): void { if (--__turns < 0) unreachable(); }`;
}

function imported(name, type) {
  return `@global @external("mutants", "${name}") declare let __${name}: ${type};`;
}
