/** testpmd commands (rte_flow), as a format. */
import type { Format } from "../../reading/format.js";
import { ACTION_ELEMENTS } from "./actions/actions.js";
import { COMMAND_ELEMENTS } from "./commands.js";
import { FlowImport } from "./flowImport.js";
import { asking, leading } from "./pattern/asking.js";
import { ITEM_ELEMENTS, ITEMS } from "../fields/items.js";

/** Commands that no other format has. */
const OWN =
  /\bflow\s+(?:create|validate|queue|pattern_template|actions_template|template_table|indirect_action)\s+\d|\bset\s+(?:raw_encap|raw_decap|sample_actions|vxlan(?:-with-vlan|-tos-ttl)?|nvgre(?:-with-vlan)?)\s+(?:\d|eth\b|ip-version)|\badd\s+port\s+meter\s/;

/** Characters of a text that are looked at. */
const RECOGNIZED = 100_000;

export const TESTPMD: Format = {
  title: "testpmd commands (rte_flow)",
  recognizes: (text) => OWN.test(text.slice(0, RECOGNIZED)),
  importer: (draft, findings, { pmd }) => new FlowImport(draft, findings, pmd),
  elements: { Commands: COMMAND_ELEMENTS, Items: ITEM_ELEMENTS, Actions: ACTION_ELEMENTS },
  asking,
  leading,
  fields: Object.fromEntries(Object.entries(ITEMS).map(([item, { fields }]) => [item, Object.keys(fields)])),
};
