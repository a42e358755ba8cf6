/** The options of a device, and their checks. */
import type { Core } from "../../engine/core.js";
import type { CoreSource } from "../../engine/load.js";
import { refuse } from "../../errors.js";
import { checkOptions, type OptionType, type OptionTypes, unsigned } from "../../base/checks.js";
import { Clock } from "../base/time/clock.js";
import type { DeviceParts } from "../base/deviceBase.js";
import { Hardware } from "../base/port/hardware.js";
import type { DeviceLimits } from "../base/limits.js";
import { MAX_PORTS, type PortOptions } from "../base/port/ports.js";
import { ParserDeclaration, type ParserOptions } from "../base/parser.js";
import type { ProfileName } from "../profile/profile.js";
import { profileNamed } from "../profile/profiles.js";
import { entriesFrom, type CacheOptions } from "../traffic/flowCache.js";

export const DEFAULT_NAME = "flowsteer0";

export interface DeviceOptions extends PortOptions {
  /**
   * Connected devices need different names, since MAC addresses are derived from them. @default
   * "flowsteer0"
   */
  name?: string;
  /** Physical ports, numbered from 1, at most 4,095. @default 1 */
  ports?: number;
  /** Functions besides the PF: VFs, numbered from 1; at most 255. @default 0 */
  vports?: number;
  /** What is refused beyond what the manual pages refuse (docs/profiles.md). @default "manual" */
  profile?: ProfileName | (string & Record<never, never>);
  /** Seed of what is random in outcomes, such as samples: an integer, taken modulo 2^64. @default 0 */
  seed?: number;
  /**
   * The clock in nanoseconds, which never goes back. @default a virtual clock that `advance` and
   * `advanceTo` move
   */
  now?: () => bigint;
  /** Limits below the maximum; `ibv_query_device` reports them. */
  limits?: Partial<DeviceLimits> & {
    /**
     * Bytes for tables, rules, counters and queues. A call that needs more is refused with ENOMEM.
     */
    memory?: number;
    /**
     * Flows alive (ibv_create_flow). One more is refused with ENOMEM. @default as many as memory
     * holds
     */
    flows?: number;
  };
  /** Whether ibv_create_flow steers: IBV_DEVICE_MANAGED_FLOW_STEERING. @default true */
  managedFlowSteering?: boolean;
  /**
   * Whether direct rules outside root tables come and go with the next mlx5dv_dr_domain_sync of
   * their domain. @default false
   */
  asyncRules?: boolean;
  /**
   * Whether each destination, and each listener of a port, gets a copy of the frame with a buffer of
   * its own. Without it, a frame that no rule changed is the very array that was received or sent,
   * so writing to that array changes earlier outcomes, and short frames that rules changed share
   * buffers. @default false
   */
  copyFrames?: boolean;
  /**
   * The flow cache, which keeps lookup results by key; false or 0 for none. @default 65,536 entries
   */
  cache?: CacheOptions | false | 0;
  /** Whether hits of rules, ports and queues are counted (`countHits`). @default false */
  countHits?: boolean;
  /** Programmable samples, and the Geneve option that rules can match. @default none */
  parser?: ParserOptions;
  /** Where the core comes from. @default the file beside this module */
  core?: CoreSource;
}

/**
 * The checked options of `createDevice`: the parts of the device, and the number of flow cache
 * entries.
 */
export interface CheckedParts extends DeviceParts {
  readonly cacheEntries: number;
}

const OPTION_TYPES: OptionTypes<DeviceOptions> = {
  name: "string",
  ports: "number",
  vports: "number",
  profile: "string",
  seed: "number",
  now: "function",
  limits: "object",
  managedFlowSteering: "boolean",
  asyncRules: "boolean",
  copyFrames: "boolean",
  cache: "any",
  countHits: "boolean",
  parser: "object",
  core: "any",
  macs: "any",
  gids: "any",
};

/** @internal Checks the options of a device; `more` are those of another call that makes one. */
export function deviceParts(options: DeviceOptions, more: Readonly<Record<string, OptionType>> = {}): CheckedParts {
  checkOptions("", options, { ...OPTION_TYPES, ...more });
  // An own clock is read once before the device exists.
  new Clock(options.now).now();
  const profile = profileNamed(options.profile ?? "manual");
  const ports = unsigned("ports", options.ports ?? 1, 32);
  if (ports < 1 || ports > MAX_PORTS)
    refuse({ code: "EINVAL", reason: "out_of_range", path: "ports", value: ports, hint: `1 to ${MAX_PORTS}` });
  unsigned("vports", options.vports ?? 0, 8);
  const memory = options.limits?.memory;
  if (memory !== undefined) unsigned("limits.memory", memory, 32);
  const { seed = 0 } = options;
  if (!Number.isSafeInteger(seed))
    refuse({ code: "EINVAL", reason: "out_of_range", path: "seed", value: seed, hint: "an integer" });
  if (options.limits?.flows !== undefined) unsigned("limits.flows", options.limits.flows, 32);
  const hardware = new Hardware(options.name ?? DEFAULT_NAME, ports, options);
  const cacheEntries = entriesFrom(options.cache);
  return { profile, parser: new ParserDeclaration(options.parser ?? {}), hardware, cacheEntries };
}

/** @internal Prepares a new core: draws its multipliers, and limits its memory. */
export function openCore(core: Core, { limits }: DeviceOptions): Core {
  core.drawMultipliers();
  if (limits?.memory !== undefined) core.exports.limitArena(limits.memory);
  return core;
}
