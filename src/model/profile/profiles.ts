/** The profiles of this release, by name. */
import { refuse } from "../../errors.js";
import { CONNECTX } from "./connectx.js";
import { MANUAL } from "./manual.js";
import { PROFILE_NAMES, type Profile } from "./profile.js";

export const PROFILES: readonly Profile[] = [MANUAL, ...CONNECTX];

export function profileNamed(name: string): Profile {
  const profile = PROFILES.find((one) => one.name === name);
  if (profile !== undefined) return profile;
  return refuse({
    code: "EINVAL",
    call: "createDevice",
    reason: "unsupported",
    path: "profile",
    value: name,
    hint: `profiles of this release: ${PROFILE_NAMES.join(", ")}`,
  });
}
