// Reference of ESP, part 5: changes by `ibv_modify_flow_action_esp` (docs/esp.md, "Create, modify,
// destroy").

import { type Association, type EspSettings, type KeyMaterial, firstNumber } from "./esp.js";
import { type Encapsulation } from "./chain.js";
import { numbersFrom, resize } from "./replayWindow.js";
import { plainKey } from "./gcm.js";

/** The given attributes; the others stay unchanged. */
export interface EspChange {
  attr?: Pick<EspSettings, "spi" | "seq" | "tfcPad" | "hardLimit" | "newWindow">;
  keymat?: KeyMaterial;
  /** null: off. */
  replay?: number | null;
  encap?: readonly Encapsulation[];
  esn?: number;
}

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Whether the change is refused because an IV would be used twice. */
export function reusesIv(sa: Association, { keymat }: EspChange): boolean {
  if (!keymat || sa.offload !== "full" || !sa.encrypt) return false;
  return same(keymat.key, sa.keymat.key) && same(keymat.salt, sa.keymat.salt) && keymat.iv < sa.iv;
}

export function modifyReference(sa: Association, { attr, keymat, replay, encap, esn }: EspChange): void {
  const before = firstNumber(sa);
  Object.assign(sa, attr);
  if (encap) sa.encap = encap;
  if (esn !== undefined) sa.esn = esn;
  const first = firstNumber(sa);
  const window = replay === undefined ? sa.replay : replay;
  if (first !== before) {
    sa.next = first;
    sa.numbers = numbersFrom(first, window);
  } else if (window !== sa.replay) resize(sa.numbers, window, sa.packets);
  sa.replay = window;
  if (!keymat) return;
  if (!same(keymat.key, sa.keymat.key)) sa.packets = 0n;
  Object.assign(sa, { keymat, ready: plainKey(keymat.key), iv: keymat.iv });
}
