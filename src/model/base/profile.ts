/** Device profiles: what is refused beyond what a manual page refuses, as declared data. */
import { ESP_ENCRYPT, ESP_NEW_WINDOW } from "../../abi/esp.js";
import { refuse } from "../../errors.js";

export interface Profile {
  readonly name: string;
  readonly flows: FlowRules;
  readonly counters: CounterRules;
  readonly rules: DirectRules;
  readonly esp: EspRules;
}

/** How `ibv_create_flow` refuses and orders. */
export interface FlowRules {
  /** Whose checks, and in whose order (model/flow/checks.ts). */
  readonly checks: "manual" | "mlx5";
  /** Priorities are 0 to this. */
  readonly lastPriority: number;
  readonly maxSpecs: number;
  /** Points of a counters object that a flow counts on. */
  readonly maxPoints: number;
  /** Flows for multicast alone come behind all others, whatever their priority. */
  readonly multicastLast: boolean;
}

/** How flow counters bind and read (docs/flows.md, "Counters"). */
export interface CounterRules {
  /** Points can be attached to a live flow. */
  readonly liveAttach: boolean;
  /** An object that no flow uses can be read. */
  readonly readUnbound: boolean;
}

/** How direct rules are refused (docs/rules.md, "Profiles"). */
export interface DirectRules {
  /** Whose checks. */
  readonly checks: "manual" | "mlx5";
  /** Definers: the *_ok bits, fields above IP without ip_version, criteria that mask nothing, layouts of matchers. */
  readonly definers: boolean;
  /** VLAN push on receive and pop on transmit, and encapsulation on the receive side of the eSwitch. */
  readonly bothWays: boolean;
  /** ASO objects: first hit, meters, connections. */
  readonly remembers: boolean;
}

/** What ESP flow actions may ask (docs/esp.md, "Create, modify, destroy"). */
export interface EspRules {
  /** IB_UVERBS_FLOW_ACTION_ESP_FLAGS_* that an action can be made with, */
  readonly createFlags: number;
  /** and those that it can be given later */
  readonly modifyFlags: number;
  /** Bytes. */
  readonly icvLengths: readonly number[];
  /** SPI, numbers, padding, limits, replay protection and encapsulation; REPLAY_NONE for a new action. */
  readonly fullOffload: boolean;
  /** An action can get another key, and ESN that it was made without. */
  readonly rekeys: boolean;
}

/** Refuses only what a page refuses or what has no meaning. */
const MANUAL: Profile = {
  name: "manual",
  flows: { checks: "manual", lastPriority: 0xffff, maxSpecs: 0xff, maxPoints: Infinity, multicastLast: false },
  counters: { liveAttach: true, readUnbound: true },
  rules: { checks: "manual", definers: true, bothWays: true, remembers: true },
  esp: { createFlags: 0xf, modifyFlags: 0xf, icvLengths: [8, 12, 16], fullOffload: true, rekeys: true },
};

/** What the mlx5 drivers refuse; for verbs flows the devices do not differ. */
function connectx(name: string): Profile {
  const newer = name !== "connectx5";
  return {
    name,
    flows: { checks: "mlx5", lastPriority: 15, maxSpecs: 10, maxPoints: 8191, multicastLast: true },
    counters: { liveAttach: false, readUnbound: false },
    rules: { checks: "mlx5", definers: newer, bothWays: newer, remembers: newer },
    esp: { createFlags: ESP_ENCRYPT, modifyFlags: ESP_NEW_WINDOW, icvLengths: [16], fullOffload: false, rekeys: false },
  };
}

const CONNECTX_NAMES = ["connectx5", "connectx6dx", "connectx7", "connectx8"] as const;
export const PROFILE_NAMES = ["manual", ...CONNECTX_NAMES] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

const PROFILES: ReadonlyMap<string, Profile> = new Map(
  [MANUAL, ...CONNECTX_NAMES.map(connectx)].map((one) => [one.name, one]),
);

export function profileNamed(name: string): Profile {
  const profile = PROFILES.get(name);
  if (profile !== undefined) return profile;
  return refuse({
    code: "EINVAL",
    call: "createDevice",
    reason: "unsupported",
    path: "profile",
    value: name,
    hint: `profiles of this release: ${[...PROFILES.keys()].join(", ")}`,
  });
}
