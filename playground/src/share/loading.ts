/** Loads what few visits need. */
import { notify } from "../state/notices.js";
import type { Shared } from "../state/link.js";

/** The shared link of a fragment; null without one, or after saying what is wrong with it. */
export async function readLink(fragment: string): Promise<Shared | null> {
  if (!fragment.startsWith("#share=")) return null;
  const { decodeLink } = await import("../state/link.js");
  try {
    return await decodeLink(fragment);
  } catch (error) {
    notify({ id: "link", text: error instanceof Error ? error.message : String(error) });
    return null;
  }
}
