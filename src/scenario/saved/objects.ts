/** The objects of a scenario as a snapshot keeps them: plain data and objects of the device. */
import type { AsoObject } from "../../model/action/asoObject.js";
import type { FlowCounter } from "../../model/action/counter.js";
import type { DevxFlowEntry } from "../../model/devx/flowEntry.js";
import type { FlowAction } from "../../model/action/flowAction.js";
import type { Counters } from "../../model/flow/counters.js";
import type { DeviceFlow } from "../../model/flow/deviceFlow.js";
import type { HostRule } from "../../model/flow/hostRules.js";
import type { VerbsFlow } from "../../model/flow/verbsFlow.js";
import type { IndirectionTable } from "../../model/queue/indirectionTable.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { Rqt } from "../../model/queuePair/rqt.js";
import type { Tir } from "../../model/queuePair/tir.js";
import type { WorkQueue } from "../../model/queue/workQueue.js";
import type { Rule } from "../../model/rule/rule.js";
import type { Table } from "../../model/table/domain.js";
import type { Matcher } from "../../model/table/matcher.js";
import type { MadeActions } from "../action/load.js";
import type { SavedDomains } from "../device/domains.js";

/** By their names in the document. */
export interface SavedObjects {
  readonly queues: ReadonlyMap<string, QueuePair | WorkQueue>;
  readonly indirectionTables: ReadonlyMap<string, IndirectionTable>;
  readonly rqts: ReadonlyMap<string, Rqt>;
  readonly tirs: ReadonlyMap<string, Tir>;
  readonly asoObjects: ReadonlyMap<string, AsoObject>;
  readonly counters: ReadonlyMap<string, FlowCounter>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly matchers: ReadonlyMap<string, Matcher>;
  readonly implied: ReadonlyMap<string, Matcher>;
  readonly rules: ReadonlyMap<string, Rule>;
  readonly flowCounters: ReadonlyMap<string, Counters>;
  readonly flows: ReadonlyMap<string, VerbsFlow>;
  readonly flowEntries: ReadonlyMap<string, DevxFlowEntry>;
  readonly deviceFlows: ReadonlyMap<string, DeviceFlow>;
  readonly hostRules: ReadonlyMap<string, HostRule>;
  readonly domains: SavedDomains;
  readonly actions: MadeActions;
  readonly flowActions: Map<string, FlowAction>;
}

/** Maps of objects of the device alone. */
export const SAVED_AS_THEY_ARE = [
  "indirectionTables",
  "rqts",
  "tirs",
  "asoObjects",
  "counters",
  "tables",
  "matchers",
  "implied",
  "rules",
  "flows",
  "flowEntries",
  "deviceFlows",
  "hostRules",
] as const;
