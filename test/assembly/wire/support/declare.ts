/** Tells a core what a device declares of its parser. */
import { Header, LEVEL_INNER, LEVEL_OUTER } from "../../../../src/abi/headers.js";
import type { Core } from "../../../../src/engine/core.js";
import { declareVxlanPorts } from "../../../../src/model/base/parser.js";
import type { ParserOptions } from "../../../oracle/wire/packet.js";

export function declare(core: Core, { geneveOption0, samples = [], vxlanPorts = [4789] }: ParserOptions): Core {
  declareVxlanPorts(core, vxlanPorts);
  if (geneveOption0) core.exports.declareGeneveOption(geneveOption0.class, geneveOption0.type);
  for (const { id, header, level, offset, port } of samples) {
    const kind = header === "payload" ? Header.none : Header[header as keyof typeof Header];
    core.exports.declareSample(id, kind, level === "outer" ? LEVEL_OUTER : LEVEL_INNER, offset, port ?? -1);
  }
  return core;
}
