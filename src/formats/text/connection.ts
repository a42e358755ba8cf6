/** The state and the zone of connections, which importers keep in one register: the zone in its upper half. */

/** Flags of `ct_state` by their names. */
export type StateFlags = Readonly<Record<string, number>>;

export const ALL_ESTABLISHED = "all frames are taken as part of established connections, in their original direction";

/** The bit that the zone begins at. */
export const ZONE_AT = 16;
const STATE = (1n << BigInt(ZONE_AT)) - 1n;

/** What a rule expects of a connection, and what a frame has, as `ct_state` and `ct_zone` are written. */
export interface ConnectionDifference {
  readonly name: "ct_state" | "ct_zone";
  readonly wanted: string;
  readonly found: string;
  /** Why a frame has that; null where the text says it. */
  readonly note: string | null;
}

/** The first part of the register that differs; undefined where none does. */
export function connectionDifference(
  flags: StateFlags,
  wanted: { readonly value: bigint; readonly mask: bigint },
  found: bigint,
): ConnectionDifference | undefined {
  const differs = (wanted.value ^ found) & wanted.mask;
  if (differs === 0n) return undefined;
  if ((differs & STATE) !== 0n) {
    const expected = stateWords(flags, wanted.value, wanted.mask);
    const state = stateWords(flags, found, found) || "-trk";
    return { name: "ct_state", wanted: expected, found: state, note: state.includes("+est") ? ALL_ESTABLISHED : null };
  }
  const zone = (value: bigint): string => String(value >> BigInt(ZONE_AT));
  return { name: "ct_zone", wanted: zone(wanted.value & wanted.mask), found: zone(found), note: null };
}

/** What a register has of a connection, under a mask: "+trk+est", "+trk+new, ct_zone 5". */
export function connectionWords(flags: StateFlags, value: bigint, mask: bigint = value): string {
  const state = stateWords(flags, value, mask) || "-trk";
  const zone = (value & mask) >> BigInt(ZONE_AT);
  return zone === 0n ? state : `${state}, ct_zone ${zone}`;
}

/** "+trk-new": the flags under a mask, `trk` first. */
function stateWords(flags: StateFlags, value: bigint, mask: bigint): string {
  return Object.entries(flags)
    .sort(([a], [b]) => Number(b === "trk") - Number(a === "trk"))
    .filter(([, bit]) => (mask & BigInt(bit)) !== 0n)
    .map(([name, bit]) => `${(value & BigInt(bit)) === 0n ? "-" : "+"}${name}`)
    .join("");
}
