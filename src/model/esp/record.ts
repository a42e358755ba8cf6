/**
 * Associations: the records of ESP actions in the core (src/abi/esp.ts). The host writes the
 * parameters, the core counts.
 */
import {
  ESP_CIPHER,
  ESP_ESN,
  ESP_FLAGS,
  ESP_HARD_LIMIT,
  ESP_ICV,
  ESP_IV,
  ESP_METADATA,
  ESP_NUMBER,
  ESP_PACKETS,
  ESP_SALT,
  ESP_SIZE,
  ESP_SPI,
  ESP_TFC,
  ESP_UP,
  ESP_WINDOW,
  ESP_WINDOW_SIZE,
  ESP_WINDOW_WORDS,
} from "../../abi/esp.js";
import { writeHeaders } from "./headers.js";
import type { EspHolds } from "./resources.js";
import type { EspSettings } from "./settings.js";

/** The counts of the core. */
export interface EspCounts {
  /**
   * Encryption: the next number. Decryption: the highest authenticated number, or before the first
   * frame the lowest accepted number.
   */
  readonly number: bigint;
  /** The next IV. */
  readonly iv: bigint;
  /** Frames sealed or authenticated with this key. */
  readonly packets: bigint;
  /** ESP_UP_* */
  readonly up: number;
}

export function associationOf(settings: EspSettings, { cipher, window }: EspHolds, counts: EspCounts): Uint8Array {
  const record = new Uint8Array(ESP_SIZE);
  const view = new DataView(record.buffer);
  const { flags, esn, metadata, spi, tfcPad, hardLimit, keymat, encap } = settings;
  view.setUint32(ESP_FLAGS, flags | (esn === null ? 0 : ESP_ESN) | (metadata ? ESP_METADATA : 0), true);
  view.setUint32(ESP_CIPHER, cipher, true);
  view.setUint32(ESP_SPI, spi, true);
  view.setUint32(ESP_TFC, tfcPad, true);
  view.setBigUint64(ESP_NUMBER, counts.number, true);
  view.setBigUint64(ESP_IV, counts.iv, true);
  view.setBigUint64(ESP_PACKETS, counts.packets, true);
  view.setBigUint64(ESP_HARD_LIMIT, hardLimit, true);
  record.set(keymat.salt, ESP_SALT);
  view.setUint8(ESP_ICV, keymat.icv_len);
  view.setUint8(ESP_UP, counts.up);
  if (window !== null) {
    view.setUint32(ESP_WINDOW, window.address, true);
    view.setUint32(ESP_WINDOW_SIZE, window.size, true);
    view.setUint32(ESP_WINDOW_WORDS, window.last, true);
  }
  writeHeaders(record, encap);
  return record;
}

export function countsOf(record: Uint8Array): EspCounts {
  const view = new DataView(record.buffer, record.byteOffset, record.length);
  return {
    number: view.getBigUint64(ESP_NUMBER, true),
    iv: view.getBigUint64(ESP_IV, true),
    packets: view.getBigUint64(ESP_PACKETS, true),
    up: view.getUint8(ESP_UP),
  };
}
