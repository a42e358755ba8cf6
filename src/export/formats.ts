/** The formats that can be exported; each has a folder. */
import { C } from "./c/format.js";
import { DUMP } from "./dump/format.js";
import type { Format } from "./format.js";
import { DOT } from "./graph/dot.js";
import { MERMAID } from "./graph/mermaid.js";
import { SVG } from "./graph/svg.js";
import { OVS } from "./ovs/format.js";
import { TC } from "./tc/format.js";
import { TESTPMD } from "./testpmd/format.js";
import { TYPESCRIPT } from "./typescript/format.js";

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
