/** Changes of a frame that earlier rules change on its way: values of the fields that the target sees. */
import { fieldNamed, isPresent, readField } from "../../../model/match/fields.js";
import { parseBytes, type Facts, type ParsedBytes, type TermFact } from "../facts.js";
import { FrameDraft } from "./draft.js";
import { setField } from "./values.js";

/**
 * The frame that came in with the values that the rule wants: in the same fields, and in those of
 * the inner packet, which a decapsulation makes the outer ones.
 */
export function* framesBeforeChanges(facts: Facts, from: ParsedBytes): Iterable<ParsedBytes> {
  const { device, options } = facts.context;
  for (const inner of [false, true]) {
    const terms = facts.failing.map((term) => placed(term, inner, from.key));
    const draft = FrameDraft.of(from);
    if (!terms.every((term) => term !== null && setField(draft, term))) continue;
    const bytes = draft.build();
    if (bytes !== null && bytes.length === from.bytes.length) yield parseBytes(device, bytes, options);
  }
}

function placed(term: TermFact, inner: boolean, key: Uint8Array): TermFact | null {
  const name = inner ? term.name.replace(/^outer\./, "inner.").replace(".outer_", ".inner_") : term.name;
  const field = fieldNamed(name);
  if (field === undefined || field.ofWay || (inner && name === term.name)) return null;
  return { ...term, name, field, found: isPresent(key, field) ? readField(key, field) : null };
}
