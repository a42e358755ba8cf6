/** What becomes of the words of `ip xfrm`: the tables of its page. */
import type { Element } from "../../reading/format.js";

const NOTHING = { becomes: "nothing: only the host compares it" };

export const COMMANDS = {
  "ip xfrm state add, update; what ip xfrm state prints": { becomes: "an ESP action and a flow that executes it" },
  "ip xfrm policy add, update; what ip xfrm policy prints": {
    becomes: "with offload, a flow that encrypts, drops or passes what it selects; without, it is not on the NIC",
  },
  "ip xfrm state or policy: delete, deleteall, flush": { becomes: "everything before it is left out" },
} as const satisfies Readonly<Record<string, Element>>;

/** Words of states. */
export const STATE_WORDS = {
  src: { becomes: "the addresses of the flow, and in tunnel mode those in front of ESP" },
  dst: { becomes: "as src" },
  proto: { becomes: "esp; others are refused where they have an offload" },
  spi: { becomes: "`misc.outer_esp_spi` and the SPI of the action" },
  reqid: { becomes: "which policies lead frames to the state" },
  mode: { becomes: "`mode`; the driver takes transport and tunnel" },
  aead: {
    becomes: "`key`, and the last four bytes as `salt`: rfc4106(gcm(aes)) with a key of 128 or 256 bits, ICV 128",
  },
  enc: { refused: "the NIC encrypts with AES-GCM only" },
  auth: { refused: "the NIC encrypts with AES-GCM only" },
  "auth-trunc": { refused: "the NIC encrypts with AES-GCM only" },
  comp: { refused: "the NIC does not compress" },
  "replay-window": { becomes: "`replay`, where the flag esn is set: without it the driver gives the NIC no window" },
  "replay-seq": { becomes: "`seq` of received frames: numbers up to it count as seen" },
  "replay-oseq": { becomes: "`seq` of sent frames: the next one" },
  "replay-seq-hi": { becomes: "`esn` of received frames" },
  "replay-oseq-hi": { becomes: "`esn` of sent frames" },
  flag: { becomes: "esn: `esn`; others are of the host" },
  "extra-flag": NOTHING,
  sel: { becomes: "of sent frames with packet offload: ports and protocol, TCP or UDP" },
  limit: { becomes: "packet-hard: `hardLimit`; others are of the host" },
  encap: { becomes: "espinudp: UDP in front of ESP; the driver takes it in transport mode with packet offload" },
  tfcpad: { refused: "the mlx5 driver does not offload it" },
  offload: {
    becomes: "packet: an action of full offload; crypto: an inline one; dir in: decrypt, dir out: encrypt",
  },
  dir: NOTHING,
  seq: NOTHING,
  coa: NOTHING,
  ctx: NOTHING,
  if_id: NOTHING,
  "pcpu-num": NOTHING,
  mark: NOTHING,
  "output-mark": NOTHING,
} as const satisfies Readonly<Record<string, Element>>;

export const POLICY_WORDS = {
  "src, dst, proto, sport, dport": {
    becomes: "the match of the flow; of upper protocols the driver takes TCP and UDP",
  },
  "dir out": { becomes: "a flow of `nic_tx`" },
  "dir in": {
    becomes: "a flow of `nic_rx` for ESP: with action block, or where what is allowed would be blocked later",
  },
  "dir fwd": { refused: "the mlx5 driver does not offload it" },
  priority: { becomes: "the order of the flows" },
  "action block": { becomes: "drop" },
  tmpl: { becomes: "the action of the state that has its reqid, its mode and its addresses; one template" },
  offload: { becomes: "a flow; a policy without it is not on the NIC" },
  "flag, index, limit, ctx, if_id, mark": NOTHING,
  "ptype sub": { refused: "the mlx5 driver does not offload it" },
} as const satisfies Readonly<Record<string, Element>>;
