/** The formats that can be exported; each has a folder. */
import { C } from "../formats/c/write/format.js";
import { DUMP } from "../formats/dump/write/format.js";
import type { Format } from "../formats/writing/format.js";
import { DOT } from "./graph/dot.js";
import { MERMAID } from "./graph/mermaid.js";
import { SVG } from "./graph/svg.js";
import { OVS } from "../formats/ovs/write/format.js";
import { TC } from "../formats/tc/write/format.js";
import { TESTPMD } from "../formats/testpmd/write/format.js";
import { TYPESCRIPT } from "../formats/typescript/write/format.js";

export const FORMATS = {
  c: C,
  typescript: TYPESCRIPT,
  tc: TC,
  ovs: OVS,
  testpmd: TESTPMD,
  dump: DUMP,
  dot: DOT,
  mermaid: MERMAID,
  svg: SVG,
} as const satisfies Readonly<Record<string, Format>>;

export type ExportFormat = keyof typeof FORMATS;
export const EXPORT_FORMATS = Object.keys(FORMATS) as readonly ExportFormat[];
