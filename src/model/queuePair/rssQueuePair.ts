/**
 * Queue pairs that only receive: RSS divides their frames among the work queues of an indirection
 * table (ibv_create_qp_ex(3), rx_hash_conf).
 */
import { HASH_NONE, HASH_TOEPLITZ, RSS_IPV6, RSS_KEY_SIZE, RSS_SPI, RSS_UDP } from "../../abi/state.js";
import {
  IBV_QPT_RAW_PACKET,
  IBV_RX_HASH_DST_IPV4,
  IBV_RX_HASH_DST_IPV6,
  IBV_RX_HASH_DST_PORT_TCP,
  IBV_RX_HASH_DST_PORT_UDP,
  IBV_RX_HASH_FUNC_TOEPLITZ,
  IBV_RX_HASH_INNER,
  IBV_RX_HASH_IPSEC_SPI,
  IBV_RX_HASH_SRC_IPV4,
  IBV_RX_HASH_SRC_IPV6,
  IBV_RX_HASH_SRC_PORT_TCP,
  IBV_RX_HASH_SRC_PORT_UDP,
} from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import type { ProtectionDomain } from "../base/context.js";
import { checkBytes, checkObject, unsigned } from "../../base/checks.js";
import { living } from "../base/handle.js";
import { IndirectionTable } from "../queue/indirectionTable.js";
import { checkRoom } from "../queue/numbers.js";
import { QueuePair, type QueuePairAttributes } from "./queuePair.js";
import { HASH_FIELDS } from "../base/limits.js";
import { RssRecord, type HashOptions } from "../queue/rss.js";

/** `struct ibv_rx_hash_conf` */
export interface ReceiveHashConfiguration {
  /** IBV_RX_HASH_FUNC_TOEPLITZ */
  rx_hash_function: number;
  /** The length of the key in bytes: 40. @default the length of `rx_hash_key` */
  rx_hash_key_len?: number | undefined;
  rx_hash_key: Uint8Array;
  /** Bits IBV_RX_HASH_... */
  rx_hash_fields_mask: number | bigint;
}

/** The attributes of an RSS queue pair. */
export interface RssAttributes extends Partial<QueuePairAttributes> {
  qp_type: number;
  rx_hash_conf: ReceiveHashConfiguration;
  rwq_ind_tbl: IndirectionTable;
}

const IPV4 = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
const IPV6 = IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6;
const TCP = IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP;
const UDP = IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
const CITE = "ibv_create_qp_ex: rx_hash_conf";

export class RssQueuePair extends QueuePair {
  /** @internal */
  readonly rwq_ind_tbl: IndirectionTable;
  /** @internal */
  readonly rx_hash_conf: Readonly<ReceiveHashConfiguration>;
  private readonly _rss: RssRecord;

  private constructor(
    pd: ProtectionDomain,
    table: IndirectionTable,
    conf: ReceiveHashConfiguration,
    rss: RssRecord,
    name?: string,
  ) {
    super(pd, null, rss.address, name);
    this.rwq_ind_tbl = table;
    this.rx_hash_conf = { ...conf, rx_hash_key: conf.rx_hash_key.slice(0, RSS_KEY_SIZE) };
    this._rss = rss;
    pd.users++;
    table.users++;
  }

  /**
   * @throws EINVAL for fields that exclude each other or a key of another size; EOPNOTSUPP for
   *   another type, or for attributes of a send queue; ENOMEM
   */
  static createRss(pd: ProtectionDomain, attributes: RssAttributes, name?: string): RssQueuePair {
    const { device } = pd;
    checkRest(attributes);
    const table = living("rwq_ind_tbl", attributes.rwq_ind_tbl, IndirectionTable);
    if (table.device !== device) {
      refuse({ code: "EINVAL", reason: "other_device", path: "rwq_ind_tbl", value: table });
    }
    const hash = hashOf(attributes.rx_hash_conf, table);
    checkRoom(device);
    return new RssQueuePair(pd, table, attributes.rx_hash_conf, new RssRecord(table.list, hash), name);
  }

  override get isRss(): boolean {
    return true;
  }

  override get isSink(): boolean {
    return false;
  }

  override modify(): void {
    this._lacks("states");
  }

  override query(): never {
    this._lacks("attributes");
  }

  override post(): void {
    this._lacks("receive queue: post to its work queues");
  }

  override postSend(): void {
    this._lacks("send queue");
  }

  protected override release(): void {
    this._rss.release();
    this.rwq_ind_tbl.users--;
  }

  private _lacks(what: string): never {
    const hint = `a queue pair with an indirection table has no ${what}`;
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "qp", value: this, hint });
  }
}

/** Refuses attributes of a send queue, a receive queue or a completion queue. */
function checkRest({ qp_type, send_cq, recv_cq, srq, cap }: RssAttributes): void {
  if (qp_type !== IBV_QPT_RAW_PACKET) {
    const hint = "with rwq_ind_tbl the type must be IBV_QPT_RAW_PACKET";
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "qp_type", value: qp_type, hint });
  }
  const { max_send_wr, max_recv_wr, max_recv_sge } = cap ?? {};
  const sends = { send_cq, "cap.max_send_wr": max_send_wr };
  const receives = { recv_cq, srq, "cap.max_recv_wr": max_recv_wr, "cap.max_recv_sge": max_recv_sge };
  for (const [code, given] of [["EOPNOTSUPP", sends] as const, ["EINVAL", receives] as const]) {
    for (const [path, value] of Object.entries(given)) {
      if (value === undefined || value === null || value === 0) continue;
      const hint = "a queue pair with an indirection table has no queues of its own: leave this out";
      refuse({ code, reason: "unsupported", path, value, hint });
    }
  }
}

function hashOf(conf: ReceiveHashConfiguration, table: IndirectionTable): HashOptions {
  checkObject("rx_hash_conf", conf);
  const { rx_hash_function, rx_hash_key: key, rx_hash_fields_mask } = conf;
  const unknown = (path: string, value: unknown, hint: string): never =>
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: `rx_hash_conf.${path}`, value, hint, cite: CITE });
  if (unsigned("rx_hash_conf.rx_hash_function", rx_hash_function, 8) !== IBV_RX_HASH_FUNC_TOEPLITZ) {
    unknown("rx_hash_function", rx_hash_function, "use IBV_RX_HASH_FUNC_TOEPLITZ");
  }
  checkBytes("rx_hash_conf.rx_hash_key", key);
  const length = unsigned("rx_hash_conf.rx_hash_key_len", conf.rx_hash_key_len ?? key.length, 8);
  if (length !== RSS_KEY_SIZE || length > key.length) {
    const path = "rx_hash_conf.rx_hash_key_len";
    const hint = `use a key of ${RSS_KEY_SIZE} bytes`;
    refuse({ code: "EINVAL", reason: "out_of_range", path, value: length, hint });
  }
  const mask = Number(rx_hash_fields_mask);
  if (!Number.isInteger(mask) || mask < 0 || mask >= 2 ** 32 || (mask & ~HASH_FIELDS) !== 0) {
    unknown("rx_hash_fields_mask", rx_hash_fields_mask, `the device hashes the bits 0x${HASH_FIELDS.toString(16)}`);
  }
  const fields = fieldsOf(mask);
  const inner = (mask & IBV_RX_HASH_INNER) !== 0;
  // SPEC: as in drivers, a hash without fields needs a table of one queue.
  const function_ = fields === 0 ? HASH_NONE : HASH_TOEPLITZ;
  if (fields === 0 && table.log_ind_tbl_size > 0)
    clash(mask, "without hash fields the indirection table must have one queue");
  return { function: function_, symmetric: false, outer: inner ? 0 : fields, inner: inner ? fields : 0, key };
}

/** The RSS_* bits for a mask of IBV_RX_HASH_ bits. */
function fieldsOf(mask: number): number {
  const has = (bits: number): boolean => (mask & bits) !== 0;
  if (has(IPV4) && has(IPV6)) clash(mask, "hash IPv4 or IPv6 addresses, not both");
  if (has(TCP) && has(UDP)) clash(mask, "hash TCP or UDP ports, not both");
  if (has(IBV_RX_HASH_IPSEC_SPI) && has(TCP | UDP)) clash(mask, "hash the SPI or ports, not both");
  return (
    (mask & 3) |
    ((mask >> 2) & 3) |
    ((mask >> 2) & 12) |
    ((mask >> 4) & 12) |
    (has(IBV_RX_HASH_IPSEC_SPI) ? RSS_SPI : 0) |
    (has(IPV6) ? RSS_IPV6 : 0) |
    (has(UDP) ? RSS_UDP : 0)
  );
}

function clash(mask: number, hint: string): never {
  const path = "rx_hash_conf.rx_hash_fields_mask";
  const value = `0x${(mask >>> 0).toString(16)}`;
  refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint, cite: CITE });
}
