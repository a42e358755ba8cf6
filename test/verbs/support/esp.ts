/** ESP actions, from a short notation to C names, and frames through flows that name them. */
import type { Outcome } from "../../../src/index.js";
import type { EspAction } from "../../../src/model/esp/action.js";
import type { FlowAction } from "../../../src/model/action/flowAction.js";
import { buildFrame } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { EGRESS, type FlowBench } from "./flows.js";

export const FULL = v.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD;
export const TRANSPORT = v.IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT;
export const ENCRYPT = v.IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT;
export const NEW_WINDOW = v.IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW;
export const ESN = v.IBV_FLOW_ACTION_ESP_MASK_ESN;
export const BMP = v.IBV_FLOW_ACTION_ESP_REPLAY_BMP;
export const NONE = v.IBV_FLOW_ACTION_ESP_REPLAY_NONE;

export const SPI = 0x1234_5678;
export const KEY = Uint8Array.from({ length: 16 }, (_, i) => (91 * i + 17) & 0xff);
export const OTHER_KEY = Uint8Array.from({ length: 32 }, (_, i) => (57 * i + 201) & 0xff);
export const SALT = Uint8Array.of(0xde, 0xad, 0xbe, 0xef);

export const keymat = (over: Partial<v.FlowActionEspAesGcm> = {}): v.FlowActionEspAesGcm => ({
  salt: SALT,
  icv_len: 16,
  aes_key: KEY,
  ...over,
});

/** Eight bytes of an IV. */
export const iv = (number: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, number);
  return bytes;
};

export const IPV4_ENCAP = { type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: "192.0.2.1", dst_ip: "198.51.100.2" } };
export const UDP_ENCAP = { type: v.IBV_FLOW_SPEC_UDP };

/** Parameters of full offload in tunnel mode; `flags` beside FULL_OFFLOAD. */
export const tunnel = (flags: number, over: v.FlowActionEsp = {}, attr: v.FlowActionEspAttr = {}): v.FlowActionEsp => ({
  esp_attr: { spi: SPI, seq: 1, flags: FULL | flags, ...attr },
  keymat_ptr: keymat(),
  esp_encap: [IPV4_ENCAP],
  ...over,
});

/** Parameters of inline crypto. */
export const inline = (flags: number, over: v.FlowActionEsp = {}): v.FlowActionEsp => ({
  esp_attr: { flags },
  keymat_ptr: keymat(),
  ...over,
});

export const handle = (action: FlowAction) => ({ type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action });
export const ESP_SPEC = { type: v.IBV_FLOW_SPEC_ESP };

export const create = (bench: FlowBench, esp: v.FlowActionEsp): EspAction =>
  v.ibv_create_flow_action_esp(bench.context, esp);

/** Code, reason and path of a refusal; undefined if there was none. */
export function told(run: () => unknown): string | undefined {
  const error = refused(run);
  return error === undefined ? undefined : `${error.code} ${error.reason} ${error.path}`;
}

/** An EGRESS flow on the queue "out" that names the action. */
export const sealing = (bench: FlowBench, action: EspAction): ReturnType<FlowBench["flow"]> =>
  bench.flow("out", [handle(action)], EGRESS);

/** The frame that leaves by port 1. */
export function sent(bench: FlowBench, frame: Uint8Array): Outcome {
  return bench.device.send(bench.qp("out"), frame);
}

/** The bytes of the frame that leaves, or the reason why none does. */
export function sealed(bench: FlowBench, frame: Uint8Array): Uint8Array {
  const { to, reason } = sent(bench, frame);
  const [one] = to;
  if (one === undefined) throw new Error(`dropped: ${reason}`);
  return one.frame.slice();
}

/** SPI and sequence number of an ESP packet in IPv4 without options, with or without UDP. */
export function numbersOf(frame: Uint8Array, udp = false): { spi: number; seq: number; iv: bigint } {
  const view = new DataView(frame.buffer, frame.byteOffset + 34 + (udp ? 8 : 0));
  return { spi: view.getUint32(0), seq: view.getUint32(4), iv: view.getBigUint64(8) };
}

/** Position of these bytes in the core's memory; -1 if absent. */
export function leftOver(bench: FlowBench, bytes: Uint8Array): number {
  const { u8 } = bench.device.core;
  const [first = 0] = bytes;
  for (let at = u8.indexOf(first); at >= 0; at = u8.indexOf(first, at + 1)) {
    if (bytes.every((byte, i) => u8[at + i] === byte)) return at;
  }
  return -1;
}

/**
 * An ESP packet of `keymat` in IPv4, sealed by WebCrypto: `inside` with any trailer, under an extended number where
 * `esn` is set (RFC 4106, 5).
 */
export async function sealedByWebCrypto(
  inside: Uint8Array<ArrayBuffer>,
  number: bigint,
  esn: boolean,
): Promise<Uint8Array> {
  const words = (...list: readonly number[]): Uint8Array<ArrayBuffer> => {
    const bytes = new Uint8Array(4 * list.length);
    list.forEach((word, i) => new DataView(bytes.buffer).setUint32(4 * i, word));
    return bytes;
  };
  const low = Number(number & 0xffff_ffffn);
  const key = await crypto.subtle.importKey("raw", KEY, "AES-GCM", false, ["encrypt"]);
  const nonce = Uint8Array.of(...SALT, ...iv(number));
  const additionalData = esn ? words(SPI, Number(number >> 32n), low) : words(SPI, low);
  const behind = await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce, additionalData }, key, inside);
  return buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: IPV4_ENCAP.val.src_ip, destination: IPV4_ENCAP.val.dst_ip },
    { header: "esp", spi: SPI, sequence: low },
    { header: "payload", bytes: Uint8Array.of(...iv(number), ...new Uint8Array(behind)) },
  ]);
}
