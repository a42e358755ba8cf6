/**
 * The profile `manual`: it refuses the calls that a manual page refuses, and calls without a
 * meaning.
 */
import { PART_IDS, type Profile, type TableRules } from "./profile.js";

const TABLES: TableRules = {
  masks: {
    criteria: "EINVAL",
    versionMaskUnlessWhole: "EINVAL",
    sampleId: "EINVAL",
  },
  values: { outsideMask: "EINVAL", otherVersion: "EINVAL" },
  lists: [
    {
      by: "page",
      each: "action",
      refuses: {
        owner: "EINVAL",
        connectionInUse: "EBUSY",
        hostOnly: "EINVAL",
        otherLevel: "EINVAL",
        nextTable: "EINVAL",
        secondEnd: "EINVAL",
        secondTag: "EINVAL",
      },
    },
  ],
  headers: { changeType: "EOPNOTSUPP" },
};

export const MANUAL: Profile = {
  name: "manual",
  // SPEC: format and part of ConnectX-7.
  steeringFormat: 2,
  partId: PART_IDS.connectx7,
  resizesSharedQueues: true,
  flows: {
    lastPriority: 0xffff,
    maxSpecs: 0xff,
    maxPoints: Infinity,
    multicastLast: false,
    create: [
      {
        by: "page",
        refuses: {
          notPermitted: "EPERM",
          noSteering: "ENOSYS",
          queuePairTypeUnlessEgress: "EINVAL",
          flowType: "EINVAL",
          unknownFlag: "EINVAL",
          port: "EINVAL",
          specCount: "EINVAL",
        },
      },
      {
        by: "page",
        each: "spec",
        refuses: {
          unknownSpec: "EINVAL",
          longFilter: "EOPNOTSUPP",
          wideField: "EINVAL",
          unknownIpv4Flag: "EINVAL",
          wideTag: "EINVAL",
        },
      },
      {
        by: "page",
        refuses: {
          secondTag: "EINVAL",
          secondCounters: "EINVAL",
          dontTrapUnlessNormal: "EINVAL",
          egressUnlessNormal: "EINVAL",
        },
      },
    ],
    actions: {
      otherDevice: "EINVAL",
      otherFunction: "EINVAL",
      notNormal: "EINVAL",
      dontTrap: "EINVAL",
      otherDirection: "EINVAL",
      tooMany: "EINVAL",
      secondEsp: "EINVAL",
      inlineWithoutEsp: "EINVAL",
    },
    inBytes: {
      noSteering: "ENOSYS",
      secondEnd: "EINVAL",
      secondTag: "EINVAL",
      secondCounter: "EINVAL",
      tooManyActions: "EINVAL",
      unknownAction: "EINVAL",
      notPermitted: "EPERM",
      secondEsp: "EINVAL",
      tagInFdb: "EINVAL",
    },
  },
  counters: { liveAttach: true, readUnbound: true },
  rules: { definers: true, statefulActions: true, samplerPrograms: "all", root: TABLES, other: TABLES },
  esp: { createFlags: 0xf, modifyFlags: 0xf, icvLengths: [8, 12, 16], fullOffload: true, rekeys: true },
};
