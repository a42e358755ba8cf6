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

export interface ScenarioQueue {
  name: string;
  description?: string;
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

export interface ExpectedFrame {
  /** Number from 1, or name. */
  frame: number | string;
  verdict?: VerdictName;
  reason?: ReasonName | null;
  to?: string[];
  tag?: number | null;
  rules?: string[];
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
  rules?: Record<string, number>;
}
