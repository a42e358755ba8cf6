/** Bytes on the command line. */
import { readHex, type HexFrame } from "../../packet/index.js";
import { badUsage } from "../refusal.js";

/** The frame of `--hex`: digits, or a dump of another tool. */
export function hexOption(text: string): HexFrame {
  const read = readHex(text);
  if (!("fault" in read)) return read;
  const [first = ""] = text.split("\n");
  const shown = first.length > 40 || first.length < text.length ? `${first.slice(0, 40)}...` : first;
  const place = first.length < text.length ? `line ${read.line}, column ${read.column}: ` : "";
  throw badUsage(`--hex ${shown}`, `${place}${read.fault}`);
}

/** The bytes of hexadecimal digits that are known to be good. */
export function hexBytes(digits: string): Uint8Array {
  return Uint8Array.from(Buffer.from(digits, "hex"));
}
