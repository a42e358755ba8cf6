/** The reasons of outcomes, in words. */
import type { Outcome } from "../../index.js";
import type { LoadedScenario } from "../../scenario/index.js";

type Reason = NonNullable<Outcome["reason"]>;

/** Reasons in words; others are shown by their names. */
const REASONS: Partial<Record<Reason, string>> = {
  default_miss: "action default_miss",
  drop_action: "action drop",
  no_destination: "the rule names no destination",
  hop_limit: "too many jumps between tables",
  queue_not_ready: "the queue pair does not receive",
  no_receive_buffer: "no receive buffer was left",
  receive_buffer_too_short: "the receive buffer was too short",
  completion_queue_full: "the completion queue was full",
  copy_limit: "too many copies of the frame",
  not_a_tunnel: "nothing to decapsulate",
  frame_too_long: "the frame became too long",
  wire_to_wire: "from the wire back to the port that it came from",
  esp_not_esp: "no ESP header",
  esp_not_ip: "no IP packet to encrypt",
  esp_fragment: "ESP does not accept fragments",
  esp_encapsulation: "the headers in front of ESP differ from the action's",
  esp_truncated: "too short for ESP, or not captured whole",
  esp_spi: "the SPI differs from the action's",
  esp_hard_limit: "the packet limit of the ESP action is reached",
  esp_replay: "the sequence number was seen before, or is too old",
  esp_jump: "the sequence number is more than 2^31 ahead",
  esp_authentication: "the ICV is wrong",
  esp_trailer: "bad ESP padding, next header or inner packet",
  esp_dummy: "an ESP dummy packet",
  esp_sequence_exhausted: "ESP sequence numbers are used up",
  esp_iv_exhausted: "ESP initialization vectors are used up",
  esp_metadata: "the metadata element does not request encryption",
  wrong_qkey: "the Q_Key is not that of the queue pair",
  bad_datagram: "not a complete datagram, or a wrong ICRC",
};

export function reasonText(reason: Reason): string {
  return REASONS[reason] ?? reason.replaceAll("_", " ");
}

/** Copies of frames that reached no destination, by reason: the device counts them beside the frames that ended for it. */
export function lostCopies({ device, tally, scenario }: LoadedScenario): ReadonlyMap<Reason, number> {
  // Packets of messages are counted too.
  if (scenario.messages !== undefined || scenario.connect !== undefined) return new Map();
  const ended = new Map<Reason, number>();
  for (const { reason, to, frames } of tally.ends)
    if (reason !== null && to === null) ended.set(reason, (ended.get(reason) ?? 0) + frames);
  const counts = Object.entries(device.reasons()) as [Reason, bigint][];
  const lost = counts.map(([reason, count]) => [reason, Number(count) - (ended.get(reason) ?? 0)] as const);
  return new Map(lost.filter(([, count]) => count > 0));
}

/** Why frames ended, in words; empty where the verdict says it all. */
export function whyText(
  { flows, deviceFlows, hostRules }: LoadedScenario,
  { reason, missed }: Pick<Outcome, "reason" | "missed">,
): string {
  const flowsToo = reason === "no_rule" && flows.size + deviceFlows.size + hostRules.size > 0;
  if (missed.length > 0) return missText(missed, flowsToo ? "no rule and no flow" : "no rule");
  return reason === null ? "" : reasonText(reason);
}

/** What did not match, and where: `no rule matched in the root table of fdb, then of nic_rx`. */
export function missText(missed: Outcome["missed"], what = "no rule"): string {
  const places = missed.map(({ domain, vport, table }, i) => {
    const owner = vport === 0 ? domain : `${domain} of vf${vport}`;
    if (table !== "root") return `table ${table} of ${owner}`;
    return i > 0 && missed[i - 1]?.table === "root" ? `of ${owner}` : `the root table of ${owner}`;
  });
  return places.length === 0 ? `${what} matched` : `${what} matched in ${places.join(", then ")}`;
}
