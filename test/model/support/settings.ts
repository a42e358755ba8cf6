/** Action settings that tests create under a profile. */
import type { ActionSetting } from "../../../src/model/action/modifyHeader.js";
import { profileNamed } from "../../../src/model/profile/profiles.js";

/**
 * The setting of a domain under a profile, with the action refusals of its root or of its other
 * tables.
 */
export function settingUnder(
  profile: string,
  domainType: ActionSetting["domainType"],
  rootLevel = false,
): ActionSetting {
  const { root, other } = profileNamed(profile).rules;
  return { domainType, rootLevel, refuses: (rootLevel ? root : other).headers };
}
