/**
 * The type of a device profile: the calls that it refuses, the errnos, and the order of the checks.
 * The data is in manual.ts and connectx.ts.
 */
import type { EachStep, Refusals, Step } from "./refusals.js";

export const CONNECTX_NAMES = ["connectx5", "connectx6dx", "connectx7", "connectx8"] as const;
export const PROFILE_NAMES = ["manual", ...CONNECTX_NAMES] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** The PCI device ids of the cards, by which programs tell their generations apart. */
export const PART_IDS = { connectx5: 0x1017, connectx6dx: 0x101d, connectx7: 0x1021, connectx8: 0x1023 } as const;

export interface Profile {
  readonly name: ProfileName;
  /** The number by which the library distinguishes device generations. */
  readonly steeringFormat: number;
  /** `vendor_part_id`: the PCI device id of the card. */
  readonly partId: number;
  /** Whether `ibv_modify_srq` changes the size of a shared receive queue (IBV_DEVICE_SRQ_RESIZE). */
  readonly resizesSharedQueues: boolean;
  readonly flows: FlowRules;
  readonly counters: CounterRules;
  readonly rules: DirectRules;
  readonly esp: EspRules;
}

/** Flows of the verbs and of mlx5dv_create_flow. */
export interface FlowRules {
  /** The largest priority. */
  readonly lastPriority: number;
  readonly maxSpecs: number;
  /** The largest number of points of counters objects that a flow counts on. */
  readonly maxPoints: number;
  /** Whether flows for multicast only match after all others, whatever their priority. */
  readonly multicastLast: boolean;
  /** The checks of `ibv_create_flow`. */
  readonly create: readonly FlowStep[];
  /** The checks of the flow actions that the specs of a flow name; made for each action in turn. */
  readonly actions: Refusals<FlowActionCheck>;
  /** The checks of `mlx5dv_create_flow`. */
  readonly inBytes: Refusals<DeviceFlowCheck>;
}

/**
 * One step of checks. A step for each spec checks the specs in turn; drivers read the specs of
 * NORMAL flows only.
 */
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

/** The checks of `mlx5dv_create_flow`, in its order. */
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
  | "counterWithoutEnd"
  | "transportPriority";

/** The attachment and reading of flow counters (docs/flows.md, "Counters"). */
export interface CounterRules {
  /** Whether points can be attached while a flow uses the counters object. */
  readonly liveAttach: boolean;
  /** Whether a counters object that no flow uses can be read. */
  readonly readUnbound: boolean;
}

/** Direct rules (docs/rules.md). */
export interface DirectRules {
  /**
   * Whether the device has definers: the *_ok bits, fields above IP without ip_version, criteria
   * with an empty mask, layouts of matchers.
   */
  readonly definers: boolean;
  /** Whether the device has ASO objects: first hit, meters, connections. */
  readonly statefulActions: boolean;
  /** The samplers that run the header changes in their attributes. */
  readonly samplerPrograms: "all" | "fdb" | "none";
  /** Root tables. */
  readonly root: TableRules;
  /** All other tables. */
  readonly other: TableRules;
}

/** The checks of the matchers and rules of a table. */
export interface TableRules {
  /** Checks of matcher masks. */
  readonly masks: Refusals<MaskCheck>;
  /** Checks of rule values. */
  readonly values: Refusals<ValueCheck>;
  /** Checks of action lists. */
  readonly lists: readonly ListStep[];
  /**
   * Checks of header changes, packet reformats and destination arrays, made when the action is
   * created.
   */
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
  | "sourcePort"
  | "conflict";

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
  | "memberOfFdb"
  | "sampleCounterInFdb";

/** The ESP flow actions that a device takes (docs/esp.md, "Create, modify, destroy"). */
export interface EspRules {
  /** IB_UVERBS_FLOW_ACTION_ESP_FLAGS_* that can be set when an action is created. */
  readonly createFlags: number;
  /** IB_UVERBS_FLOW_ACTION_ESP_FLAGS_* that can be set when an action is modified. */
  readonly modifyFlags: number;
  /** Lengths of the ICV in bytes. */
  readonly icvLengths: readonly number[];
  /**
   * Whether an action takes SPI, numbers, padding, limits, replay protection and encapsulation, and
   * REPLAY_NONE at its creation.
   */
  readonly fullOffload: boolean;
  /** Whether an action can get a new key, and ESN that it was created without. */
  readonly rekeys: boolean;
}
