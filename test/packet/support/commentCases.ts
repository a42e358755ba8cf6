/** Captures whose annotated copies tshark has read (test/golden/comments.json). */
import { readFileSync } from "node:fs";
import { oddCapture } from "./oddCaptures.js";

export const COMMENT_CASES = [
  "odd.pcapng",
  "examples/everyday.pcap",
  "test/captures/nanosecs_big_endian.pcap",
  "test/captures/LINKTYPE_IPV4.pcap",
  "test/captures/test101.pcapng",
  "test/captures/test202.pcapng",
];

/** The bytes of a case. */
export function caseOf(name: string): Uint8Array {
  if (name === "odd.pcapng") return oddCapture();
  return Uint8Array.from(readFileSync(new URL(`../../../${name}`, import.meta.url)));
}
