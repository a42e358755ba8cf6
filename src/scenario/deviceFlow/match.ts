/** Matches and masks of a document in device bytes. */
import { DEVICE_KEY_SIZE, GROUP_SIZE } from "../../abi/key.js";
import { refuse } from "../../errors.js";
import { matchParameters, type DeviceMatch } from "../../mlx5dv/dr/params.js";
import { maskOf } from "../../model/match/match.js";
import { writeSampleIds } from "../../model/match/samples.js";
import { at, type PlaceOf } from "../place.js";

type Fields = Readonly<Record<string, string | number>>;

/** @throws EINVAL, EOPNOTSUPP refused by `matchParameters`, at `path` */
export function deviceMatch(path: string, match: Fields): DeviceMatch {
  const place: PlaceOf = (inner) => (inner === "fields" ? "" : `.${inner.replace(/^fields\./, "")}`);
  return at(path, () => matchParameters(match, { root: true }), place);
}

export interface MaskBytes {
  readonly criteria: number;
  readonly bytes: Uint8Array;
}

/** The mask of all entries of a group. */
export function deviceMask(path: string, fields: Fields): MaskBytes {
  const outside = Object.keys(fields).find((name) => name.startsWith("ext."));
  if (outside !== undefined) {
    const hint = "the device format has no place for it";
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: `${path}.${outside}`, hint });
  }
  const bytes = maskOf(path, fields).slice(0, DEVICE_KEY_SIZE);
  writeSampleIds(bytes, bytes);
  const groups = Array.from({ length: DEVICE_KEY_SIZE / GROUP_SIZE }, (_, n) =>
    bytes.subarray(n * GROUP_SIZE, (n + 1) * GROUP_SIZE).some((byte) => byte !== 0) ? 1 << n : 0,
  );
  return { criteria: groups.reduce((all, bit) => all | bit, 0), bytes };
}

/** A match must have exactly the fields of its mask. */
export function checkFits(path: string, match: DeviceMatch, mask: MaskBytes): void {
  const asked = match.mask.match_buf;
  const differs = asked.findIndex((bits, byte) => bits !== mask.bytes[byte]);
  if (differs < 0) return;
  const missing = (mask.bytes[differs] ?? 0) & ~(asked[differs] ?? 0);
  const reason = missing !== 0 ? "field_left_out" : "value_outside_mask";
  const hint = "the entry asks for exactly the bits that its group masks";
  refuse({ code: "EINVAL", reason, path, hint });
}
