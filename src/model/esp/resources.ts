/**
 * What an ESP action owns in the core besides its association: a cipher, and a replay window where
 * it has one.
 */
import { createCipher, releaseCipher } from "../../engine/ciphers.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { keyOf, type EspSettings } from "./settings.js";
import { ReplayWindow } from "./replayWindow.js";

export interface EspHolds {
  readonly cipher: number;
  readonly window: ReplayWindow | null;
}

/**
 * Allocates what settings need. Keeps the window of `had` where its size fits, and the cipher where
 * no key was `given`. @throws ENOMEM
 */
export function acquire(device: DeviceBase, settings: EspSettings, had: EspHolds | null, given: boolean): EspHolds {
  const { core } = device;
  const { window: size } = settings;
  const cipher = had !== null && !given ? had.cipher : device.allocated(createCipher(core, keyOf(settings)));
  if (size === null) return { cipher, window: null };
  const window = had?.window?.size === size ? had.window : ReplayWindow.create(core, size);
  if (window !== null) return { cipher, window };
  if (cipher !== had?.cipher) releaseCipher(core, cipher);
  return device.allocated(0) as never;
}

/** Frees what `kept` does not use. */
export function release({ core }: DeviceBase, { cipher, window }: EspHolds, kept: EspHolds | null): void {
  if (cipher !== kept?.cipher) releaseCipher(core, cipher);
  if (window !== kept?.window) window?.release();
}
