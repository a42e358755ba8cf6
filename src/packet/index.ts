/** Frames as people write and read them: the tree of a parsed frame, its text, and frames built from headers. */
export { frameTree, type FrameTree, type TreeField, type TreeItem, type TreeNode } from "./tree.js";
export { printFrame, type PrintOptions, type PrintStyle } from "./print.js";
export {
  buildFrame,
  layersOf,
  type BuildOptions,
  type BytesText,
  type HeaderLayer,
  type Layer,
  type PayloadLayer,
  type TrailerLayer,
} from "./build.js";
export type { GeneveOption, Ipv4Option, Ipv6Option, OtherOption, RestOption, TcpOption } from "./options.js";
