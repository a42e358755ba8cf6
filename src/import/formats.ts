/** The formats that can be imported; each has a folder, and a page in `docs/import/`. */
import { CLASSBENCH } from "./classbench/format.js";
import { MLX5_DUMP } from "./dump/format.js";
import { ETHTOOL } from "./ethtool/format.js";
import type { Format } from "./format.js";
import { OVS, OVS_DPCTL } from "./ovs/format.js";
import { NFT } from "./nft/format.js";
import { RECORDING } from "./recording/format.js";
import { TC } from "./tc/format.js";
import { TESTPMD } from "./testpmd/format.js";

export const FORMATS = {
  "mlx5-dump": MLX5_DUMP,
  recording: RECORDING,
  tc: TC,
  testpmd: TESTPMD,
  ovs: OVS,
  "ovs-dpctl": OVS_DPCTL,
  ethtool: ETHTOOL,
  classbench: CLASSBENCH,
  nft: NFT,
} as const satisfies Readonly<Record<string, Format>>;

export type ImportFormat = keyof typeof FORMATS;
export const IMPORT_FORMATS = Object.keys(FORMATS) as readonly ImportFormat[];

/** The first format that recognizes the text; undefined if none does. */
export function formatOf(text: string): ImportFormat | undefined {
  return IMPORT_FORMATS.find((name) => FORMATS[name].recognizes(text));
}
