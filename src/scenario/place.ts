/** Where in a document a refusal of the model belongs. */
import { SteeringError } from "../errors.js";

/** Arguments of the model whose place in a document has another name, or is the whole object. */
const PLACES: Readonly<Record<string, string>> = {
  device: "",
  type: ".domain",
  ibqp: ".queue",
  num_actions: ".actions",
  otherPort: ".to",
  value: ".match",
};

/** Where below its object a place of the model is in the document. */
export type PlaceOf = (inner: string) => string;

const placeOf: PlaceOf = (inner) => PLACES[inner] ?? `.${inner}`;

/** Puts the path in the document before that of a refusal. */
export function at<T>(call: string, path: string, make: () => T, below: PlaceOf = placeOf): T {
  const place = (error: unknown): never => {
    if (!(error instanceof SteeringError)) throw error;
    const { code, reason, value, hint, cite } = error;
    throw new SteeringError({
      code,
      call,
      reason,
      path: path + below(error.path ?? ""),
      value,
      hint,
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
