/** The creation of queue pairs from extended attributes (ibv_create_qp_ex(3)). */
import {
  IBV_QP_INIT_ATTR_CREATE_FLAGS,
  IBV_QP_INIT_ATTR_IND_TABLE,
  IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
  IBV_QP_INIT_ATTR_PD,
  IBV_QP_INIT_ATTR_RX_HASH,
  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
  IBV_QPT_UD,
} from "../../abi/verbs.js";
import { IBV_QP_CREATE_BLOCK_SELF_MCAST_LB } from "../../abi/verbsConstants.js";
import { checkNumber, unsigned } from "../../base/checks.js";
import { refuse } from "../../errors.js";
import type { Context, ProtectionDomain } from "../base/context.js";
import { ExtendedQueuePair } from "./extendedQueuePair.js";
import { QueuePair, type QueuePairAttributes } from "./queuePair.js";
import { RssQueuePair, type RssAttributes } from "./rssQueuePair.js";

/** The members that `struct ibv_qp_init_attr_ex` has besides those of `struct ibv_qp_init_attr`. */
export interface ExtendedAttributes {
  /** Bits IBV_QP_INIT_ATTR_*; the members of other bits are ignored. */
  comp_mask: number;
  pd: ProtectionDomain;
  /** IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, or 0. */
  create_flags?: number | undefined;
  /** Bytes of the headers of segmented sends: 0, because there is no segmentation. */
  max_tso_header?: number | undefined;
  /** Bits IBV_QP_EX_WITH_*: the operations that `ibv_wr_*` calls build. */
  send_ops_flags?: number | bigint | undefined;
}

type AnyAttributes = Partial<QueuePairAttributes | RssAttributes> &
  Omit<ExtendedAttributes, "comp_mask"> & { comp_mask?: number | undefined };

/** Attributes of queue pairs that send. */
const SEND_ATTRIBUTES = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
const RSS_ATTRIBUTES = IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;

/** Implements `ibv_create_qp_ex`. */
export function createExtended({ device }: Context, attributes: AnyAttributes): QueuePair {
  const { comp_mask = 0, pd } = attributes;
  const path = "qp_init_attr.comp_mask";
  const known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | SEND_ATTRIBUTES | RSS_ATTRIBUTES;
  const more = unsigned(path, comp_mask, 32) & ~known;
  const rssMask = comp_mask & RSS_ATTRIBUTES;
  const half = rssMask !== 0 && rssMask !== RSS_ATTRIBUTES;
  if (more !== 0 || half || (comp_mask & IBV_QP_INIT_ATTR_PD) === 0) {
    const hint = "set IBV_QP_INIT_ATTR_PD; set IND_TABLE and RX_HASH together, or neither";
    refuse({ code: more === 0 ? "EINVAL" : "EOPNOTSUPP", reason: "unsupported", path, value: comp_mask, hint });
  }
  if (pd.device !== device) {
    refuse({ code: "EINVAL", reason: "other_device", path: "qp_init_attr.pd", value: pd });
  }
  if (attributes.qp_type !== undefined) checkNumber("qp_init_attr.qp_type", attributes.qp_type);
  const flags = createFlags(attributes);
  if (rssMask !== 0) return createRss(pd, attributes as ExtendedAttributes & RssAttributes);
  checkSegmentation(attributes);
  const make = (): QueuePair => {
    const qp = QueuePair.create(pd, attributes as QueuePairAttributes);
    qp.blocksOwnMulticast = (flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) !== 0;
    return qp;
  };
  if ((comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) === 0) return make();
  return ExtendedQueuePair.create(attributes.qp_type ?? 0, attributes.send_ops_flags ?? 0, make);
}

function createRss(pd: ProtectionDomain, attributes: ExtendedAttributes & RssAttributes): QueuePair {
  if ((attributes.comp_mask & SEND_ATTRIBUTES) !== 0) {
    const hint = "a queue pair with an indirection table has no send queue";
    const path = "qp_init_attr.comp_mask";
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value: attributes.comp_mask, hint });
  }
  return RssQueuePair.createRss(pd, attributes);
}

/** The create flags of a queue pair. @throws EOPNOTSUPP for a flag that the type or this device lacks */
function createFlags({ comp_mask = 0, create_flags = 0, qp_type }: AnyAttributes): number {
  if ((comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) === 0) return 0;
  const path = "qp_init_attr.create_flags";
  const known = qp_type === IBV_QPT_UD ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0;
  if ((unsigned(path, create_flags, 32) & ~known) === 0) return create_flags;
  const hint = "use IBV_QP_CREATE_BLOCK_SELF_MCAST_LB with IBV_QPT_UD, or 0: frames stay as they are";
  return refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value: create_flags, hint });
}

function checkSegmentation({ comp_mask = 0, max_tso_header = 0 }: AnyAttributes): void {
  if ((comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER) === 0 || max_tso_header === 0) return;
  const [path, hint] = ["qp_init_attr.max_tso_header", "use 0: max_tso of the device is 0"];
  refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value: max_tso_header, hint });
}
