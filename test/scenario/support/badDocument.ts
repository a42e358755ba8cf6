/** A document that is wrong: the good one with a change. */
import { everyKey } from "./documents.js";

/** Where, and what stands there instead; nothing to take the key away. */
type Change = readonly [place: readonly (string | number)[], value?: unknown];

export interface BadDocument {
  name: string;
  document: () => unknown;
  message: string;
}

const SCHEMA = "the document does not follow the scenario schema (EINVAL); ";

/** `§` in the message stands for what is said of a document that breaks the schema. */
export function bad(name: string, message: string, ...changes: Change[]): BadDocument {
  return {
    name,
    message: `parseScenario: ${message.replace(" § ", `: ${SCHEMA}`)}`,
    document: () => {
      const document = everyKey();
      for (const change of changes) apply(document, change);
      return document;
    },
  };
}

function apply(document: object, [place, ...value]: Change): void {
  let at = document as Record<string | number, unknown>;
  for (const key of place.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  const last = place.at(-1) as string | number;
  if (value.length === 0) Reflect.deleteProperty(at, last);
  else at[last] = value[0];
}
