/**
 * The ConnectX profiles. They refuse the calls that the mlx5 stack refuses, with its errnos and in
 * its order (docs/profiles.md).
 *
 * The kernel manages root tables; it checks priority and criteria when a rule is created. All other
 * tables belong to the library, which does software-managed steering.
 */
import { ESP_ENCRYPT, ESP_NEW_WINDOW } from "../../abi/esp.js";
import { CONNECTX_NAMES, PART_IDS, type FlowRules, type Profile, type TableRules } from "./profile.js";

const FLOWS: FlowRules = {
  lastPriority: 15,
  maxSpecs: 10,
  maxPoints: 8191,
  multicastLast: true,
  create: [
    {
      by: "provider",
      refuses: {
        noSteering: "EOPNOTSUPP",
        secondCounters: "EINVAL",
        countersWithoutPoints: "EINVAL",
        tooManyPoints: "EINVAL",
      },
    },
    { by: "library", refuses: { specCount: "EINVAL" } },
    { by: "library", each: "spec", refuses: { unknownSpec: "EINVAL", longFilter: "EOPNOTSUPP" } },
    {
      by: "uverbs",
      refuses: {
        notPermitted: "EPERM",
        unknownFlag: "EINVAL",
        dontTrapOfDefault: "EINVAL",
        tooManySpecs: "EINVAL",
        port: "EINVAL",
        queuePairType: "EINVAL",
      },
    },
    { by: "uverbs", each: "spec", refuses: { wideField: "EINVAL" } },
    {
      by: "driver",
      refuses: {
        priority: "ENOMEM",
        allowLoopBack: "EINVAL",
        egressOfDefault: "EINVAL",
        flowType: "EOPNOTSUPP",
        etherType: "EINVAL",
      },
    },
    {
      by: "driver",
      each: "spec of a NORMAL flow",
      refuses: { unmaskableField: "EOPNOTSUPP", wideTag: "EINVAL", otherProtocol: "EINVAL" },
    },
    { by: "steering core", each: "spec of a NORMAL flow", refuses: { valueOutsideMask: "EINVAL" } },
    // The driver does not read the specs of other flows, and uses the last tag.
    { by: "model", each: "spec", refuses: { unknownIpv4Flag: "EINVAL", wideTag: "EINVAL" } },
    { by: "model", refuses: { secondTag: "EINVAL" } },
  ],
  actions: {
    otherDevice: "EINVAL",
    otherFunction: "EINVAL",
    notNormal: "EINVAL",
    dontTrap: "EINVAL",
    otherDirection: "EINVAL",
    tooMany: "EINVAL",
    secondOfKind: "EINVAL",
    inlineWithoutEsp: "EINVAL",
    egressEspWithDropOrTag: "EINVAL",
  },
  inBytes: {
    noSteering: "EOPNOTSUPP",
    secondEnd: "EOPNOTSUPP",
    secondTag: "EINVAL",
    verbsCounters: "EOPNOTSUPP",
    secondCounter: "EOPNOTSUPP",
    tooManyActions: "EOPNOTSUPP",
    unknownAction: "EOPNOTSUPP",
    notPermitted: "EPERM",
    tooManyChanges: "EINVAL",
    fdbDestination: "EINVAL",
    rdmaDestination: "EINVAL",
    datagramQueuePair: "EINVAL",
    secondOfKind: "EINVAL",
    counterWithoutEnd: "EINVAL",
    transportPriority: "EINVAL",
  },
};

const ROOT: TableRules = {
  masks: { noBytes: "EINVAL", tooManyBytes: "EINVAL", sampleId: "EOPNOTSUPP" },
  values: {
    priority: "ENOMEM",
    criteria: "EINVAL",
    noBytes: "EINVAL",
    tooManyBytes: "EINVAL",
    outsideMask: "EINVAL",
    conflict: "EEXIST",
  },
  lists: [
    {
      by: "library",
      each: "action",
      refuses: { notInRoot: "ENOTSUP", owner: "EINVAL", connectionInUse: "EBUSY", otherLevel: "EINVAL" },
    },
    {
      by: "driver",
      each: "action",
      refuses: { secondEndOrCounter: "EOPNOTSUPP", secondOfKind: "EINVAL", missInFdb: "EINVAL", hostOnly: "EINVAL" },
    },
    { by: "driver", refuses: { counterWithoutEnd: "EINVAL" } },
  ],
  headers: {
    changeType: "EINVAL",
    addField: "EINVAL",
    fixedField: "EINVAL",
    reformatDirection: "EINVAL",
    reformatInFdbRoot: "EOPNOTSUPP",
    flowReformatDirection: "EOPNOTSUPP",
  },
};

/**
 * Tables other than root tables. `newer` devices have definers, and change VLAN tags and
 * encapsulate in both directions.
 */
function tables(newer: boolean): TableRules {
  return {
    masks: {
      criteria: "EINVAL",
      tooManyBytes: "EINVAL",
      versionMask: "EOPNOTSUPP",
      partOfSourcePort: "ENOTSUP",
      ...(newer ? {} : { emptyMask: "EINVAL" }),
      sampleId: "EOPNOTSUPP",
      unknownToDevice: "EOPNOTSUPP",
      sourceOnTransmit: "EOPNOTSUPP",
      ...(newer ? {} : { okBits: "EOPNOTSUPP" }),
      exclusiveFields: "EOPNOTSUPP",
      ...(newer ? {} : { versionlessFields: "EOPNOTSUPP" }),
    },
    values: {
      tooManyBytes: "EINVAL",
      partOfDword: "EINVAL",
      outsideMask: "EINVAL",
      versionOutsideMask: "EINVAL",
      otherVersion: "EOPNOTSUPP",
      sourcePort: "EINVAL",
    },
    lists: [
      {
        by: "library",
        each: "action, for each direction",
        refuses: {
          owner: "EINVAL",
          connectionInUse: "EBUSY",
          nextTable: "EINVAL",
          otherContext: "EINVAL",
          otherLevelUnlessDecap: "EINVAL",
          thirdPush: "ENOTSUP",
          ...(newer ? {} : { oneWay: "EINVAL" }),
          repeated: "EINVAL",
          order: "EOPNOTSUPP",
        },
      },
    ],
    headers: {
      changeType: "EOPNOTSUPP",
      addField: "EINVAL",
      fixedField: "EINVAL",
      mixedVersions: "ENOTSUP",
      mixedProtocols: "EINVAL",
      reformatDirection: "EINVAL",
      arrayInNicTx: "EOPNOTSUPP",
      memberOfFdb: "EOPNOTSUPP",
      sampleCounterInFdb: "EOPNOTSUPP",
    },
  };
}

function connectx(name: (typeof CONNECTX_NAMES)[number], steeringFormat: number): Profile {
  const newer = name !== "connectx5";
  return {
    name,
    steeringFormat,
    partId: PART_IDS[name],
    resizesSharedQueues: false,
    flows: FLOWS,
    counters: { liveAttach: false, readUnbound: false },
    rules: {
      definers: newer,
      statefulActions: newer,
      samplerPrograms: newer ? "none" : "fdb",
      root: ROOT,
      other: tables(newer),
    },
    esp: { createFlags: ESP_ENCRYPT, modifyFlags: ESP_NEW_WINDOW, icvLengths: [16], fullOffload: false, rekeys: false },
  };
}

export const CONNECTX: readonly Profile[] = CONNECTX_NAMES.map(connectx);
