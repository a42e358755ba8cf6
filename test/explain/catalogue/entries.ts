/** All entries that are scenarios. */
import { BYTES } from "./bytes.js";
import { DIRECT } from "./direct.js";
import { ESP } from "./esp.js";
import { ESWITCH } from "./eswitch.js";
import { HEADERS } from "./headers.js";
import { OUTCOMES } from "./outcomes.js";
import { PARSING } from "./parsing.js";
import { RDMA } from "./rdma.js";
import { STATE } from "./state.js";
import { TUNNELS } from "./tunnels.js";
import { SECOND } from "./second.js";
import { VERBS } from "./verbs.js";

export const ENTRIES = [
  ...BYTES,
  ...HEADERS,
  ...PARSING,
  ...TUNNELS,
  ...VERBS,
  ...DIRECT,
  ...OUTCOMES,
  ...ESWITCH,
  ...ESP,
  ...STATE,
  ...RDMA,
  ...SECOND,
] as const;
