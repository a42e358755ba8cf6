/** Decodes the bytes of a frame from the text of a document. */
import { refuse } from "../../errors.js";
import type { ScenarioFrame } from "./definition.js";
import { headerBytes, hexText, short } from "../action/headerBytes.js";

/** Decodes hex or base64, or builds headers. Refusals name `call`. */
export function frameBytes(path: string, frame: ScenarioFrame): Uint8Array {
  const bytes = decoded(path, frame);
  if (frame.wireLength !== undefined && frame.wireLength < bytes.length) {
    const hint = `the frame has ${bytes.length} bytes; leave the key out unless it was cut`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.wireLength`, value: frame.wireLength, hint });
  }
  return bytes;
}

function decoded(path: string, { hex, base64, headers }: ScenarioFrame): Uint8Array {
  if (hex !== undefined) return hexText(`${path}.hex`, hex);
  if (headers !== undefined) return headerBytes(`${path}.headers`, headers);
  return fromBase64(`${path}.base64`, base64 ?? "");
}

function fromBase64(path: string, text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    const hint = "base64 has A to Z, a to z, 0 to 9, + and /, in groups of four, filled up with =";
    return refuse({ code: "EINVAL", reason: "bad_scenario", path, value: short(text), hint });
  }
}
