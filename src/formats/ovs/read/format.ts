/** Flows of Open vSwitch, as formats. */
import { STATES } from "./connection.js";
import type { Format } from "../../reading/format.js";
import { inOrder } from "../../text/inOrder.js";
import { ACTION_ELEMENTS } from "./actions.js";
import { KEY_ELEMENTS } from "./datapath/keys.js";
import { DP_ACTION_ELEMENTS } from "./datapath/actions.js";
import { FIELD_ELEMENTS } from "../fields.js";
import { OvsImport } from "./source.js";

const COMMANDS = {
  "ovs-ofctl add-flow, lines of add-flows files, lines of dump-flows": { becomes: "rules" },
  "ovs-ofctl add-group, lines of add-groups files, lines of dump-groups": {
    becomes: "used by the flows that name them",
  },
  "ovs-ofctl del-flows, del-groups of a bridge": { becomes: "everything before it is left out" },
  "ovs-ofctl show, ovs-vsctl add-port, set interface, what ovs-vsctl show prints": {
    becomes: "names, numbers, types, options and bridges of ports",
  },
  "ovs-vsctl del-br, del-port": { becomes: "everything before it is left out" },
  "ovs-ofctl add-tlv-map": { becomes: "the Geneve options that `tun_metadata0` and on are" },
  "ovs-ofctl add-meter, lines of dump-meters": { becomes: "ASO meters, used by the flows that name them" },
  "ovs-appctl tnl/neigh/set": { becomes: "MAC addresses of the headers that tunnel ports add" },
  "ovs-ofctl mod-flows, del-flows with a match": {
    becomes: "flows before it get other actions, or are left out",
  },
  "ovs-appctl dpctl/add-flow, ovs-dpctl add-flow": { becomes: "rules, as lines of dpctl/dump-flows" },
  "flows of several bridges": { becomes: "tables of their own; the port that a frame comes by says which" },
  "ports of type patch": {
    becomes: "a copy of the frame reaches the other bridge; refused if its peer or the peer's flows are missing",
  },
} as const;

export const OVS: Format = {
  title: "OpenFlow flows of Open vSwitch",
  portName: "in_port",
  states: STATES,
  recognizes: (text) => {
    const start = text.slice(0, LOOKED_AT);
    return RECOGNIZED.test(start) || start.split("\n").some((line) => inOrder(line, KEY, /\bactions?=/));
  },
  leading: (text) => {
    const [, table] = /\btable\s*=\s*(\w+)/.exec(text) ?? [];
    return table === undefined || table === "0" ? null : `table=0,priority=0,actions=resubmit(,${table})`;
  },
  importer: (draft, findings) => new OvsImport(draft, findings),
  elements: { "Lines and commands": COMMANDS, "Match fields": FIELD_ELEMENTS, Actions: ACTION_ELEMENTS },
};

export const OVS_DPCTL: Format = {
  title: "datapath flows of Open vSwitch",
  portName: "in_port",
  recognizes: (text) => {
    const start = text.slice(0, LOOKED_AT);
    return ADD_FLOW.test(start) || start.split("\n").some((line) => inOrder(line, DATAPATH_KEY, /actions:/));
  },
  importer: (draft, findings) => new OvsImport(draft, findings),
  elements: { Keys: KEY_ELEMENTS, Actions: DP_ACTION_ELEMENTS },
};

const RECOGNIZED =
  /\bovs-(?:of|vs)ctl\b|^[ \t]*Bridge \S+[ \t\r]*\n(?:.*\n){0,8}?[ \t]*Port \S|\b(?:NXST|OFPST)_(?:FLOW|GROUP)|\bcookie=0x/m;
const ADD_FLOW = /\bovs-appctl\s+dpctl\/add-flow\s|\bovs-dpctl\s+add-flow\s/;
const DATAPATH_KEY = /(?:recirc_id|in_port)\(/;
/** What a flow has before its actions. */
const KEY = /(?:^|[\s"',])(?:table|priority|in_port|dl_\w+|nw_\w+|tp_\w+|eth_\w+|ip|arp|tcp|udp|icmp)\b/;
/** Characters of a text that are looked at. */
const LOOKED_AT = 100_000;
