/** The open dialog of sharing, if one is. */
import type { JSX } from "preact";
import { shareView } from "./views.js";

export function ShareView(): JSX.Element | null {
  const Open = shareView.value;
  return Open === null ? null : <Open onClose={() => (shareView.value = null)} />;
}
