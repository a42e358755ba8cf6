/** Settings of actions that tests make under a profile. */
import type { ActionSetting } from "../../../src/model/action/modifyHeader.js";
import { profileNamed } from "../../../src/model/profile/profiles.js";

/** The setting of a domain under a profile, with what is refused of actions for its root or for its other tables. */
export function settingUnder(
  profile: string,
  domainType: ActionSetting["domainType"],
  rootLevel = false,
): ActionSetting {
  const { root, other } = profileNamed(profile).rules;
  return { domainType, rootLevel, refuses: (rootLevel ? root : other).headers };
}
