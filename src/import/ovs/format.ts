/** Flows of Open vSwitch, as formats. */
import type { Format } from "../format.js";
import { ACTION_ELEMENTS } from "./actions.js";
import { KEY_ELEMENTS } from "./dpctl.js";
import { DP_ACTION_ELEMENTS } from "./dpctlActions.js";
import { FIELD_ELEMENTS } from "./fields.js";
import { OvsImport } from "./source.js";

const COMMANDS = {
  "ovs-ofctl add-flow, lines of add-flows files, lines of dump-flows": { becomes: "rules" },
  "ovs-ofctl add-group, lines of add-groups files, lines of dump-groups": {
    becomes: "used by the flows that name them",
  },
  "ovs-ofctl del-flows, del-groups of a bridge": { becomes: "what stands before it is left out" },
  "ovs-ofctl show, ovs-vsctl add-port, set interface": { becomes: "names, numbers, types and options of ports" },
  "ovs-ofctl add-tlv-map": { becomes: "the Geneve options that `tun_metadata0` and on are" },
  "ovs-ofctl add-meter, lines of dump-meters": { becomes: "ASO meters, used by the flows that name them" },
  "ovs-appctl tnl/neigh/set": { becomes: "MAC addresses of the headers that tunnel ports add" },
  "ovs-ofctl mod-flows, del-flows with a match": {
    refused: "they change flows that are there already",
  },
  "flows of a second bridge": { refused: "a scenario has the flows of one bridge" },
} as const;

export const OVS: Format = {
  title: "OpenFlow flows of Open vSwitch",
  recognizes: (text) => RECOGNIZED.test(text.slice(0, LOOKED_AT)),
  importer: (draft, findings) => new OvsImport(draft, findings),
  elements: { "Lines and commands": COMMANDS, "Match fields": FIELD_ELEMENTS, Actions: ACTION_ELEMENTS },
};

export const OVS_DPCTL: Format = {
  title: "datapath flows of Open vSwitch",
  recognizes: (text) => /(?:recirc_id|in_port)\([^\n]*actions:/.test(text.slice(0, LOOKED_AT)),
  importer: (draft, findings) => new OvsImport(draft, findings),
  elements: { Keys: KEY_ELEMENTS, Actions: DP_ACTION_ELEMENTS },
};

const RECOGNIZED =
  /\bovs-ofctl\b|\b(?:NXST|OFPST)_(?:FLOW|GROUP)|\bcookie=0x|(?:^|[\s"',])(?:table|priority|in_port|dl_\w+|nw_\w+|tp_\w+|eth_\w+|ip|arp|tcp|udp|icmp)\b[^\n]*\bactions?=/;
/** Characters of a text that are looked at. */
const LOOKED_AT = 100_000;
