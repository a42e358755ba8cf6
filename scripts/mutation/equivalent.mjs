/**
 * Mutants that no test can notice, with the reason: equivalent.json.
 *
 * An entry names its mutant by function and change, so that lines, files and folders may move. Where a rename has changed
 * either of them, the entry still fits when one mutant alone has the same function and the same shape (the change without its
 * names), or the same change elsewhere. An entry that fits none, or several, is reported.
 */
import { readFileSync } from "node:fs";

const LIST = new URL("equivalent.json", import.meta.url);

export function readEquivalent() {
  return JSON.parse(readFileSync(LIST, "utf8"));
}

/** The reasons by mutant, and the entries that fit none. */
export function matchEquivalent(entries, mutants) {
  const reasons = new Map();
  const lost = [];
  for (const entry of entries) {
    const found = find(entry, mutants);
    if (found === undefined) lost.push(entry);
    else reasons.set(found, entry.why);
  }
  return { reasons, lost };
}

function find({ file, mutant }, mutants) {
  const [name, change] = halves(mutant);
  const changeOf = ({ key }) => halves(key)[1];
  const exact = mutants.filter(({ key }) => key === mutant);
  return (
    only(exact) ??
    only(exact.filter((one) => one.file === file)) ??
    only(mutants.filter((one) => one.function === name && shape(changeOf(one)) === shape(change))) ??
    only(mutants.filter((one) => changeOf(one) === change))
  );
}

function halves(key) {
  const colon = key.indexOf(": ");
  return [key.slice(0, colon), key.slice(colon + 2)];
}

function shape(change) {
  return change.replace(/[a-z_$][\w$]*/gi, "_");
}

function only(list) {
  return list.length === 1 ? list[0] : undefined;
}
