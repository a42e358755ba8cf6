/** Programmable samples in device bytes (docs/parsing.md, "Programmable samples"), and where they lie in a key. */
import { GROUP_SIZE, MISC4, MISC4_SAMPLE_ID, MISC4_SAMPLE_SIZE, SAMPLE_COUNT } from "../../abi/key.js";
import { refuse, type ErrnoName } from "../../errors.js";
import { readDword } from "./fieldParts.js";

/**
 * The samples that a matcher's device bytes mask, by place: the sample id of each place, -1 for a
 * place without a mask. In device bytes each place holds a value and the id of its sample. In a
 * key, sample n lies at place n and there are no ids.
 */
export type SamplePlaces = readonly number[];

const MISC4_END = MISC4 + GROUP_SIZE;

/**
 * Reads the places of a mask and moves its samples to their places in a key. Null where it masks
 * none.
 */
export function takeSampleMask(mask: Uint8Array, badId: ErrnoName = "EINVAL"): SamplePlaces | null {
  const group = mask.slice(MISC4, MISC4_END);
  if (group.every((bits) => bits === 0)) return null;
  const words = new DataView(group.buffer);
  const places: number[] = [];
  for (let place = 0; place < SAMPLE_COUNT; place++) {
    const at = place * MISC4_SAMPLE_SIZE;
    const id = words.getUint32(at + MISC4_SAMPLE_ID);
    const masked = words.getUint32(at) !== 0;
    const path = `mask.misc4.prog_sample_field_id_${place}`;
    if (masked && id >= SAMPLE_COUNT) {
      refuse({ code: badId, reason: "out_of_range", path, value: id, hint: "the id itself, 0 to 7" });
    }
    if (masked && places.includes(id)) {
      const hint = "another place has the same id";
      refuse({ code: "EINVAL", reason: "contradiction", path, value: id, hint });
    }
    places.push(masked ? id : -1);
  }
  moveSamples(mask, group, places);
  return places;
}

/**
 * Moves the samples of a value to their places in a key. @throws EINVAL a bit outside the masked
 * places
 */
export function takeSampleValue(value: Uint8Array, places: SamplePlaces | null): void {
  if (places === null) return;
  const group = value.slice(MISC4, MISC4_END);
  const words = new DataView(group.buffer);
  for (const [place, masked] of places.entries()) {
    const at = place * MISC4_SAMPLE_SIZE;
    const id = words.getUint32(at + MISC4_SAMPLE_ID);
    const idMask = masked < 0 ? 0 : masked;
    const bare = masked < 0 && words.getUint32(at) !== 0;
    if ((id & ~idMask) === 0 && !bare) continue;
    refuse({
      code: "EINVAL",
      reason: "value_outside_mask",
      path: `value.misc4.prog_sample_field_${bare ? "value" : "id"}_${place}`,
      value: bare ? words.getUint32(at) : id,
      hint: "fill only the fields that the matcher masks",
      cite: "mlx5dv_dr: Matcher",
    });
  }
  moveSamples(value, group, places);
}

function moveSamples(key: Uint8Array, group: Uint8Array, places: SamplePlaces): void {
  key.fill(0, MISC4, MISC4_END);
  for (const [place, id] of places.entries()) {
    if (id < 0) continue;
    const at = place * MISC4_SAMPLE_SIZE;
    key.set(group.subarray(at, at + MISC4_SAMPLE_ID), MISC4 + id * MISC4_SAMPLE_SIZE);
  }
}

/** Converts a key to device bytes: writes the ids of the samples that `mask` covers. */
export function writeSampleIds(mask: Uint8Array, ...keys: Uint8Array[]): void {
  for (let id = 0; id < SAMPLE_COUNT; id++) {
    const at = MISC4 + id * MISC4_SAMPLE_SIZE;
    if (readDword(mask, at) === 0) continue;
    for (const key of keys) key[at + 2 * MISC4_SAMPLE_ID - 1] = id;
  }
}
