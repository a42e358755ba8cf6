/**
 * The directions of a domain. A rule of the eSwitch becomes one rule for frames from the wire and
 * one for frames from vports, where its actions differ.
 */
import { VPORT_UPLINK } from "../../abi/engine.js";
import { EXT_DIRECTION, MISC_SOURCE_PORT, DIRECTION_VPORT, DIRECTION_WIRE } from "../../abi/key.js";
import type { DomainType } from "../base/domainType.js";

export type DirectionName = "nicReceived" | "nicSent" | "fdbReceived" | "fdbSent";

export interface Direction {
  readonly name: DirectionName;
  /** Whether actions run in the receive order. */
  readonly receives: boolean;
  /** The value of `ext.direction` in its frames; 0 where the domain has one direction. */
  readonly key: number;
}

const WIRE: Direction = { name: "fdbReceived", receives: true, key: DIRECTION_WIRE };
const FUNCTION: Direction = { name: "fdbSent", receives: false, key: DIRECTION_VPORT };
const RECEIVED: readonly Direction[] = [{ name: "nicReceived", receives: true, key: 0 }];
const SENT: readonly Direction[] = [{ name: "nicSent", receives: false, key: 0 }];
const BOTH: readonly Direction[] = [WIRE, FUNCTION];
const WIRE_ALONE: readonly Direction[] = [WIRE];
const FUNCTION_ALONE: readonly Direction[] = [FUNCTION];

/** All directions of a domain. */
export function allDirections(type: DomainType): readonly Direction[] {
  if (type === "fdb") return BOTH;
  return type === "nic_rx" ? RECEIVED : SENT;
}

/**
 * The directions that a rule with this mask and value can match: one where a whole `source_port`
 * names the origin.
 */
export function directionsOf(type: DomainType, mask: Uint8Array, value: Uint8Array): readonly Direction[] {
  if (type !== "fdb") return allDirections(type);
  if (word(mask, MISC_SOURCE_PORT) === 0xffff) {
    return word(value, MISC_SOURCE_PORT) === VPORT_UPLINK ? WIRE_ALONE : FUNCTION_ALONE;
  }
  const asked = mask[EXT_DIRECTION] ?? 0;
  if (asked === 0) return BOTH;
  const wire = (DIRECTION_WIRE & asked) === value[EXT_DIRECTION];
  const sent = (DIRECTION_VPORT & asked) === value[EXT_DIRECTION];
  if (wire && sent) return BOTH;
  return wire ? WIRE_ALONE : FUNCTION_ALONE;
}

function word(key: Uint8Array, at: number): number {
  return ((key[at] ?? 0) << 8) | (key[at + 1] ?? 0);
}
