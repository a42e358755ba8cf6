/** The frame came to a rule or a queue, and was lost there. */
import type { ReasonName } from "../../../model/traffic/outcome.js";
import type { Detector } from "../finding.js";

/** Mistakes behind reasons of outcomes. */
const LOST: Readonly<Partial<Record<ReasonName, readonly [name: string, sentence: string]>>> = {
  queue_not_ready: [
    "queue-not-ready",
    "The queue does not receive yet. Bring a queue pair to RTR (ibv_modify_qp), and a work queue to RDY (ibv_modify_wq).",
  ],
  no_receive_buffer: [
    "no-receive-buffer",
    "The queue is out of receive requests. Post one for each frame (ibv_post_recv), and repost each one after polling it.",
  ],
  receive_buffer_too_short: [
    "receive-buffer-too-short",
    "The receive request is shorter than the frame. Make it the MTU plus 14 bytes of Ethernet header, and 4 more for each VLAN tag.",
  ],
  completion_queue_full: [
    "completion-queue-full",
    "The completion queue is full. Poll it more often, or give it as many entries as all its queues together.",
  ],
  default_miss: [
    "default-miss-drops",
    "A default miss action drops the frame in a table that is not root. In the root table, it passes the frame on to the next stage.",
  ],
  hop_limit: [
    "table-loop",
    "The frame reached the hop limit of 64 tables. Tables that point to each other form a loop.",
  ],
  not_a_tunnel: [
    "decapsulation-without-tunnel",
    "The rule removes a tunnel that the frame does not have. Make the rule match the tunnel header too.",
  ],
  wire_to_wire: [
    "wire-to-wire",
    "The rule sends a frame from the wire back to the port it arrived on. Send it to a vport or to another port.",
  ],
  esp_not_esp: [
    "esp-without-header",
    "The rule decrypts, and the frame has no ESP header: IP protocol 50, or UDP port 4500. Make the rule match misc.outer_esp_spi.",
  ],
  esp_fragment: [
    "esp-of-fragment",
    "ESP works on whole packets, and this one is a fragment. Reassemble it first, or match frag 0.",
  ],
  esp_spi: ["esp-other-spi", "The association has a different SPI from the frame. SPIs are in network byte order."],
  esp_hard_limit: ["esp-limit-reached", "The association has reached its hard limit. Create a new one with new keys."],
  esp_replay: [
    "esp-replay",
    "The replay window refuses the sequence number. A sender that has restarted needs a new association.",
  ],
  esp_jump: [
    "esp-sequence-jump",
    "The sequence number is more than 2^31 ahead. Both ends must use the same upper half of the ESN.",
  ],
  esp_authentication: [
    "esp-other-key",
    "The ICV is wrong: the ends differ in key, salt, ICV length or use of ESN, or the packet was modified.",
  ],
};

/** One detector for each reason. */
export const LOST_MISTAKES: readonly Detector[] = Object.entries(LOST).map(([reason, [name, sentence]]) => ({
  name,
  detect: ({ context: { trace } }) => {
    // In a root table a default miss is no loss yet: the frame goes to the next stage.
    if (reason === "default_miss" && trace.outcome.verdict !== "drop") return null;
    const refused = trace.steps.some((step) => step.kind === "destination" && step.refused === reason);
    return trace.outcome.reason === reason || refused ? { sentence } : null;
  },
}));
