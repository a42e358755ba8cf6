/** The formats that can be imported; each has a folder, and a page in `docs/import/`. */
import { CLASSBENCH } from "../formats/classbench/read/format.js";
import { MLX5_DUMP } from "../formats/dump/read/format.js";
import { ETHTOOL } from "../formats/ethtool/read/format.js";
import type { Format } from "../formats/reading/format.js";
import { OVS, OVS_DPCTL } from "../formats/ovs/read/format.js";
import { NFT } from "../formats/nft/read/format.js";
import { RECORDING } from "../formats/recording/read/format.js";
import { TC } from "../formats/tc/read/format.js";
import { XFRM } from "../formats/xfrm/read/format.js";
import { TESTPMD } from "../formats/testpmd/read/format.js";

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
  xfrm: XFRM,
} as const satisfies Readonly<Record<string, Format>>;

export type ImportFormat = keyof typeof FORMATS;
export const IMPORT_FORMATS = Object.keys(FORMATS) as readonly ImportFormat[];
