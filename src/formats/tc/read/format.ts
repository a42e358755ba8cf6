/** Filters of tc, as a format. */
import type { Element, ElementGroups, Format } from "../../reading/format.js";
import { ACTIONS } from "./actions/actions.js";
import { askingTag, gotoChain } from "./asking.js";
import { STATES } from "./connection.js";
import { EXTRAS, FLAGS } from "./filter.js";
import { TcImport } from "./import.js";
import { KEYS } from "./keys.js";

const COMMANDS: Readonly<Record<string, Element>> = {
  "filter add, replace, change": { becomes: "a rule, in the table of its chain" },
  "filter del": { becomes: "the filters that it names are removed" },
  "qdisc add ... ingress, clsact": { becomes: "nothing; `ingress_block N`: devices share the filters of the block" },
  "qdisc del": { becomes: "the filters of the device are removed" },
  "chain add": { becomes: "nothing: chains are tables" },
  "ip link add ... type vxlan, geneve, gretap, and what `ip -d link` prints of a VXLAN device": {
    becomes: "a tunnel device; the port of a VXLAN device is in `device.parser.vxlanPorts`",
  },
  "NAME=value": { becomes: "a variable, for `$NAME`" },
  "what `filter show` prints, as text or JSON": { becomes: "the same as the commands that make the filters" },
  "actions add": { refused: "filters are read, with the qdisc and the chains that they are in" },
  "filters of egress, and of other qdiscs": { refused: "drivers offload filters of ingress only" },
  "u32, basic, bpf": { refused: "drivers offload flower and matchall" },
};

const elementsOf = (table: Readonly<Record<string, { readonly element: Element }>>): Record<string, Element> => {
  return Object.fromEntries(Object.entries(table).map(([name, { element }]) => [name, element]));
};

const OPTIONS: Record<string, Element> = {
  ...Object.fromEntries(Object.entries({ ...FLAGS, ...EXTRAS }).map(([name, becomes]) => [name, { becomes }])),
  hw_tc: { refused: "the eSwitch has no traffic classes" },
};

const ELEMENTS: ElementGroups = {
  Commands: COMMANDS,
  Keys: elementsOf(KEYS),
  Options: OPTIONS,
  Actions: elementsOf(ACTIONS),
};

export const TC: Format = {
  title: "tc filters (flower, matchall)",
  asking: askingTag,
  leading: gotoChain,
  portName: "dev",
  states: STATES,
  recognizes: (text) =>
    /\b(?:tc\b|TC\}?)\s+(?:-\S+\s+){0,4}(?:filter|qdisc|chain)\b|(?:\bfilter|tc_filter\w{0,20})\s+add\s+(?:dev|block)\b|"kind"\s*:\s*"(?:flower|matchall)"|\bpref \d+ (?:flower|matchall|u32)\b|\bip\s+link\s+add\s.{0,100}\stype\s+(?:vxlan|geneve)\s/.test(
      text,
    ),
  importer: (draft, findings, { kernel }) => new TcImport(draft, findings, kernel),
  elements: ELEMENTS,
};
