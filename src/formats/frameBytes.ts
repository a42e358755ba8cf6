/** The bytes of a frame that a document holds as text. */
import { refuse } from "../errors.js";
import type { ScenarioFrame } from "./document.js";

/** Decodes hex or base64; refuses in the name of `call` what is neither. */
export function frameBytes(call: string, path: string, frame: ScenarioFrame): Uint8Array {
  const bytes =
    frame.hex !== undefined
      ? fromHex(call, `${path}.hex`, frame.hex)
      : fromBase64(call, `${path}.base64`, frame.base64 ?? "");
  if (frame.wireLength !== undefined && frame.wireLength < bytes.length) {
    const hint = `the frame has ${bytes.length} bytes; leave the key out unless it was cut`;
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: `${path}.wireLength`, value: frame.wireLength, hint });
  }
  return bytes;
}

function fromHex(call: string, path: string, text: string): Uint8Array {
  const digits = text.replace(/[\s:]+/g, "");
  const wrong = /[^0-9a-f]/i.exec(digits)?.[0];
  if (wrong !== undefined || digits.length % 2 !== 0) {
    const hint =
      wrong === undefined
        ? `two digits a byte; there are ${digits.length}`
        : `${JSON.stringify(wrong)} is no hexadecimal digit`;
    refuse({ code: "EINVAL", call, reason: "bad_scenario", path, value: short(text), hint });
  }
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

function fromBase64(call: string, path: string, text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    const hint = "base64 has A to Z, a to z, 0 to 9, + and /, in groups of four, filled up with =";
    return refuse({ code: "EINVAL", call, reason: "bad_scenario", path, value: short(text), hint });
  }
}

function short(text: string): string {
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}
