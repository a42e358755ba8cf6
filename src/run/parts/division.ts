/** How the frames of a run can be divided among devices that know nothing of each other: docs/farm.md. */
import {
  REACHABLE_BUFFERS,
  REACHABLE_CONNECTION,
  REACHABLE_ESP,
  REACHABLE_FLAG,
  REACHABLE_METER,
  REACHABLE_SAMPLER,
  REACHABLE_TRANSPORT,
} from "../../abi/engine.js";
import type { LoadedScenario } from "../../scenario/load.js";
import { associationsApart, connectionsApart } from "./apart.js";

/**
 * How frames can be divided. `anyhow`: no frame depends on another one. `connections`: a frame depends on those between the same
 * two addresses only. `associations`: on those with the same SPI only. `never`: all frames need one device, in their order.
 */
export type Division =
  | { readonly by: "anyhow" | "connections" | "associations" }
  /** Why: what frames share, and the name of one of these things. */
  | { readonly by: "never"; readonly why: string };

/** State that depends on every frame before, whatever the rules match. */
const SHARED: readonly (readonly [bit: number, what: string])[] = [
  [REACHABLE_METER, "meters measure all frames that reach them"],
  [REACHABLE_SAMPLER, "samplers draw by the number of the frame"],
  [REACHABLE_BUFFERS, "queues with receive buffers run out of them in the order of frames"],
  [REACHABLE_TRANSPORT, "connected queue pairs count their packets"],
];

/** How the frames of a scenario that arrive can be divided. */
export function divisionOf(loaded: LoadedScenario): Division {
  const { reachable } = loaded.device;
  const shared = SHARED.find(([bit]) => (reachable & bit) !== 0);
  if (shared !== undefined) return { by: "never", why: shared[1] };
  if (!loaded.sumsAlone) return { by: "never", why: "queues of the scenario read what arrives" };
  const remembers = (reachable & (REACHABLE_FLAG | REACHABLE_CONNECTION)) !== 0;
  const decrypts = (reachable & REACHABLE_ESP) !== 0;
  if (remembers && decrypts) return { by: "never", why: "frames reach both ESP and connections or first-hit flags" };
  if (remembers) return apart("connections", connectionsApart(loaded.scenario));
  return decrypts ? apart("associations", associationsApart(loaded.scenario)) : { by: "anyhow" };
}

function apart(by: "connections" | "associations", why: string | null): Division {
  return why === null ? { by } : { by: "never", why };
}
