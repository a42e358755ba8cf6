/** Parses frames and prints them as trees. */
import { createDevice, type Device, type ParsedFrame } from "../../../src/index.js";
import { frameTree, type FrameTree, type TreeNode } from "../../../src/packet/index.js";

export interface Drawn {
  bytes: Uint8Array;
  parsed: ParsedFrame;
  tree: FrameTree;
}

let opened: Promise<Device> | undefined;

/** The trees of frames, from one device. */
export async function draw(
  frames: readonly { bytes: Uint8Array; linkType?: number; wireLength?: number }[],
): Promise<Drawn[]> {
  opened ??= createDevice();
  const device = await opened;
  const parsed = device.parseBatch(
    frames.map(({ bytes }) => bytes),
    frames.map(({ bytes, linkType = 1, wireLength = bytes.length }) => ({ linkType, wireLength })),
  );
  return frames.map(({ bytes }, i) => {
    const one = parsed[i] as ParsedFrame;
    return { bytes, parsed: one, tree: frameTree(bytes, one) };
  });
}

export async function drawOne(bytes: Uint8Array, linkType = 1): Promise<Drawn> {
  return (await draw([{ bytes, linkType }]))[0] as Drawn;
}

/** The nth header of a kind. */
export function nodeOf(tree: FrameTree, header: TreeNode["header"], n = 0): TreeNode {
  const node = tree.nodes.filter((one) => one.header === header)[n];
  if (node === undefined) throw new Error(`no ${header} among ${tree.nodes.map((one) => one.header).join(", ")}`);
  return node;
}

/** Its values by name. */
export function valuesOf(node: TreeNode): Record<string, unknown> {
  return Object.fromEntries(node.fields.map(({ name, value }) => [name, value]));
}
