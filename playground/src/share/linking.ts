/** The link of what the page shows. */
import { openFile } from "../state/capture.js";
import { rules, rulesName, source } from "../state/document.js";
import { CAPTURE_LIMIT, encodeLink, LINK_LIMIT, RULES_LIMIT } from "../state/link.js";
import { filter, selectedField, selectedFrame, selectedPath, selectedStep } from "../state/selection.js";

export interface Link {
  /** Null where the rules are too long for a link. */
  readonly url: string | null;
  /** The capture that goes along, or the one that is left out. */
  readonly capture: NamedSize | null;
  readonly left: NamedSize | null;
}

interface NamedSize {
  readonly name: string;
  readonly size: number;
}

export async function linkOfTheMoment(): Promise<Link> {
  const open = openFile.peek();
  const named = open === null ? null : { name: open.name, size: open.file.size };
  const fits = open !== null && open.file.size <= CAPTURE_LIMIT;
  const bytes = fits ? new Uint8Array(await open.file.arrayBuffer()) : null;
  const left = fits ? null : named;
  const fragment = await encodeLink({
    rules: rules.peek(),
    source: source.peek(),
    name: rulesName.peek(),
    // The frames of a capture that is left out are not there.
    frame: left === null ? selectedFrame.peek() : null,
    step: selectedStep.peek(),
    path: selectedPath.peek(),
    field: selectedField.peek(),
    filter: filter.peek(),
    capture: open === null || bytes === null ? null : { name: open.name, bytes },
    left,
  });
  const { origin, pathname } = location;
  const longest = Math.max(rules.peek().length, source.peek()?.text.length ?? 0);
  const tooLong = longest > RULES_LIMIT || fragment.length > LINK_LIMIT;
  return { url: tooLong ? null : origin + pathname + fragment, capture: fits ? named : null, left };
}
