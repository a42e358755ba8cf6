/** Connection tracking: the state that `ct` finds, in a register that filters match. */
import type { StateFlags } from "../../text/connection.js";
import { notImported, type Word } from "../../text/refusal.js";
import type { Masked } from "./values.js";

/** Holds the zone in its upper half and the state in the lower one; 0 before `ct`. */
export const CT_REGISTER = "misc2.metadata_reg_c_2";

/** Flags of a state, as the kernel numbers them. */
export const STATES: StateFlags = { new: 1, est: 2, rel: 4, trk: 8, inv: 16, rpl: 32 };

/** What `ct` finds where the device has no connection. */
export const UNKNOWN = STATES["trk"] as number;

/** Whether a filter matches established connections. */
export function isEstablished({ value, mask }: Masked): boolean {
  return (value & mask & BigInt(STATES["est"] as number)) !== 0n;
}

/** Why the device has no connection of the frames of a filter. */
export const NOT_TRACKED =
  "the kernel offloads connections of TCP, UDP and GRE only (act_ct.c): in the device none of this protocol is established";

/** What `ct` finds: a tracked, established connection, in its original direction. */
export const FOUND = (STATES["trk"] as number) | (STATES["est"] as number);

/** Reads "+trk-new". @throws NotImported */
export function connectionState(word: Word): Masked {
  let value = 0;
  let mask = 0;
  const parts = word.text.match(/[+-][^+-]*/g) ?? [];
  if (parts.join("") !== word.text || parts.length === 0) notImported(word, "a state is like +trk+est or -trk");
  for (const one of parts) {
    const bit = STATES[one.slice(1)];
    if (bit === undefined)
      notImported(word, `"${one.slice(1)}" is not a state; states: ${Object.keys(STATES).join(", ")}`);
    mask |= bit;
    if (one.startsWith("+")) value |= bit;
  }
  return { value: BigInt(value), mask: BigInt(mask) };
}
