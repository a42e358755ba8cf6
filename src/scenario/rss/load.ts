/** Makes the indirection tables of a scenario and their queue pairs. */
import { IBV_QPT_RAW_PACKET, IBV_RX_HASH_FUNC_TOEPLITZ } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import { IndirectionTable } from "../../model/queue/indirectionTable.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import { RssQueuePair } from "../../model/queuePair/rssQueuePair.js";
import type { WorkQueue } from "../../model/queue/workQueue.js";
import type { ScenarioQueue } from "../queue/definition.js";
import type { ScenarioDomains } from "../device/domains.js";
import { hexText } from "../action/headerBytes.js";
import { at } from "../place.js";
import { RX_HASH_FIELDS, type ScenarioIndirectionTable } from "./definition.js";

export function loadIndirectionTable(
  path: string,
  { name, ind_tbl }: ScenarioIndirectionTable,
  queue: (name: string) => WorkQueue,
): IndirectionTable {
  const log = Math.log2(ind_tbl.length);
  const length = `${path}.ind_tbl`;
  checkPower(length, ind_tbl.length);
  const queues = ind_tbl.map(queue);
  const { context } = queues[0] as WorkQueue;
  const make = (): IndirectionTable =>
    IndirectionTable.create(context, { log_ind_tbl_size: log, ind_tbl: queues }).called(name);
  return at(path, make, (inner) => (inner === "log_ind_tbl_size" ? ".ind_tbl" : `.${inner}`));
}

/** A queue with an indirection table. */
export function loadRss(
  path: string,
  domains: ScenarioDomains,
  { name, function: vport, rx_hash_conf }: ScenarioQueue,
  rwq_ind_tbl: IndirectionTable,
): QueuePair {
  const { rx_hash_key = "", rx_hash_fields_mask = [] } = rx_hash_conf ?? {};
  const conf = {
    rx_hash_function: IBV_RX_HASH_FUNC_TOEPLITZ,
    rx_hash_key: hexText(`${path}.rx_hash_conf.rx_hash_key`, rx_hash_key),
    rx_hash_fields_mask: bitsOf(RX_HASH_FIELDS, rx_hash_fields_mask),
  };
  const attributes = { qp_type: IBV_QPT_RAW_PACKET, rwq_ind_tbl, rx_hash_conf: conf };
  const make = (): QueuePair => RssQueuePair.createRss(domains.pd(vport), attributes, name);
  return at(path, make, (inner) => `.${inner.replace("rx_hash_key_len", "rx_hash_key")}`);
}

/** The bits of names. */
export function bitsOf<K extends string>(bits: Readonly<Record<K, number>>, names: readonly K[]): number {
  return [...new Set(names)].reduce((sum, name) => sum + bits[name], 0);
}

/** @throws EINVAL not a power of two */
export function checkPower(path: string, length: number): void {
  if (length > 0 && Number.isInteger(Math.log2(length))) return;
  const hint = "as many as a power of two: name queues more than once";
  refuse({ code: "EINVAL", reason: "out_of_range", path, value: `${length} queues`, hint });
}
