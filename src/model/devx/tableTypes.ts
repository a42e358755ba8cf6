/** Types of flow tables as device commands number them. */
import { TABLE_FDB as FDB_FLAGS, TABLE_SEND } from "../../abi/engine.js";
import type { DomainType } from "../table/domainType.js";
import type { Command } from "./command.js";
import { TABLE_FDB, TABLE_NIC_RX, TABLE_NIC_TX } from "./opcodes.js";

const DOMAIN_TYPES: ReadonlyMap<number, DomainType> = new Map([
  [TABLE_NIC_RX, "nic_rx"],
  [TABLE_NIC_TX, "nic_tx"],
  [TABLE_FDB, "fdb"],
]);

/** Flags of a table in the core. */
export const CORE_FLAGS: Readonly<Record<DomainType, number>> = { nic_rx: 0, nic_tx: TABLE_SEND, fdb: FDB_FLAGS };

/** Which domain a table of this type is like; the eSwitch is for its manager alone. */
export function domainTypeOf(command: Command, type: number): DomainType {
  const domainType = DOMAIN_TYPES.get(type);
  if (domainType === undefined) return command.fail("unsupported", "table_type", type, "NIC_RX 0, NIC_TX 1 or FDB 4");
  if (domainType === "fdb" && !command.context.function.managesSwitch) command.fail("not_manager", "table_type", type);
  return domainType;
}
