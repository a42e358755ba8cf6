/** Maps the argument paths of the model to paths in a document. */
import { refuse, SteeringError } from "../errors.js";
import { below as keyBelow } from "./schema/path.js";

/** Arguments whose place in a document has another name, or is the whole object. */
const PLACES: Readonly<Record<string, string>> = {
  device: "",
  type: ".domain",
  ibqp: ".queue",
  num_actions: ".actions",
  otherPort: ".to",
  value: ".match",
};

/** The path in the document, after its object, for a path of the model. */
export type PlaceOf = (inner: string) => string;

const placeOf: PlaceOf = (inner) => PLACES[inner] ?? `.${inner}`;

/** Maps a path of the model to a rule: what a mask or a value refuses is a field of its match. */
export function rulePlace({ matcher }: { matcher?: string }): PlaceOf {
  return (inner) => {
    const [, field] = /^(?:mask|value)\.(.*)$/.exec(inner) ?? [];
    if (field !== undefined) return keyBelow(".match", field);
    if (inner.startsWith("match (") || inner === "match_criteria_enable") return ".match";
    if (inner === "matcher.priority") return matcher === undefined ? ".priority" : ".matcher";
    return placeOf(inner);
  };
}

/** Calls that hints name, and what a document has in their place. */
const IN_DOCUMENTS: readonly (readonly [call: RegExp, text: string])[] = [
  [/createDevice\(\{ (\w+): (.*) \}\)/, "write device.$1: $2"],
  [/(?<![\w.])([\w.]+) of createDevice/, "device.$1"],
  [/^mlx5dv_dr_domain_allow_duplicate_rules\(domain, true\)$/, "list the domain in domains with duplicates: true"],
  [
    /mlx5dv_dr_aso_other_domain_link( has not linked it to this domain)?/,
    "name the domain of the object as aso.peer_dmn",
  ],
];

function inDocument(hint: string | undefined): string | undefined {
  return IN_DOCUMENTS.reduce((text, [call, there]) => text?.replace(call, there), hint);
}

/** Adds the path in the document to refusals of a function. */
export function at<T>(path: string, make: () => T, below: PlaceOf = placeOf): T {
  const place = (error: unknown): never => {
    if (!(error instanceof SteeringError)) throw error;
    const { code, reason, value, hint, cite } = error;
    return refuse({
      code,
      reason,
      path: path + below(error.path ?? ""),
      value,
      hint: inDocument(hint),
      cite,
    });
  };
  try {
    const made = make();
    return made instanceof Promise ? (made.catch(place) as T) : made;
  } catch (error) {
    return place(error);
  }
}
