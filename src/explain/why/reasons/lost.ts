/** Why a frame ended as it did: a sentence for each reason of outcomes, and what to do. */
import type { ReasonName, VerdictName } from "../../../model/traffic/outcome.js";
import type { FailedCheck, RuleRef } from "../../trace/trace.js";
import { listText, ruleText } from "./describe.js";

/** What the sentences name. */
export interface LostAt {
  /** The table, as sentences call it. */
  readonly table: string;
  /** The last rule that the frame hit: `rule "web"`; null without one. */
  readonly rule: string | null;
  /** Of a frame that reached the hop limit: the rules that send it in a circle. */
  readonly circle: readonly RuleRef[];
  /** The queue that refused the frame: `qp:web`; null without one. */
  readonly queue: string | null;
  /** The state of that queue: "INIT"; null if it has none. */
  readonly state: string | null;
  /** The ESP header of the frame; null without one. */
  readonly esp: { readonly spi: string; readonly sequence: bigint } | null;
  /** The checks of an ESP action that the frame failed. */
  readonly failed: readonly FailedCheck[];
  /** The port that the frame came in by. */
  readonly port: number;
  /** Bytes of the frame. */
  readonly length: number;
  /** Why there is no inner packet; null if there is one. */
  readonly noInner: string | null;
  /** The function of the last table: "the PF", "VF 1". */
  readonly owner: string;
  /** Whether that function has default flows. */
  readonly defaults: boolean;
}

/** One sentence, without a full stop. */
export function lostText(verdict: VerdictName, reason: ReasonName | null, at: LostAt): string {
  return reason === null ? endText(verdict) : (byReason(reason, at) ?? espText(reason, at));
}

function endText(verdict: VerdictName): string {
  switch (verdict) {
    case "deliver":
      return "a queue of the device got the frame";
    case "forward":
      return "the frame left through a port";
    case "transmit":
      return "the frame left through a port";
    case "drop":
      return "the frame was dropped";
    case "miss":
      return "no rule took the frame";
  }
}

function byReason(reason: ReasonName, at: LostAt): string | null {
  const { table, queue, port, owner } = at;
  const rule = at.rule ?? "a rule";
  const name = queue ?? "the queue";
  switch (reason) {
    case "no_rule":
      return at.defaults
        ? `no flow or rule of ${owner} accepts the frame, and its default flows are for other frames or ports`
        : `no flow or rule of ${owner} accepts the frame, and ${owner} has no default flow`;
    case "table_miss":
      return `no rule of ${table} matches the frame, and a table that is not root drops such frames`;
    case "default_miss":
      return `${rule} has the default miss action, and nothing after its table accepts the frame`;
    case "drop_action":
      return `${rule} drops the frame`;
    case "no_destination":
      return `${rule} names no destination: frames to a function need one`;
    case "hop_limit":
      return circleSentence(at.circle);
    case "queue_not_ready":
      return `${name} does not receive in the state ${at.state ?? "it has"}: a queue pair receives in RTR and RTS, a work queue in RDY`;
    case "no_receive_buffer":
      return `${name} is out of receive buffers: post receive requests`;
    case "receive_buffer_too_short":
      return `the receive buffer of ${name} is shorter than the ${at.length} bytes of the frame`;
    case "completion_queue_full":
      return `the completion queue of ${name} is full: poll it, or make it larger`;
    case "wrong_qkey":
      return `the Q_Key of the datagram is not that of ${name}`;
    case "bad_datagram":
      return `the packet for ${name} is not a complete UD datagram, or its ICRC is wrong`;
    case "copy_limit":
      return "the frame already has the maximum number of copies";
    case "not_a_tunnel":
      return `${rule} decapsulates, but ${at.noInner ?? "the packet inside has no header of that kind"}`;
    case "frame_too_long":
      return `${rule} would make the frame longer than 262144 bytes, or its IP packet longer than 65535`;
    case "wire_to_wire":
      return `${rule} sends the frame back to port ${port}, where it arrived: no frame returns to the wire it came from`;
    default:
      return null;
  }
}

/** The rules of a loop. */
export function circleSentence(rules: readonly RuleRef[]): string {
  const who = rules.length === 0 ? "the rules" : listText(rules.map(ruleText), rules.length);
  return `the frame passed 64 rules without reaching an end: ${who} ${rules.length === 1 ? "sends" : "send"} it in a circle`;
}

/** What to do about a check that failed. */
const REMEDIES: Partial<Record<ReasonName, string>> = {
  esp_encapsulation: ": check tunnel or transport mode, and UDP encapsulation",
  esp_hard_limit: ": renew the key",
  esp_authentication: ": one of them differs, or the packet was modified",
};

/** "it is a fragment; it ...": the checks that a frame failed. */
export function failedText(failed: readonly FailedCheck[]): string {
  return failed.map(({ sentence }) => `it ${sentence}`).join("; ");
}

function espText(reason: ReasonName, { rule, esp, failed }: LostAt): string {
  const action = rule === null ? "an ESP action" : `the ESP action of ${rule}`;
  if (failed.length > 0) return `${action} refuses the frame: ${failedText(failed)}${REMEDIES[reason] ?? ""}`;
  const sequence = esp === null ? "the sequence number" : `the sequence number ${esp.sequence}`;
  switch (reason) {
    case "esp_not_esp":
      return `${action} decrypts, but the frame has no ESP header`;
    case "esp_not_ip":
      return `${action} encrypts, but the frame has no IP packet`;
    case "esp_fragment":
      return `${action} does not accept fragments: reassemble them before IPsec`;
    case "esp_encapsulation":
      return `${action} expects different headers before the ESP header: check tunnel or transport mode, and UDP encapsulation`;
    case "esp_truncated":
      return "the ESP packet is too short, or was not captured to its end";
    case "esp_spi":
      return `the SPI of the packet${esp === null ? "" : `, ${esp.spi},`} is not that of ${action}`;
    case "esp_hard_limit":
      return `${action} has reached its hard limit of packets: renew the key`;
    case "esp_replay":
      return `${sequence} has been received before, or lies before the replay window`;
    case "esp_jump":
      return `${sequence} is more than 2^31 ahead of the last one`;
    case "esp_authentication":
      return "the ICV is wrong: the key, salt or ESN differs, or the packet was modified";
    case "esp_trailer":
      return "the packet is authentic, but its padding, next header or inner packet is malformed";
    case "esp_dummy":
      return "the packet is a dummy (next header 59) and carries nothing";
    case "esp_sequence_exhausted":
      return `${action} has used all sequence numbers: renew the key`;
    case "esp_iv_exhausted":
      return `${action} has used all initialization vectors: renew the key`;
    case "esp_metadata":
      return "the metadata element is missing, or does not request encryption";
    default:
      return `the frame ended for the reason ${reason}`;
  }
}
