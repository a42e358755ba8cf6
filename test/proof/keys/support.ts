/** What tests of keys share. */
import wasm from "../../../build/release/core.wasm";
import { Header, LEVEL_INNER, LEVEL_OUTER } from "../../../src/abi/headers.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import type { ParserOptions } from "../../../src/model/base/parser.js";

/** A core whose parser is declared as that of a device. */
export async function coreFor({ geneveOption0, samples = [] }: ParserOptions): Promise<Core> {
  const core = await loadOpenCore(wasm);
  if (geneveOption0) core.exports.declareGeneveOption(geneveOption0.class, geneveOption0.type);
  for (const { id, header, level, offset, port } of samples) {
    const kind = header === "payload" ? Header.none : Header[header];
    core.exports.declareSample(id, kind, level === "inner" ? LEVEL_INNER : LEVEL_OUTER, offset, port ?? -1);
  }
  return core;
}
