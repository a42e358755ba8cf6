/** A frame in one line that gives the frame again. */
import { buildFrame } from "../../packet/builder/build.js";
import { parsePacket } from "../../packet/notation/parse.js";
import { packetText } from "../../packet/notation/print.js";
import type { ParsedHeaders } from "../../packet/parsedFrame.js";
import { frameTree } from "../../packet/tree/tree.js";
import type { ParseStep } from "../trace/trace.js";
import { headerChain } from "./headerChain.js";

/**
 * A frame in packet notation (docs/packet.md): its headers as `headerChain` writes them where all else
 * is what `buildFrame` fills in, with their fields where it is not.
 * @param parsed the frame, parsed by a device
 * @returns `ethernet / ipv4 192.0.2.1 > 192.0.2.2 / tcp 49152 > 80`, from which `parsePacket` and
 *   `buildFrame` make the frame again
 */
export function packetLine(frame: Uint8Array, parsed: ParsedHeaders & Pick<ParseStep, "fields">): string {
  const chain = headerChain(parsed);
  return gives(chain, frame) ? chain : packetText(frameTree(frame, parsed));
}

/** Writing out the fields takes a hundred times as long as this test. */
function gives(text: string, frame: Uint8Array): boolean {
  try {
    const built = buildFrame(parsePacket(text).layers);
    return built.length === frame.length && built.every((byte, i) => byte === frame[i]);
  } catch {
    return false;
  }
}
