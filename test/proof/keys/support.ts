/** What tests of keys share. */
import wasm from "../../../build/release/core.wasm";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { ParserDeclaration, type ParserOptions } from "../../../src/model/base/parser.js";

/** A core whose parser is declared as that of a device. */
export async function coreFor(options: ParserOptions): Promise<Core> {
  const core = await loadOpenCore(wasm);
  new ParserDeclaration(options).declare(core);
  return core;
}
