/** The sides of a domain: a rule of the eSwitch is one for frames from the wire and one for frames from functions. */
import { VPORT_UPLINK } from "../../abi/engine.js";
import { EXT_SIDE, MISC_SOURCE_PORT, SIDE_FUNCTION, SIDE_WIRE } from "../../abi/key.js";
import type { OrderSide } from "../action/order.js";
import type { DomainType } from "./domainType.js";

export interface Side {
  readonly name: OrderSide;
  /** Whether actions run in the order of what is received. */
  readonly receives: boolean;
  /** `ext.side` of its frames; 0 where the domain has one side. */
  readonly key: number;
}

const WIRE: Side = { name: "fdbReceived", receives: true, key: SIDE_WIRE };
const FUNCTION: Side = { name: "fdbSent", receives: false, key: SIDE_FUNCTION };
const RECEIVED: readonly Side[] = [{ name: "nicReceived", receives: true, key: 0 }];
const SENT: readonly Side[] = [{ name: "nicSent", receives: false, key: 0 }];
const BOTH: readonly Side[] = [WIRE, FUNCTION];
const WIRE_ALONE: readonly Side[] = [WIRE];
const FUNCTION_ALONE: readonly Side[] = [FUNCTION];

/** All sides of a domain. */
export function allSides(type: DomainType): readonly Side[] {
  if (type === "fdb") return BOTH;
  return type === "nic_rx" ? RECEIVED : SENT;
}

/** The sides that a rule with this mask and value is for: one where it says by a whole `source_port` where frames come from. */
export function sidesOf(type: DomainType, mask: Uint8Array, value: Uint8Array): readonly Side[] {
  if (type !== "fdb") return allSides(type);
  if (word(mask, MISC_SOURCE_PORT) === 0xffff) {
    return word(value, MISC_SOURCE_PORT) === VPORT_UPLINK ? WIRE_ALONE : FUNCTION_ALONE;
  }
  const asked = mask[EXT_SIDE] ?? 0;
  if (asked === 0) return BOTH;
  const wire = (SIDE_WIRE & asked) === value[EXT_SIDE];
  const sent = (SIDE_FUNCTION & asked) === value[EXT_SIDE];
  if (wire && sent) return BOTH;
  return wire ? WIRE_ALONE : FUNCTION_ALONE;
}

function word(key: Uint8Array, at: number): number {
  return ((key[at] ?? 0) << 8) | (key[at + 1] ?? 0);
}
