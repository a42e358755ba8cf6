/** The creation of queue pairs from extended attributes (ibv_create_qp_ex(3)). */
import {
  IBV_QP_INIT_ATTR_IND_TABLE,
  IBV_QP_INIT_ATTR_PD,
  IBV_QP_INIT_ATTR_RX_HASH,
  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
} from "../../abi/verbs.js";
import { unsigned } from "../../checks.js";
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
  /** Bits IBV_QP_EX_WITH_*: the operations that `ibv_wr_*` calls build. */
  send_ops_flags?: number | bigint | undefined;
}

const RSS_ATTRIBUTES = IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;

/** Implements `ibv_create_qp_ex`. */
export function createExtended(
  call: string,
  { device }: Context,
  attributes: Partial<QueuePairAttributes | RssAttributes> & ExtendedAttributes,
): QueuePair {
  const { comp_mask, pd } = attributes;
  const path = "qp_init_attr.comp_mask";
  const known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | RSS_ATTRIBUTES;
  const more = unsigned(call, path, comp_mask, 32) & ~known;
  const rssMask = comp_mask & RSS_ATTRIBUTES;
  const half = rssMask !== 0 && rssMask !== RSS_ATTRIBUTES;
  if (more !== 0 || half || (comp_mask & IBV_QP_INIT_ATTR_PD) === 0) {
    const hint = "set IBV_QP_INIT_ATTR_PD; set IND_TABLE and RX_HASH together, or neither";
    refuse({ code: more === 0 ? "EINVAL" : "EOPNOTSUPP", call, reason: "unsupported", path, value: comp_mask, hint });
  }
  if (pd.device !== device) {
    refuse({ code: "EINVAL", call, reason: "other_device", path: "qp_init_attr.pd", value: pd });
  }
  if (rssMask !== 0) return createRss(call, pd, attributes as ExtendedAttributes & RssAttributes);
  const make = (): QueuePair => QueuePair.create(call, pd, attributes as QueuePairAttributes);
  if ((comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) === 0) return make();
  return ExtendedQueuePair.create(call, attributes.qp_type ?? 0, attributes.send_ops_flags ?? 0, make);
}

function createRss(call: string, pd: ProtectionDomain, attributes: ExtendedAttributes & RssAttributes): QueuePair {
  if ((attributes.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) !== 0) {
    const hint = "a queue pair with an indirection table has no send queue";
    const path = "qp_init_attr.comp_mask";
    refuse({ code: "EOPNOTSUPP", call, reason: "unsupported", path, value: attributes.comp_mask, hint });
  }
  return RssQueuePair.createRss(call, pd, attributes);
}
