/** Frames as people write and read them: the tree of a parsed frame, its text, and frames built from headers. */
export { frameTree } from "./tree/tree.js";
export type { FrameTree, TreeField, TreeItem, TreeNode } from "./tree/types.js";
export { printFrame, type PrintOptions, type PrintStyle } from "./tree/print.js";
export {
  buildFrame,
  layersOf,
  type BuildOptions,
  type BytesText,
  type HeaderLayer,
  type Layer,
  type PayloadLayer,
  type TrailerLayer,
} from "./builder/build.js";
export type { GeneveOption, Ipv4Option, Ipv6Option, OtherOption, RestOption, TcpOption } from "./options.js";
