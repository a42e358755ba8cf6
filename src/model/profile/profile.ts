/** Device profiles: what is refused, with which errno, in which order. Their data is in manual.ts and connectx.ts. */
import type { EachStep, Refusals, Step } from "./refusals.js";

export const CONNECTX_NAMES = ["connectx5", "connectx6dx", "connectx7", "connectx8"] as const;
export const PROFILE_NAMES = ["manual", ...CONNECTX_NAMES] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

export interface Profile {
  readonly name: ProfileName;
  /** The number by which the library tells generations of devices apart. */
  readonly steeringFormat: number;
  readonly flows: FlowRules;
  readonly counters: CounterRules;
  readonly rules: DirectRules;
  readonly esp: EspRules;
}

/** Flows of the verbs and of mlx5dv_create_flow. */
export interface FlowRules {
  /** Priorities are 0 to this. */
  readonly lastPriority: number;
  readonly maxSpecs: number;
  /** Points of a counters object that a flow counts on. */
  readonly maxPoints: number;
  /** Flows for multicast only come after all others, whatever their priority. */
  readonly multicastLast: boolean;
  /** `ibv_create_flow`. */
  readonly create: readonly FlowStep[];
  /** The flow actions that the specs of a flow name, each in turn. */
  readonly actions: Refusals<FlowActionCheck>;
  /** `mlx5dv_create_flow`. */
  readonly inBytes: Refusals<DeviceFlowCheck>;
}

/** A step over each spec in turn; drivers read the specs of NORMAL flows only. */
export type FlowStep = Step<FlowCheck> | EachStep<SpecCheck, "spec" | "spec of a NORMAL flow">;

export type FlowCheck =
  | "notPermitted"
  | "noSteering"
  | "queuePairType"
  | "queuePairTypeUnlessEgress"
  | "flowType"
  | "unknownFlag"
  | "allowLoopBack"
  | "port"
  | "specCount"
  | "tooManySpecs"
  | "secondTag"
  | "secondCounters"
  | "countersWithoutPoints"
  | "tooManyPoints"
  | "dontTrapUnlessNormal"
  | "dontTrapOfDefault"
  | "egressUnlessNormal"
  | "egressOfDefault"
  | "priority"
  | "etherType";

export type SpecCheck =
  | "unknownSpec"
  | "longFilter"
  | "wideField"
  | "unknownIpv4Flag"
  | "wideTag"
  | "unmaskableField"
  | "otherProtocol"
  | "valueOutsideMask";

export type FlowActionCheck =
  | "otherDevice"
  | "otherFunction"
  | "notNormal"
  | "dontTrap"
  | "otherDirection"
  | "tooMany"
  | "secondOfKind"
  | "secondEsp"
  | "inlineWithoutEsp"
  | "egressEspWithDropOrTag";

/** In the order in which mlx5dv_create_flow checks. */
export type DeviceFlowCheck =
  | "noSteering"
  | "secondEnd"
  | "secondTag"
  | "verbsCounters"
  | "secondCounter"
  | "tooManyActions"
  | "unknownAction"
  | "notPermitted"
  | "tooManyChanges"
  | "fdbDestination"
  | "rdmaDestination"
  | "datagramQueuePair"
  | "secondOfKind"
  | "secondEsp"
  | "tagInFdb"
  | "counterWithoutEnd";

/** How flow counters bind and read (docs/flows.md, "Counters"). */
export interface CounterRules {
  /** Points can be attached to a live flow. */
  readonly liveAttach: boolean;
  /** An object that no flow uses can be read. */
  readonly readUnbound: boolean;
}

/** Direct rules (docs/rules.md). */
export interface DirectRules {
  /** Definers: the *_ok bits, fields above IP without ip_version, criteria that mask nothing, layouts of matchers. */
  readonly definers: boolean;
  /** ASO objects: first hit, meters, connections. */
  readonly remembers: boolean;
  /** Which samplers run the header changes of their attributes. */
  readonly samplerPrograms: "all" | "fdb" | "none";
  /** Root tables. */
  readonly root: TableRules;
  /** All other tables. */
  readonly other: TableRules;
}

/** What is refused of the matchers and rules of a table. */
export interface TableRules {
  /** Masks of matchers. */
  readonly masks: Refusals<MaskCheck>;
  /** Values of rules. */
  readonly values: Refusals<ValueCheck>;
  /** Actions of rules. */
  readonly lists: readonly ListStep[];
  /** Header changes, packet reformats and destination arrays, when they are made. */
  readonly headers: Refusals<HeaderCheck>;
}

export type MaskCheck =
  | "criteria"
  | "noBytes"
  | "tooManyBytes"
  | "versionMask"
  | "versionMaskUnlessWhole"
  | "partOfSourcePort"
  | "emptyMask"
  | "sampleId"
  | "unknownToDevice"
  | "sourceOnTransmit"
  | "okBits"
  | "exclusiveFields"
  | "versionlessFields";

export type ValueCheck =
  | "priority"
  | "criteria"
  | "noBytes"
  | "tooManyBytes"
  | "partOfDword"
  | "outsideMask"
  | "versionOutsideMask"
  | "otherVersion"
  | "sourcePort";

export type ListStep = EachStep<ActionCheck, "action" | "action, for each direction"> | Step<"counterWithoutEnd">;

export type ActionCheck =
  | "owner"
  | "connectionInUse"
  | "hostOnly"
  | "otherLevel"
  | "otherLevelUnlessDecap"
  | "nextTable"
  | "otherContext"
  | "secondEnd"
  | "secondTag"
  | "notInRoot"
  | "secondEndOrCounter"
  | "secondOfKind"
  | "missInFdb"
  | "thirdPush"
  | "oneWay"
  | "repeated"
  | "order";

export type HeaderCheck =
  | "changeType"
  | "addField"
  | "fixedField"
  | "mixedVersions"
  | "mixedProtocols"
  | "reformatDirection"
  | "reformatInFdbRoot"
  | "flowReformatDirection"
  | "arrayInNicTx"
  | "memberOfFdb";

/** What ESP flow actions may ask (docs/esp.md, "Create, modify, destroy"). */
export interface EspRules {
  /** IB_UVERBS_FLOW_ACTION_ESP_FLAGS_* that an action can be made with, */
  readonly createFlags: number;
  /** and those that it can be given later. */
  readonly modifyFlags: number;
  /** Bytes. */
  readonly icvLengths: readonly number[];
  /** SPI, numbers, padding, limits, replay protection and encapsulation; REPLAY_NONE for a new action. */
  readonly fullOffload: boolean;
  /** An action can get another key, and ESN that it was made without. */
  readonly rekeys: boolean;
}
