/**
 * The C structs that `struct ibv_flow_action_esp` leads to (x86-64, little-endian). IV, salt, key and filters are as on the wire.
 *
 *     | spi 4 | seq 4 | tfc_pad 4 | flags 4 | hard_limit_pkts 8 |                          ibv_flow_action_esp_attr of the page
 *     | iv 8 | iv_algo 4 | salt 4 | icv_len 4 | key_len 4 | aes_key 32 |                   keymat of AES GCM
 *     | size 4 |                                                                           replay_bmp
 */
import { IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM, IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP } from "../../abi/verbs.js";
import {
  ESP_ATTR_STRUCT,
  KEY_ROOM,
  KEYMAT_STRUCT,
  REPLAY_STRUCT,
  secretBytes,
  secretCopy,
  type EspAttr,
  type EspEncap,
  type EspKeymat,
  type EspPart,
} from "../../model/esp/request.js";
import { layoutOf } from "../../model/match/flowSpec.js";

/** `bytes` has all of the struct. */
export function attrFrom(bytes: Uint8Array): EspAttr {
  const view = viewOf(bytes);
  return {
    spi: view.getUint32(0, true),
    seq: view.getUint32(4, true),
    tfc_pad: view.getUint32(8, true),
    flags: view.getUint32(12, true),
    hard_limit_pkts: view.getBigUint64(16, true),
  };
}

/** The C bytes of the attributes. */
export function attrBytes({ spi, seq, tfc_pad, flags, hard_limit_pkts }: EspAttr): Uint8Array {
  const bytes = new Uint8Array(ESP_ATTR_STRUCT);
  const view = viewOf(bytes);
  [spi, seq, tfc_pad, flags].forEach((word, i) => view.setUint32(4 * i, word, true));
  view.setBigUint64(16, hard_limit_pkts, true);
  return bytes;
}

/**
 * The key material of C bytes; its value is null for another protocol than AES-GCM. `bytes` are of
 * `secretBytes`.
 */
export function keymatPart(proto: number, bytes: Uint8Array): EspPart<EspKeymat> {
  return partOf(proto === IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM, proto, bytes, KEYMAT_STRUCT, (view) => ({
    iv: bytes.slice(0, 8),
    iv_algo: view.getUint32(8, true),
    salt: secretCopy(bytes.subarray(12, 16)),
    icv_len: view.getUint32(16, true),
    key_len: view.getUint32(20, true),
    aes_key: secretCopy(bytes.subarray(24, 24 + KEY_ROOM)),
  }));
}

/** The C bytes of AES-GCM key material. */
export function keymatBytes({ iv, iv_algo, salt, icv_len, key_len, aes_key }: EspKeymat): Uint8Array {
  const bytes = secretBytes(KEYMAT_STRUCT);
  const view = viewOf(bytes);
  bytes.set(iv, 0);
  view.setUint32(8, iv_algo, true);
  bytes.set(salt, 12);
  view.setUint32(16, icv_len, true);
  view.setUint32(20, key_len, true);
  bytes.set(aes_key, 24);
  return bytes;
}

/** The replay window of C bytes; its value is null for another protocol than a bitmap. */
export function replayPart(proto: number, bytes: Uint8Array): EspPart<number> {
  return partOf(proto === IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP, proto, bytes, REPLAY_STRUCT, (view) =>
    view.getUint32(0, true),
  );
}

/** The C bytes of a replay window of `size` packets. */
export function replayBytes(size: number): Uint8Array {
  const bytes = new Uint8Array(REPLAY_STRUCT);
  viewOf(bytes).setUint32(0, size, true);
  return bytes;
}

/** A link of the chain whose filter has these bytes. */
export function encapOf(type: number, filter: Uint8Array): EspEncap {
  const known = layoutOf(type)?.known;
  const len = filter.length;
  if (known === undefined || len < known) return { type, len, more: false, val: null };
  return { type, len, more: hasMore(filter, known), val: filter.slice(0, known) };
}

function partOf<T>(
  isKnown: boolean,
  proto: number,
  bytes: Uint8Array,
  size: number,
  read: (view: DataView) => T,
): EspPart<T> {
  const len = bytes.length;
  if (!isKnown || len < size) return { proto, len, more: false, value: null };
  return { proto, len, more: hasMore(bytes, size), value: read(viewOf(bytes)) };
}

/** Whether a byte after the known ones is not 0. */
function hasMore(bytes: Uint8Array, known: number): boolean {
  return bytes.subarray(known).some((byte) => byte !== 0);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
