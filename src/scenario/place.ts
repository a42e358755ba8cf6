/** Maps the argument paths of the model to paths in a document. */
import { SteeringError } from "../errors.js";

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

/** Adds the path in the document to refusals of a function. */
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
