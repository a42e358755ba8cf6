/** The bytes of the selected frame, as it came in. */
import type { FrameTree } from "flowsteer/packet";
import { selectedFrame, way } from "../state/selection.js";
import { hexOf } from "../text/hex.js";

/** Null until the path of the frame is there. */
export function selectedTree(): FrameTree | null {
  const found = way.peek();
  return found?.frame === selectedFrame.peek() ? (found?.snapshots[0]?.tree ?? null) : null;
}

/** In packet notation. */
export async function packetTextOf(): Promise<string | null> {
  const tree = selectedTree();
  if (tree === null) return null;
  const { packetText } = await import("flowsteer/packet");
  return packetText(tree);
}

export function selectedHex(): string | null {
  const bytes = selectedTree()?.frame;
  return bytes === undefined ? null : hexOf(bytes, " ");
}
