/**
 * The IVs that a full offload ENCRYPT action has used, for each key and salt. RFC 4106, section 3.1:
 * an IV must not be used twice with one key. Keys are known by `cipherId` only, so none is kept.
 */
import { cipherId, createCipher, releaseCipher } from "../../engine/ciphers.js";
import { refuse } from "../../errors.js";
import { ESP_ENCRYPT, ESP_FULL_OFFLOAD, ESP_UP_IVS } from "../../abi/esp.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { EspCounts } from "./record.js";
import { keyOf, type EspSettings } from "./settings.js";

const SEALS = ESP_FULL_OFFLOAD | ESP_ENCRYPT;

/** Key and salt of settings, as a text; empty where the device does not choose the IVs. @throws ENOMEM */
export function nonceSpace(device: DeviceBase, settings: EspSettings): string {
  if ((settings.flags & SEALS) !== SEALS) return "";
  const cipher = device.allocated(createCipher(device.core, keyOf(settings)));
  const id = cipherId(device.core, cipher);
  releaseCipher(device.core, cipher);
  return `${id}${String.fromCharCode(...settings.keymat.salt)}`;
}

export class UsedIvs {
  /** The next IV of each key and salt; null where all are used. Most actions keep their first key. */
  private _next: Map<string, bigint | null> | null = null;

  /** Notes the state of the key and salt in use. */
  note(space: string, { iv, up }: EspCounts): void {
    if (space === "") return;
    this._next ??= new Map();
    this._next.set(space, (up & ESP_UP_IVS) === 0 ? iv : null);
  }

  /** Refuses an IV that key and salt may have been used with. @throws EINVAL */
  check(space: string, iv: bigint): void {
    const next = this._next?.get(space);
    if (next === undefined || (next !== null && iv >= next)) return;
    const hint =
      next === null ? "all IVs of this key and salt are used" : `the next IV of this key and salt is ${next}`;
    const path = "esp.keymat_ptr.iv";
    refuse({ code: "EINVAL", reason: "bad_attribute", path, value: iv, hint, cite: "RFC 4106, 3.1" });
  }
}
