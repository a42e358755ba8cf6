/** Frames as people write and read them: the tree of a parsed frame, its text, and frames built from headers. */
export { frameTree, type FrameTree, type TreeField, type TreeItem, type TreeNode } from "./tree.js";
export { printFrame, type PrintOptions, type PrintStyle } from "./print.js";
