/**
 * `struct ibv_flow_action_esp` as read from objects or C bytes (ibv_flow_action_esp(3), "action
 * Argument"). Every number fits its C field; nothing else is checked.
 */

/** `struct ibv_flow_action_esp_attr` of the page. */
export interface EspAttr {
  readonly spi: number;
  readonly seq: number;
  readonly tfc_pad: number;
  /** IB_UVERBS_FLOW_ACTION_ESP_FLAGS_* */
  readonly flags: number;
  readonly hard_limit_pkts: bigint;
}

/** `struct ibv_flow_action_esp_keymat_aes_gcm`, in wire order. */
export interface EspKeymat {
  /** 8 bytes. */
  readonly iv: Uint8Array;
  readonly iv_algo: number;
  /** 4 bytes. */
  readonly salt: Uint8Array;
  readonly icv_len: number;
  readonly key_len: number;
  /** 32 bytes; the key is the first `key_len` of them. */
  readonly aes_key: Uint8Array;
}

/** Bytes that are taken from one `ArrayBuffer`: each takes as much memory as a key of its own. */
const SLAB = 4096;
let slab = new ArrayBuffer(0);
let taken = 0;

/**
 * Zeros that key material is written into. They lie in an `ArrayBuffer`: JavaScript engines keep a
 * small typed array in their heap, and move it when it is first asked for its buffer or when garbage
 * is collected. The old bytes then stay where `fill` does not reach them.
 */
export function secretBytes(length: number): Uint8Array {
  if (taken + length > slab.byteLength) {
    slab = new ArrayBuffer(Math.max(SLAB, length));
    taken = 0;
  }
  taken += length;
  return new Uint8Array(slab, taken - length, length);
}

/** A copy of key material. It never asks `bytes`, the caller's array, for its buffer. */
export function secretCopy(bytes: Uint8Array, length = bytes.length): Uint8Array {
  const copy = secretBytes(Math.max(length, bytes.length));
  copy.set(bytes);
  return copy;
}

/** The struct that a pointer leads to, with its length. */
export interface EspPart<T> {
  readonly proto: number;
  readonly len: number;
  /** Whether bytes after the known ones are not 0: fields of a later library. */
  readonly more: boolean;
  /** null where the length or the protocol does not fit the struct. */
  readonly value: T | null;
}

/** A link of `struct ibv_flow_action_esp_encap`. */
export interface EspEncap {
  /** IBV_FLOW_SPEC_* */
  readonly type: number;
  readonly len: number;
  readonly more: boolean;
  /** The known bytes of the filter; null where the type has none, or the length does not fit it. */
  readonly val: Uint8Array | null;
}

/** null members are not given. */
export interface EspRequest {
  readonly attr: EspAttr | null;
  readonly keymat: EspPart<EspKeymat> | null;
  /** `value` is the size of the replay window. */
  readonly replay: EspPart<number> | null;
  readonly encap: readonly EspEncap[] | null;
  readonly comp_mask: number;
  readonly esn: number;
}

/** sizeof the structs, on x86-64. */
export const ESP_STRUCT = 56;
export const ESP_ATTR_STRUCT = 24;
export const ESP_ENCAP_STRUCT = 24;
export const KEYMAT_STRUCT = 56;
export const REPLAY_STRUCT = 4;
/** Bytes of `aes_key`. */
export const KEY_ROOM = 32;
/** The longest chain that is read: no valid chain is longer. */
export const MAX_ENCAP = 4;
