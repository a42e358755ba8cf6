/** A frame of the document with other bytes. */
import type { Scenario } from "flowsteer/scenario";
import { documentOf, withValue } from "../../text/json.js";
import { nodeAt } from "../../text/places.js";

const FORMS: readonly string[] = ["hex", "base64", "headers"];

/** The text with the bytes of a frame, as hexadecimal digits; null if the document has no such frame. */
export function frameWithBytes(text: string, index: number, hex: string): string | null {
  const path = `frames[${index}]`;
  const form = nodeAt(text, path)?.children?.find(({ children }) => FORMS.includes(children?.[0]?.value as string));
  if (form === undefined) return null;
  const { offset, length } = form;
  const written = `${text.slice(0, offset)}"hex": "${hex}"${text.slice(offset + length)}`;
  const wireLength = (documentOf(text) as Scenario).frames?.[index]?.wireLength;
  // A frame is no shorter on the wire than its bytes.
  if (wireLength === undefined || wireLength >= hex.length / 2) return written;
  return withValue(written, path, "wireLength", hex.length / 2);
}
