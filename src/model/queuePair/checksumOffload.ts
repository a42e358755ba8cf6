/** Checksum offload of sent frames (IBV_SEND_IP_CSUM). */
import { frameTree } from "../../packet/tree/tree.js";
import type { DeviceBase } from "../base/deviceBase.js";

/** Headers whose checksums the device fills in. */
const OFFLOADED = ["ipv4", "tcp", "udp"];

/**
 * Copies a frame and fills in the checksums of its outer IPv4, TCP and UDP headers. A checksum over
 * bytes that the frame does not hold (a fragment, for example) keeps its value.
 */
export function withChecksums(device: DeviceBase, frame: Uint8Array): Uint8Array {
  const copy = frame.slice();
  const [parsed] = device.parseBatch([copy]);
  if (parsed === undefined) return copy;
  // A UDP checksum of 0 means "none", and would not be computed.
  const none = parsed.headers.filter(
    ({ header, level, offset }) => header === "udp" && level === "outer" && !copy[offset + 6] && !copy[offset + 7],
  );
  for (const { offset } of none) copy[offset + 6] = 0xff;
  const tree = frameTree(copy, parsed);
  for (const { offset } of none) copy[offset + 6] = 0;
  for (const { header, level, fields } of tree.nodes) {
    if (level !== "outer" || !OFFLOADED.includes(header)) continue;
    const checksum = fields.find(({ name }) => name === "checksum");
    const right = checksum?.right === true ? checksum.value : checksum?.should;
    if (checksum !== undefined && typeof right === "number") copy.set([right >> 8, right & 0xff], checksum.offset);
  }
  return copy;
}
