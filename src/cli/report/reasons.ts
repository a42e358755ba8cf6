/** Why frames ended where they did, in words. */
import type { Outcome } from "../../index.js";

type Reason = NonNullable<Outcome["reason"]>;

/** Reasons in words; others are shown by their names. */
const REASONS: Partial<Record<Reason, string>> = {
  no_rule: "no rule of the root table took them",
  table_miss: "no rule of the table they came to took them",
  default_miss: "action default_miss",
  drop_action: "action drop",
  no_destination: "the rule names no destination",
  hop_limit: "too many jumps from table to table",
  queue_not_ready: "the queue pair does not receive",
  no_receive_buffer: "no receive buffer was left",
  receive_buffer_too_short: "the receive buffer was too short",
  completion_queue_full: "the completion queue was full",
  copy_limit: "too many copies were made of them before",
  not_a_tunnel: "nothing to decapsulate",
  frame_too_long: "they became too long",
  wire_to_wire: "from the wire to the uplink, without a port",
  esp_not_esp: "no ESP header to decrypt behind",
  esp_not_ip: "no IP packet to encrypt",
  esp_fragment: "ESP does not take fragments",
  esp_encapsulation: "other headers in front of ESP than the action's",
  esp_truncated: "too short for ESP, or not captured whole",
  esp_spi: "another SPI than the action's",
  esp_hard_limit: "the ESP action has had its packets",
  esp_replay: "the sequence number was seen before, or is too old",
  esp_jump: "the sequence number is more than 2^31 ahead",
  esp_authentication: "the ICV is wrong",
  esp_trailer: "ESP padding, next header or packet inside do not fit",
  esp_dummy: "an ESP dummy packet",
  esp_sequence_exhausted: "ESP sequence numbers are used up",
  esp_iv_exhausted: "ESP initialization vectors are used up",
  esp_metadata: "the metadata element does not ask for encryption",
};

export function reasonText(reason: Reason): string {
  return REASONS[reason] ?? reason.replaceAll("_", " ");
}
