/**
 * Changes of the document that panes make. Each gives edits for `editRules` and keeps the rest of the
 * text as it is; null where the document has no place for the change.
 *
 *     const edits = applyRepair(rules.peek(), repair, selectedFrame.peek());
 *     if (edits !== null) editRules(edits);
 */
import type { Edit } from "jsonc-parser";
import type { Repair } from "flowsteer/explain";
import type { Scenario, ScenarioFrame, ScenarioRule } from "flowsteer/scenario";
import { documentOf, editsBetween, withItem, without, withValue } from "../text/json.js";
import { nodeAt } from "../text/places.js";
import { frameWithBytes } from "./repair/frame.js";
import { withRuleChange } from "./repair/rule.js";

export type { Edit };

/**
 * Makes the change that a repair says: of the rule, flow, entry or host rule that it names, of the device and maybe of a
 * rule, or of a frame of the document, which gets the bytes of the repair as `hex` and keeps its name, time and port.
 * @param frame the number of the frame, from 1; null for a frame that is not in the document (of a
 * capture): its repair is no edit, `addFrame(text, { hex: repair.frame })` adds it as another frame
 */
export function applyRepair(text: string, repair: Repair, frame: number | null): Edit[] | null {
  const { of, rule, fields } = repair;
  if (of === "frame") {
    if (repair.frame === null || frame === null) return null;
    return changed(text, frameWithBytes(text, frame - 1, repair.frame));
  }
  if (of === "rule") return rule === null ? null : changed(text, withRuleChange(text, rule, fields));
  const ofDevice = ({ field }: Repair["fields"][number]): boolean => field.startsWith("device.");
  const after = withKeys(text, fields.filter(ofDevice));
  const others = fields.filter((one) => !ofDevice(one));
  return changed(text, rule === null ? after : withRuleChange(after, rule, others));
}

/** The text with values at paths of keys, such as `device.parser.vxlanPorts`; each is JSON. */
function withKeys(text: string, fields: Repair["fields"]): string {
  return fields.reduce((before, { field, after }) => {
    const keys = field.split(".");
    let value: unknown = JSON.parse(after ?? "null");
    while (keys.length > 1 && nodeAt(before, keys.slice(0, -1).join(".")) === null) {
      value = { [keys.pop() as string]: value };
    }
    return withValue(before, keys.slice(0, -1).join("."), keys.at(-1) as string, value);
  }, text);
}

/** Adds a rule after the last one. */
export function addRule(text: string, rule: ScenarioRule): Edit[] | null {
  return addTo(text, "rules", rule);
}

/** Adds a frame after the last one: its bytes as `hex` or `headers`, and if you like its name, port and time. */
export function addFrame(text: string, frame: ScenarioFrame): Edit[] | null {
  return addTo(text, "frames", frame);
}

/** Replaces a frame of the document, by its number from 1, with all that it says. */
export function replaceFrame(text: string, number: number, frame: ScenarioFrame): Edit[] | null {
  return setValue(text, `frames[${number - 1}]`, frame);
}

/** Takes away what is at a path: `frames[3]`, `rules[0].match.outer.ipv4_dst`. */
export function remove(text: string, path: string): Edit[] | null {
  return changed(text, without(text, path));
}

/** Replaces the value at a path. */
export function setValue(text: string, path: string, value: unknown): Edit[] | null {
  return changed(text, withValue(text, path, null, value));
}

/** Adds an object to a section, which is made where there is none; a document without text becomes one. */
export function addTo(text: string, section: keyof Scenario, value: unknown): Edit[] | null {
  const document = documentOf(text);
  if (typeof document !== "object" || document === null || Array.isArray(document)) return null;
  if (!Object.hasOwn(document, section)) return changed(text, withValue(text, "", section, [value]));
  return changed(text, withItem(text, section, value));
}

function changed(before: string, after: string | null): Edit[] | null {
  return after === null || after === before ? null : editsBetween(before, after);
}
