/** `lint`: the faults of the rules of a device. */
import { inAsyncCall } from "../../errors.js";
import { checkOptions, wrongType } from "../../base/checks.js";
import type { CoreSource } from "../../engine/load.js";
import { Device } from "../../model/device/device.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { Finding, Severity } from "../answer.js";
import { LintContext } from "./context.js";
import type { LintDetector } from "./detector.js";
import { ACTIONS } from "./detectors/actions.js";
import { BUFFERS } from "./detectors/buffers.js";
import { DEAD } from "./detectors/dead.js";
import { ESP } from "./detectors/esp.js";
import { FLOWS } from "./detectors/flows.js";
import { FUNCTIONS } from "./detectors/functions.js";
import { LOOPED } from "./detectors/looped.js";
import { LOOPS } from "./detectors/loops.js";
import { MATCHES } from "./detectors/matches.js";
import { METERS } from "./detectors/meters.js";
import { ORDER } from "./detectors/order.js";
import { PROFILE } from "./detectors/profile.js";
import { REACH } from "./detectors/reach.js";
import { REDUNDANT } from "./detectors/redundant.js";
import { TUNNELS } from "./detectors/tunnels.js";
import { UNUSED } from "./detectors/unused.js";

/** All detectors of devices, in the order in which their findings are reported. */
export const LINT_DETECTORS: readonly LintDetector[] = [
  ...ESP,
  ...MATCHES,
  ...REACH,
  ...LOOPS,
  ...DEAD,
  LOOPED,
  REDUNDANT,
  ...ORDER,
  ...ACTIONS,
  ...TUNNELS,
  ...METERS,
  ...BUFFERS,
  ...FLOWS,
  ...FUNCTIONS,
  ...PROFILE,
  ...UNUSED,
  { id: "not-decided", severity: "note", detect: ({ undecided }) => undecided },
];

/** The identities of the findings of `lint`, with their severities. */
export const LINT_IDENTITIES: readonly Pick<Finding, "id" | "severity">[] = LINT_DETECTORS.map(({ id, severity }) => ({
  id,
  severity,
}));

export interface LintOptions {
  /** Queue pairs that the program sends from: they have a use without a rule that leads to them. @default none */
  senders?: Iterable<QueuePair> | undefined;
  /** The order in which the rules were made is meant: no finding is about it. @default false */
  isOrdered?: boolean | undefined;
  /**
   * Where the traced core comes from, as `core` of `createDevice`. The first call for a device
   * decides. @default the file `traced.wasm` beside this module
   */
  core?: CoreSource | undefined;
}

const RANKS: readonly Severity[] = ["error", "warning", "note"];

/**
 * Finds faults in the rules, flows and objects of a device (docs/check.md). The device stays as it
 * is.
 * @returns the findings, errors first
 * @throws TypeError no device, or an unknown option; SteeringError ENOMEM: the device leaves no room
 *   for a copy of its memory
 * @example
 *     for (const { id, severity, sentence } of await lint(device)) console.log(severity, id, sentence);
 */
export async function lint(device: Device, options: LintOptions = {}): Promise<Finding[]> {
  return inAsyncCall("lint", async () => {
    if (!(device instanceof Device)) wrongType("device", "a Device", device);
    checkOptions("", options, { senders: "any", isOrdered: "boolean", core: "any" });
    const context = await LintContext.open(device, new Set(options.senders ?? []), options.core);
    const findings: Finding[] = [];
    for (const { id, severity, detect } of LINT_DETECTORS) {
      if (options.isOrdered === true && id === "order-dependent") continue;
      for (const found of detect(context)) {
        findings.push({ id, severity, field: null, witness: null, proof: null, fix: null, ...found });
      }
    }
    return findings.sort((a, b) => RANKS.indexOf(a.severity) - RANKS.indexOf(b.severity));
  });
}
