/** `flowsteer/packet`: builds frames from headers, and turns parsed frames into a tree of fields or into text. */
export { frameTree } from "./tree/tree.js";
export type { FrameTree, TreeField, TreeItem, TreeNode } from "./tree/types.js";
export { frameWords } from "../headers/fields.js";
export { headerFieldOf, matchFieldOf, type HeaderField } from "./tree/matchFields.js";
export { etherTypeName, headerName, protocolName } from "../headers/names.js";
export { lengthsBeyond, type LengthBeyond } from "./tree/beyond.js";
export { printFrame, printParsed, type PrintOptions, type PrintStyle } from "./tree/print.js";
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
export { parsePacket, type ParsedPacket } from "./notation/parse.js";
export { readHex, type HexFault, type HexFrame } from "./notation/hex.js";
export { packetText } from "./notation/print.js";
export { packetFields, packetHeaders, type PacketField } from "./notation/words.js";
export type { FieldKind } from "./layout.js";
export {
  filterNameOf,
  packetFilterFields,
  type FilterField,
  type FilterFields,
  type FilterPlace,
  type FilterType,
} from "./filter/fields.js";
export {
  parseDisplayFilter,
  type FilterExpression,
  type FilterLeaf,
  type OwnSyntax,
  type ParsedFilter,
} from "./filter/parse.js";
export type { FilterFault } from "./filter/tokens.js";
export type { FilterValue } from "./filter/literal.js";
export { filterOfBytes, filterOfField } from "./filter/condition.js";
export { filterValues, filterValueText, holds, leavesOf, passes } from "./filter/values.js";
