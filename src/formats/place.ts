/** Where in a document a refusal of the model belongs. */
import { SteeringError } from "../errors.js";

/** Arguments of the model whose place in a document has another name, or is the whole object. */
const PLACES: Readonly<Record<string, string>> = {
  device: "",
  type: ".domain",
  ibqp: ".queue",
  num_actions: ".actions",
  otherPort: ".to",
};

/** Puts the path in the document before that of a refusal. */
export function at<T>(call: string, path: string, make: () => T): T {
  const place = (error: unknown): never => {
    if (!(error instanceof SteeringError)) throw error;
    const { code, reason, value, hint, cite } = error;
    const inner = error.path ?? "";
    throw new SteeringError({
      code,
      call,
      reason,
      path: path + (PLACES[inner] ?? `.${inner}`),
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
