/**
 * Sources of the core without events: each `if (TRACED) ...` becomes as many spaces, so places in the text stay the same.
 * A constant condition alone would not give the core of before, byte for byte: the compiler leaves a no-op in its place,
 * which counts when it decides what to inline.
 */
const BEGIN = /\bif \(TRACED\) /g;

/** The text of a file below assembly/, as all cores but the traced one are compiled from it. */
export function withoutTraced(text) {
  let result = text;
  for (const { index, 0: head } of text.matchAll(BEGIN)) {
    const end = endOf(text, index + head.length);
    result = result.slice(0, index) + text.slice(index, end).replace(/[^\n]/g, " ") + result.slice(end);
  }
  return result;
}

/** The end of the statement or block that begins at `at`. */
function endOf(text, at) {
  if (text[at] !== "{") return text.indexOf(";", at) + 1;
  let depth = 0;
  for (let i = at; ; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i + 1;
  }
}
