/** Device profiles: what is refused beyond what a manual page refuses, as declared data. */
import { refuse } from "../errors.js";

export interface Profile {
  readonly name: string;
}

/** `manual` refuses only what a page refuses or what has no meaning. */
const PROFILES: Readonly<Record<string, Profile>> = { manual: { name: "manual" } };

export function profileNamed(name: string): Profile {
  const profile = Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
  if (profile !== undefined) return profile;
  return refuse({
    code: "EINVAL",
    call: "createDevice",
    reason: "unsupported",
    path: "profile",
    value: name,
    hint: `profiles of this release: ${Object.keys(PROFILES).join(", ")}`,
  });
}
