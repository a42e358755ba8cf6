/** What a scenario document holds, as types. `scenarioSchema.ts` describes each key; the compiler holds the two equal. */
import type { ParserOptions } from "../model/parser.js";
import type { ReasonName, VerdictName } from "../model/outcome.js";

/** A scenario, version 1. */
export interface Scenario {
  $schema?: string;
  flowsteer: 1;
  title?: string;
  description?: string;
  device?: ScenarioDevice;
  connect?: ScenarioCable[];
  queues?: ScenarioQueue[];
  counters?: ScenarioCounter[];
  tables?: ScenarioTable[];
  matchers?: ScenarioMatcher[];
  actions?: ScenarioAction[];
  rules?: ScenarioRule[];
  frames?: ScenarioFrame[];
  expect?: ScenarioExpectations;
}

export interface ScenarioDevice {
  name?: string;
  /** Physical ports. */
  ports?: number;
  profile?: string;
  seed?: number;
  limits?: ScenarioLimits;
  parser?: ParserOptions;
}

export interface ScenarioLimits {
  /** Bytes. */
  memory?: number;
}

/** A port and where it leads: another port of the device, or the port itself. */
export interface ScenarioCable {
  port: number;
  to: number;
}

export type QueueType = "raw_packet" | "ud";
export type QueueState = "reset" | "init" | "rtr" | "rts" | "err";

export interface ScenarioQueue {
  name: string;
  description?: string;
  /** The port that it sends from. */
  port?: number;
  type?: QueueType;
  state?: QueueState;
  /** Receive buffers posted; left out, the queue takes everything. */
  buffers?: number;
  /** Bytes of each. */
  bufferSize?: number;
}

export interface ScenarioCounter {
  name: string;
  description?: string;
}

export interface ScenarioTable {
  name: string;
  description?: string;
  domain?: "nic_rx";
  level: number;
}

export interface ScenarioMatcher {
  name: string;
  description?: string;
  table: string;
  priority?: number;
  /** Field name to "full", "/24" or mask text; left out, every rule brings its own masks. */
  mask?: Record<string, string | number>;
}

/** What a rule does, written in its place. */
export type InlineAction =
  | "drop"
  | "default_miss"
  | { tag: number }
  | { count: string }
  | { queue: string }
  | { table: string }
  | { action: string };

/** An action with a name: exactly one of the keys behind the description. */
export interface ScenarioAction {
  name: string;
  drop?: true;
  default_miss?: true;
  tag?: number;
  count?: string;
  queue?: string;
  table?: string;
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

export interface ScenarioFrame {
  name?: string;
  description?: string;
  hex?: string;
  base64?: string;
  /** The queue that sends it. */
  send?: string;
  port?: number;
  linkType?: number;
  /** Bytes on the wire. */
  wireLength?: number;
}

export interface ScenarioExpectations {
  frames?: ExpectedFrame[];
  counters?: Record<string, ExpectedCount>;
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
}

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
