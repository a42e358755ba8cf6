/** The classes that a snapshot knows by name, and the fields that it leaves out. */
import { RuleMask } from "../engine/ruleMask.js";
import { Action } from "../model/action/action.js";
import { AsoAction, FlowMeterAction } from "../model/action/asoActions.js";
import { AsoObject } from "../model/action/asoObject.js";
import { FlowCounter } from "../model/action/counter.js";
import { AsyncEvents } from "../model/base/asyncEvents.js";
import { Clock } from "../model/base/time/clock.js";
import { Context, MemoryRegion, ProtectionDomain } from "../model/base/context.js";
import { Deadlines } from "../model/base/time/deadlines.js";
import { Hardware } from "../model/base/port/hardware.js";
import { HitCounts } from "../model/base/hitCounts.js";
import { InstalledRules } from "../model/base/installed.js";
import { Inventory } from "../model/base/limits.js";
import { NamedObjects } from "../model/base/named.js";
import { NumberedObjects } from "../model/base/numbered.js";
import { Port } from "../model/base/port/ports.js";
import { Device } from "../model/device/device.js";
import { Arrival, Line } from "../model/traffic/line.js";
import { DeviceFunction } from "../model/device/function.js";
import { Answers, CommandCompletions } from "../model/devx/commandCompletions.js";
import { DevxFlowEntry } from "../model/devx/flowEntry.js";
import { FlowMeter } from "../model/devx/flowMeter.js";
import { DevxFlowGroup, DevxFlowTable } from "../model/devx/flowTable.js";
import { ModifyHeaderContext, PacketReformatContext } from "../model/devx/headerObjects.js";
import { EspAction } from "../model/esp/action.js";
import { ReplayWindow } from "../model/esp/replayWindow.js";
import { UsedIvs } from "../model/esp/usedIvs.js";
import { ModifyHeaderAction, PacketReformatAction } from "../model/action/flowAction.js";
import { Counters } from "../model/flow/counters.js";
import { DeviceFlow } from "../model/flow/deviceFlow.js";
import { BulkCounter } from "../model/flow/deviceFlowActions.js";
import { FlowTables } from "../model/flow/entries.js";
import { FlowEntry } from "../model/flow/entry.js";
import { FlowMask, HashTable, KeyHash, MaskBits } from "../model/flow/masks.js";
import { HostQueue, HostRule, HostRules } from "../model/flow/hostRules.js";
import { FlowMatcher } from "../model/flow/matcher.js";
import { AnchorTable, AnchorTables, SteeringAnchor } from "../model/table/steeringAnchor.js";
import { VerbsFlow } from "../model/flow/verbsFlow.js";
import { DeviceMask, LeftOut } from "../model/match/deviceMask.js";
import { AddressHandle } from "../model/queue/addressHandle.js";
import { CompletionChannel, CompletionEvents } from "../model/queue/completionChannel.js";
import { CompletionQueue } from "../model/queue/completionQueue.js";
import { ExtendedCompletionQueue } from "../model/queue/extendedCompletionQueue.js";
import { ExtendedQueuePair } from "../model/queuePair/extendedQueuePair.js";
import { IndirectionTable, QueueList } from "../model/queue/indirectionTable.js";
import { PostedBuffers } from "../model/queue/postedBuffers.js";
import { QueuePair } from "../model/queuePair/queuePair.js";
import { ReceiveQueue } from "../model/queue/receiveQueue.js";
import { Rqt } from "../model/queuePair/rqt.js";
import { RssRecord } from "../model/queue/rss.js";
import { RssQueuePair } from "../model/queuePair/rssQueuePair.js";
import { SendQueue, SentRequest } from "../model/queuePair/sendQueue.js";
import { SharedReceiveQueue } from "../model/queue/sharedReceiveQueue.js";
import { Tir } from "../model/queuePair/tir.js";
import { WorkQueue } from "../model/queue/workQueue.js";
import { ConnectedRule } from "../model/roce/connectionRule.js";
import { Group, MulticastGroups } from "../model/queuePair/multicast.js";
import { Requester, RetryTimer } from "../model/roce/requester.js";
import { Responder } from "../model/roce/responder.js";
import { Transport } from "../model/roce/transport.js";
import { Rule } from "../model/rule/rule.js";
import { Classifier } from "../model/table/classifier.js";
import { Domain, Table } from "../model/table/domain.js";
import { Matcher } from "../model/table/matcher.js";
import { PendingRules } from "../model/table/pendingRules.js";
import { TablePipeline } from "../model/table/pipeline.js";

/** A class, as its name and its prototype matter. */
export interface Class {
  readonly prototype: object;
}

/** By the names that snapshots have: they are not those of a bundler. */
export const CLASSES: Readonly<Record<string, Class>> = {
  Action,
  AsoAction,
  FlowMeterAction,
  AsoObject,
  FlowCounter,
  AsyncEvents,
  Clock,
  Context,
  MemoryRegion,
  ProtectionDomain,
  Deadlines,
  Hardware,
  HitCounts,
  InstalledRules,
  Inventory,
  NamedObjects,
  NumberedObjects,
  Port,
  Device,
  DeviceFunction,
  Answers,
  CommandCompletions,
  DevxFlowEntry,
  FlowMeter,
  DevxFlowGroup,
  DevxFlowTable,
  ModifyHeaderContext,
  PacketReformatContext,
  EspAction,
  ReplayWindow,
  UsedIvs,
  ModifyHeaderAction,
  PacketReformatAction,
  Counters,
  DeviceFlow,
  BulkCounter,
  FlowTables,
  FlowEntry,
  FlowMask,
  HashTable,
  KeyHash,
  MaskBits,
  HostQueue,
  HostRule,
  HostRules,
  FlowMatcher,
  AnchorTable,
  AnchorTables,
  SteeringAnchor,
  VerbsFlow,
  DeviceMask,
  LeftOut,
  AddressHandle,
  CompletionChannel,
  CompletionEvents,
  CompletionQueue,
  ExtendedCompletionQueue,
  ExtendedQueuePair,
  IndirectionTable,
  QueueList,
  PostedBuffers,
  QueuePair,
  ReceiveQueue,
  Rqt,
  RssRecord,
  RssQueuePair,
  SendQueue,
  SentRequest,
  SharedReceiveQueue,
  Tir,
  WorkQueue,
  ConnectedRule,
  Group,
  MulticastGroups,
  Requester,
  Responder,
  Transport,
  Rule,
  Classifier,
  Domain,
  Table,
  Matcher,
  PendingRules,
  TablePipeline,
  RuleMask,
  Line,
  Arrival,
  RetryTimer,
};

/** Fields that a snapshot leaves out, with what they are in a restored object; KEPT leaves them as they are. */
export const KEPT = Symbol("kept");

export const LEFT_OUT: ReadonlyMap<Class, Readonly<Record<string, unknown>>> = new Map<
  Class,
  Readonly<Record<string, unknown>>
>([
  [Matcher, { _takesRules: false, _lastActions: null }],
  [
    Device,
    { core: KEPT, parser: KEPT, profile: KEPT, now: KEPT, cache: KEPT, traffic: KEPT, observer: KEPT, index: KEPT },
  ],
  // Captures belong to the program; a fabric marks again.
  [Line, { queued: null }],
  [Clock, { now: KEPT, leader: KEPT }],
  // Numbers of masks are those of a process; 0 is none.
  [RuleMask, { _number: 0 }],
]);
