/** Names of numbers, as the library prints them: ibv_wc_status_str(3), ibv_event_type_str(3), ibv_node_type_str(3). */
import { inCall } from "../errors.js";
import { checkNumber } from "../base/checks.js";
import { IBV_NODE_CA } from "../abi/verbsConstants.js";

const UNKNOWN = "unknown";

/** Texts by number, from 0. */
const NODE_TYPES = [
  "InfiniBand channel adapter",
  "InfiniBand switch",
  "InfiniBand router",
  "iWARP NIC",
  "usNIC",
  "usNIC UDP",
  "unspecified",
];
const PORT_STATES = ["no state change (NOP)", "down", "init", "armed", "active", "active defer"];
const EVENT_TYPES = [
  "CQ error",
  "local work queue catastrophic error",
  "invalid request local work queue error",
  "local access violation work queue error",
  "communication established",
  "send queue drained",
  "path migrated",
  "path migration request error",
  "local catastrophic error",
  "port active",
  "port error",
  "LID change",
  "P_Key change",
  "SM change",
  "SRQ catastrophic error",
  "SRQ limit reached",
  "last WQE reached",
  "client reregistration",
  "GID table change",
  "WQ fatal",
  "Device link speed change",
];
const STATUSES = [
  "success",
  "local length error",
  "local QP operation error",
  "local EE context operation error",
  "local protection error",
  "Work Request Flushed Error",
  "memory management operation error",
  "bad response error",
  "local access error",
  "remote invalid request error",
  "remote access error",
  "remote operation error",
  "transport retry counter exceeded",
  "RNR retry counter exceeded",
  "local RDD violation error",
  "remote invalid RD request",
  "aborted error",
  "invalid EE context number",
  "invalid EE context state",
  "fatal error",
  "response timeout error",
  "general error",
  "TM error",
  "TM software rendezvous",
];
const OPCODES = Object.assign(
  [
    "rdma-write",
    "rdma-write-with-imm",
    "send",
    "send-with-imm",
    "rdma-read",
    "atomic-cmp-and-swp",
    "atomic-fetch-and-add",
    "local-inv",
    "bind-mw",
    "send-with-inv",
    "tso",
    "driver1",
  ],
  { 14: "flush", 15: "atomic-write" },
);

/** The name of a completion status (IBV_WC_SUCCESS and so on). */
export function ibv_wc_status_str(status: number): string {
  return inCall("ibv_wc_status_str", () => {
    checkNumber("status", status);
    return STATUSES[status] ?? UNKNOWN;
  });
}

/** The name of an asynchronous event (IBV_EVENT_*). */
export function ibv_event_type_str(event: number): string {
  return inCall("ibv_event_type_str", () => {
    checkNumber("event", event);
    return EVENT_TYPES[event] ?? UNKNOWN;
  });
}

/** The name of a type of node (IBV_NODE_*). */
export function ibv_node_type_str(node_type: number): string {
  return inCall("ibv_node_type_str", () => {
    checkNumber("node_type", node_type);
    return NODE_TYPES[node_type - IBV_NODE_CA] ?? UNKNOWN;
  });
}

/** The name of a port state (IBV_PORT_ACTIVE and so on). */
export function ibv_port_state_str(port_state: number): string {
  return inCall("ibv_port_state_str", () => {
    checkNumber("port_state", port_state);
    return PORT_STATES[port_state] ?? UNKNOWN;
  });
}

/** The name of an operation of a send request (IBV_WR_*). */
export function ibv_wr_opcode_str(opcode: number): string {
  return inCall("ibv_wr_opcode_str", () => {
    checkNumber("opcode", opcode);
    return OPCODES[opcode] ?? UNKNOWN;
  });
}
