/** TIRs as the action rss. */
import type { Scenario } from "../../../scenario/index.js";
import { NotExported } from "../../writing/terms.js";
import type { Pattern } from "./pattern.js";

const MAX_QUEUES = 128;
const ZERO_KEY = "0".repeat(80);

/** @throws NotExported */
export function rssText(
  name: string,
  { tirs = [], rqts = [] }: Scenario,
  pattern: Pattern,
  queue: (name: string) => number,
): string {
  const tir = tirs.find((one) => one.name === name);
  if (tir === undefined) throw new NotExported(`there is no TIR ${name}`);
  if (tir.queue !== undefined) return `queue index ${queue(tir.queue)}`;
  const queues = rounds(rqts.find((one) => one.name === tir.rqt)?.queues ?? []).map(queue);
  const outer = tir.rx_hash_field_selector_outer;
  if (tir.rx_hash_field_selector_inner !== undefined || tir.rx_hash_fn === "inverted_xor8") {
    throw new NotExported("testpmd hashes outer fields by Toeplitz here");
  }
  const [first] = queues;
  const fields = tir.rx_hash_fn === "toeplitz" ? (outer?.selected_fields ?? []) : [];
  if (fields.length === 0) return `queue index ${first}`;
  const types = typesOf(fields, outer?.l3_prot_type ?? "ipv4", outer?.l4_prot_type ?? "tcp", pattern);
  const func = tir.rx_hash_symmetric === true ? "symmetric_toeplitz" : "toeplitz";
  const key = (tir.rx_hash_toeplitz_key ?? ZERO_KEY).replaceAll(/[\s:]/g, "");
  if (queues.length > MAX_QUEUES) throw new NotExported(`testpmd spreads over ${MAX_QUEUES} queues at most`);
  return `rss func ${func} types ${types.join(" ")} end key ${key} key_len 40 queues ${queues.join(" ")} end`;
}

/** A table of 512 entries that repeats its queues is what testpmd makes of one round. */
function rounds(queues: readonly string[]): readonly string[] {
  const length = queues.indexOf(queues[0] ?? "", 1);
  const isPower = length > 0 && (length & (length - 1)) === 0;
  const repeats =
    queues.length === 512 && length > 0 && !isPower && queues.every((one, n) => one === queues[n % length]);
  return repeats ? queues.slice(0, length) : queues;
}

function typesOf(fields: readonly string[], l3: "ipv4" | "ipv6", l4: "tcp" | "udp", pattern: Pattern): string[] {
  if (`ipv${pattern.version}` !== l3) throw new NotExported(`its TIR hashes ${l3}, which the rule does not ask for`);
  const has = (name: string): boolean => fields.includes(name);
  const [source, target] = [has("src_ip"), has("dst_ip")];
  const [from, into] = [has("l4_sport"), has("l4_dport")];
  if (has("ipsec_spi") || !(source || target))
    throw new NotExported("testpmd hashes addresses, or addresses and ports");
  const ports = from || into;
  if (ports && pattern.upper !== l4) throw new NotExported(`its TIR hashes ${l4}, which the rule does not ask for`);
  return [
    ...[l3, ...(ports ? [`${l3}-${l4}`] : [])],
    ...(source === target ? [] : [source ? "l3-src-only" : "l3-dst-only"]),
    ...(from === into ? [] : [from ? "l4-src-only" : "l4-dst-only"]),
  ];
}
