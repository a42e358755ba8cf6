/** Rules of ethtool (ntuple filters), as a format. */
import type { Element, ElementGroups, Format } from "../../reading/format.js";
import { inOrder } from "../../text/inOrder.js";
import { FLOW_TYPES, RULE_FIELDS } from "../fields.js";
import { EthtoolImport } from "./import.js";

const COMMANDS: Readonly<Record<string, Element>> = {
  "-N, -U DEV flow-type ...": {
    becomes: "a host rule of ethtool; a rule of nic_rx on devices with contexts or several queues",
  },
  "-N, -U DEV delete N": { becomes: "the rule at this location is removed" },
  "-N DEV rx-flow-hash ...": { becomes: "nothing: contexts hash addresses, and ports of TCP and UDP" },
  "-X DEV context new, N ...": { becomes: "an RQT: equal, weight, start, hkey, xfrm" },
  "-X DEV ...": { becomes: "the queues of frames that no rule takes" },
  "-L DEV combined N": { becomes: "the number of queues: frames that no rule takes are spread over them" },
  "-n, -u DEV": { becomes: "the device of the listing that follows" },
  "Filter: N ...": { becomes: "as -N: the text of `ethtool -n`" },
};
const ACTIONS: Readonly<Record<string, Element>> = {
  "action N, queue N": { becomes: "queue N of the host" },
  "action -1": { becomes: "drop" },
  "context N": { becomes: "a TIR over the queues of the context" },
  loc: { becomes: "the priority without a driver; left out, drivers choose: from the last place down" },
  "action -2": { refused: "the device does not wake the host" },
  vf: { refused: "a rule of the host delivers to queues of the host, not to those of a VF" },
};

const ELEMENTS: ElementGroups = {
  Commands: COMMANDS,
  "Flow types": Object.fromEntries(Object.entries(FLOW_TYPES).map(([name, { title }]) => [name, { becomes: title }])),
  Fields: Object.fromEntries(Object.entries(RULE_FIELDS).map(([name, { element }]) => [name, element])),
  Actions: ACTIONS,
};

const COMMAND = /\bethtool\s+(?:[-\u2010-\u2015](?:N|U|X|n|u)|--config-n\w+|--show-n\w+)\s/;
/** The first two lines of a rule in a listing, which may be quoted. */
const FILTER = /^[^\w\n]{0,80}Filter:\s*\d/m;
const RULE_TYPE = /^[^\w\n]{0,80}(?:Rule|Flow) Type:/m;

export const ETHTOOL: Format = {
  title: "rules of ethtool (ntuple filters)",
  hasWildcardMasks: true,
  recognizes: (text) => COMMAND.test(text) || inOrder(text, FILTER, RULE_TYPE),
  importer: (draft, findings, { kernel }) => new EthtoolImport(draft, findings, kernel),
  elements: ELEMENTS,
};
