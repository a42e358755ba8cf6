/** The calls of libibverbs and libmlx5: one table, the C that is generated from it, and messages as the host reads them. */
export { cHeader, cSource } from "./cSource.js";
export { HANDLES, type HandleName } from "./handles.js";
export { readArguments, writeAnswer, type ObjectOf } from "./marshal.js";
export { MessageReader, MessageWriter } from "./message.js";
export { functions, tableHash, type CFunction } from "./notation.js";
export { DESTROYERS, destroyAll, MAKERS } from "./owned.js";
