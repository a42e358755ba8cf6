/**
 * `struct ibv_flow_action_esp` as read from objects or C bytes: every number fits its C field, nothing else has been checked
 * (ibv_flow_action_esp(3), "action Argument").
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

/** `struct ibv_flow_action_esp_keymat_aes_gcm`; bytes as on the wire. */
export interface EspKeymat {
  /** 8 bytes. */
  readonly iv: Uint8Array;
  readonly iv_algo: number;
  /** 4 bytes. */
  readonly salt: Uint8Array;
  readonly icv_len: number;
  readonly key_len: number;
  /** 32 bytes, of which the first `key_len` are the key. */
  readonly aes_key: Uint8Array;
}

/** What is behind a pointer that has a length, or would be. */
export interface EspPart<T> {
  readonly proto: number;
  readonly len: number;
  /** Whether bytes behind the known ones are not 0: fields of a later library. */
  readonly more: boolean;
  /** null where the length or the protocol is not that of the struct. */
  readonly value: T | null;
}

/** A link of `struct ibv_flow_action_esp_encap`. */
export interface EspEncap {
  /** IBV_FLOW_SPEC_* */
  readonly type: number;
  readonly len: number;
  readonly more: boolean;
  /** The known bytes of the filter; null where the type has none, or the length is not one of it. */
  readonly val: Uint8Array | null;
}

/** What is null is not given. */
export interface EspRequest {
  readonly attr: EspAttr | null;
  readonly keymat: EspPart<EspKeymat> | null;
  /** `value` is the size of the window. */
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
/** A chain is read no further: there is none that is longer. */
export const MAX_ENCAP = 4;
