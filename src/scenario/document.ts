/** What a scenario document holds, as types. `scenario/schema/scenario.ts` describes each key; the compiler holds the two equal. */
import type { DomainType } from "../model/table/domain.js";
import type { HostAction, HostApplication } from "../model/flow/hostRules.js";
import type { CacheOptions } from "../model/traffic/flowCache.js";
import type { ParserOptions } from "../model/match/parser.js";
import type { ReasonName, VerdictName } from "../model/traffic/outcome.js";
import type { REGISTER_NAMES } from "../model/traffic/outcomeReader.js";
import type {
  ScenarioDeviceFlow,
  ScenarioFlowEntry,
  ScenarioFlowTable,
  ScenarioSteeringAnchor,
} from "./deviceFlow/types.js";
import type { ScenarioHash, ScenarioIndirectionTable, ScenarioRqt, ScenarioTir } from "./rss/types.js";
import type { ExpectedMessage, ScenarioMessage } from "./message/types.js";
import type { ExpectedAso, ScenarioAsoObject, ScenarioStep } from "./state/types.js";
import type { InlineAction, ScenarioAction, ScenarioFlowAction, ScenarioHeader } from "./action/types.js";

/** A scenario, version 1. */
export interface Scenario {
  $schema?: string;
  flowsteer: 1;
  title?: string;
  description?: string;
  device?: ScenarioDevice;
  connect?: ScenarioCable[];
  queues?: ScenarioQueue[];
  indirectionTables?: ScenarioIndirectionTable[];
  rqts?: ScenarioRqt[];
  tirs?: ScenarioTir[];
  asoObjects?: ScenarioAsoObject[];
  counters?: ScenarioCounter[];
  flowCounters?: ScenarioFlowCounter[];
  flowActions?: ScenarioFlowAction[];
  domains?: ScenarioDomain[];
  tables?: ScenarioTable[];
  matchers?: ScenarioMatcher[];
  actions?: ScenarioAction[];
  rules?: ScenarioRule[];
  flows?: ScenarioFlow[];
  flowTables?: ScenarioFlowTable[];
  steeringAnchors?: ScenarioSteeringAnchor[];
  flowEntries?: ScenarioFlowEntry[];
  deviceFlows?: ScenarioDeviceFlow[];
  hostRules?: ScenarioHostRule[];
  messages?: ScenarioMessage[];
  frames?: ScenarioFrame[];
  expect?: ScenarioExpectations;
}

export interface ScenarioDevice {
  name?: string;
  /** Physical ports. */
  ports?: number;
  /** Functions besides the PF. */
  vports?: number;
  profile?: string;
  seed?: number;
  limits?: ScenarioLimits;
  managedFlowSteering?: boolean;
  /** Changes of rules in tables that are not root wait for a sync. */
  asyncRules?: boolean;
  /** The cache of decisions. */
  cache?: CacheOptions;
  parser?: ParserOptions;
}

export interface ScenarioLimits {
  /** Bytes. */
  memory?: number;
  /** Flows alive. */
  flows?: number;
}

/** A port and where it leads: another port of the device, or the port itself. */
export interface ScenarioCable {
  port: number;
  to: number;
}

export type QueueType = "raw_packet" | "ud" | "wq" | "rc" | "uc";
export type QueueState = "reset" | "init" | "rtr" | "rts" | "rdy" | "err";

export interface ScenarioQueue {
  name: string;
  description?: string;
  /** The function that it belongs to: 0 is the PF. */
  function?: number;
  /** The port that it sends from. */
  port?: number;
  type?: QueueType;
  state?: QueueState;
  /** Name of the queue that it is connected to. */
  peer?: string;
  /** Bytes of a message in a packet. */
  path_mtu?: number;
  /** Receive buffers posted; left out, the queue takes everything. */
  buffers?: number;
  /** Bytes of each. */
  bufferSize?: number;
  /** Name of an indirection table, over which it spreads what it gets. */
  rwq_ind_tbl?: string;
  rx_hash_conf?: ScenarioHash;
}

/** One counter, or a bulk of them. */
export interface ScenarioCounter {
  name: string;
  description?: string;
  function?: number;
  flow_counter_bulk_log_size?: number;
}

/** Settings of a domain. Tables make the domains that they are in, whether they are listed here or not. */
export interface ScenarioDomain {
  domain: DomainType;
  function?: number;
  description?: string;
  reclaim?: boolean;
  duplicates?: boolean;
  sync?: boolean;
}

export interface ScenarioTable {
  name: string;
  description?: string;
  domain?: DomainType;
  function?: number;
  level: number;
}

export interface ScenarioMatcher {
  name: string;
  description?: string;
  table: string;
  priority?: number;
  /** Field name to "full", "/24" or mask text; left out, every rule brings its own masks. */
  mask?: Record<string, string | number>;
  layout?: ScenarioLayout;
}

/** Room for the rules of a matcher. */
export interface ScenarioLayout {
  rulesLog2?: number;
  resizable?: boolean;
}

export interface ScenarioRule {
  name: string;
  description?: string;
  matcher?: string;
  table?: string;
  priority?: number;
  match?: Record<string, string | number>;
  actions?: InlineAction[];
}

/** An object of ibv_create_counters, with the points that are attached before flows use it. */
export interface ScenarioFlowCounter {
  name: string;
  description?: string;
  points?: ScenarioCounterPoint[];
}

export interface ScenarioCounterPoint {
  index: number;
  counts: "packets" | "bytes";
}

export type FlowType = "normal" | "all_default" | "mc_default" | "sniffer";
export type FlowFlag = "allow_loop_back" | "dont_trap" | "egress";

/** What ibv_create_flow makes. */
export interface ScenarioFlow {
  /** Left out, it is called "flow" and its number. */
  name?: string;
  description?: string;
  queue: string;
  type?: FlowType;
  port?: number;
  priority?: number;
  flags?: FlowFlag[];
  specs?: ScenarioFlowSpec[];
}

/** Types of specs that match: IBV_FLOW_SPEC_ is left out, and they are in lower case. */
export type FlowSpecType =
  "eth" | "ipv4" | "ipv4_ext" | "ipv6" | "esp" | "tcp" | "udp" | "vxlan_tunnel" | "gre" | "mpls";

/** Fields of a filter by their C names, each a value, a prefix, or a value and a mask. */
export type FlowFilterFields = Record<string, string | number>;

/** A spec: exactly one key besides `inner`, which names its type. */
export type FlowSpecObject = { [K in FlowSpecType]?: FlowFilterFields } & {
  inner?: boolean;
  tag?: number;
  drop?: true;
  /** Name of a flow counter. */
  count?: string;
  /** Name of a flow action. */
  action?: string;
};

export type ScenarioFlowSpec = "drop" | FlowSpecObject;

/** A rule of another application of the host. */
export interface ScenarioHostRule {
  /** Left out, it is called "host rule" and its number. */
  name?: string;
  description?: string;
  application: HostApplication;
  /** The function whose rule it is. */
  function?: number;
  /** Left out, every port. */
  port?: number;
  priority?: number;
  match?: Record<string, string | number>;
  /** Drops, or delivers to a queue of the host. */
  action: HostAction;
}

export interface ScenarioFrame {
  name?: string;
  description?: string;
  hex?: string;
  base64?: string;
  headers?: ScenarioHeader[];
  /** The queue that sends it. */
  send?: string;
  /** What metadata register A begins with, where it is sent. */
  metadata?: number;
  /** All domains are synced before it. */
  sync?: true;
  /** Changes before it, in order. */
  before?: ScenarioStep[];
  /** Nanoseconds. */
  time?: number;
  port?: number;
  linkType?: number;
  /** Bytes on the wire. */
  wireLength?: number;
}

export interface ScenarioExpectations {
  messages?: ExpectedMessage[];
  frames?: ExpectedFrame[];
  /** Of a bulk by offset; null for one that is not compared. */
  counters?: Record<string, ExpectedCount | (ExpectedCount | null)[]>;
  asoObjects?: Record<string, ExpectedAso>;
  /** What ibv_read_counters gives, by index. */
  flowCounters?: Record<string, number[]>;
  totals?: ExpectedTotals;
}

/** What is expected of an outcome. */
export interface ExpectedOutcome {
  verdict?: VerdictName;
  reason?: ReasonName | null;
  to?: string[];
  /** A tag for each destination. */
  toTags?: number[];
  tag?: number | null;
  rules?: string[];
  copies?: string[];
  /** A tag for each copy. */
  copyTags?: number[];
  /** Registers that hold what a rule wrote, all of them. */
  registers?: ExpectedRegisters;
  /** What arrived, for each destination. */
  toFrames?: ExpectedBytes[];
  copyFrames?: ExpectedBytes[];
}

export type RegisterName = (typeof REGISTER_NAMES)[number];
export type ExpectedRegisters = { [K in RegisterName]?: number };

/** Hexadecimal digits, headers, fields with what they hold (null: not there), or null for nothing that is compared. */
export type ExpectedBytes = string | ScenarioHeader[] | Record<string, string | number | null> | null;

export interface ExpectedFrame extends ExpectedOutcome {
  /** Number from 1, or name. */
  frame: number | string;
  /** By port that it left from: what became of it at the port that it came to. */
  beyond?: Record<string, ExpectedOutcome>;
}

export interface ExpectedCount {
  packets?: number;
  bytes?: number;
}

export interface ExpectedTotals {
  frames?: number;
  bytes?: number;
  verdicts?: Record<string, number>;
  to?: Record<string, number>;
  copies?: Record<string, number>;
  rules?: Record<string, number>;
}
