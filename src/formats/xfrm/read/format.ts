/** States and policies of `ip xfrm`, as a format. */
import type { Format } from "../../reading/format.js";
import { COMMANDS, POLICY_WORDS, STATE_WORDS } from "./elements.js";
import { XfrmImport } from "./import.js";

const COMMAND = /\bip\s+(?:-\S{1,20}\s+(?:(?!x)\S{1,60}\s+)?){0,4}x(?:f|fr|frm)?\s+(?:s|p|state|policy)(?:\s|$)/m;
const LISTED =
  /^[^\w\n]{0,80}src [\da-f.:/]+ dst [\da-f.:/]+[^\n]{0,200}\n[^\w\n]{0,80}(?:proto (?:esp|ah|comp) |dir (?:in|out|fwd) |socket (?:in|out) )/m;

export const XFRM: Format = {
  title: "states and policies of ip xfrm (IPsec)",
  recognizes: (text) => COMMAND.test(text) || LISTED.test(text),
  importer: (draft, findings) => new XfrmImport(draft, findings),
  elements: { Commands: COMMANDS, "Words of states": STATE_WORDS, "Words of policies": POLICY_WORDS },
};
