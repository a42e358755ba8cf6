/** Types of flow tables as device commands number them. */
import { TABLE_FDB as FDB_FLAG, TABLE_LOOPED, TABLE_ROOT, TABLE_SEND, TABLE_TO_STAGE } from "../../abi/engine.js";
import type { FlowStage } from "../table/pipeline.js";
import type { DomainType } from "../base/domainType.js";
import type { Command } from "./command.js";
import * as types from "./opcodes.js";

export interface DeviceTableType {
  readonly number: number;
  /** The domain whose frames it gets and whose actions it has. */
  readonly domainType: DomainType;
  /** The stage of an RDMA type, where its frames come from and after which they go on; else null. */
  readonly stage: FlowStage | null;
  /** Flags of a table in the core. */
  readonly flags: number;
}

const RDMA_RX_FLAGS = TABLE_ROOT | TABLE_LOOPED;
const RDMA_TX_FLAGS = TABLE_ROOT | TABLE_SEND;

const TYPES: ReadonlyMap<number, DeviceTableType> = new Map(
  (
    [
      [types.TABLE_NIC_RX, "nic_rx", null, 0],
      [types.TABLE_NIC_TX, "nic_tx", null, TABLE_SEND],
      [types.TABLE_FDB, "fdb", null, FDB_FLAG],
      [types.TABLE_RDMA_RX, "nic_rx", "rdmaRx", RDMA_RX_FLAGS],
      [types.TABLE_RDMA_TX, "nic_tx", "rdmaTx", RDMA_TX_FLAGS],
      [types.TABLE_RDMA_TRANSPORT_RX, "nic_rx", "rdmaTransportRx", RDMA_RX_FLAGS],
      [types.TABLE_RDMA_TRANSPORT_TX, "nic_tx", "rdmaTransportTx", RDMA_TX_FLAGS],
    ] as const
  ).map(([number, domainType, stage, flags]) => [number, { number, domainType, stage, flags }]),
);

/** The flags of a table of the core; `missTable`: its unmatched frames go to another flow table. */
export function coreFlags({ stage, flags }: DeviceTableType, missTable: boolean): number {
  return stage === null || missTable ? flags : flags | TABLE_TO_STAGE;
}

/** The type with this number; the eSwitch is for its manager alone. */
export function tableTypeOf(command: Command, number: number): DeviceTableType {
  const type = TYPES.get(number);
  if (type === undefined) {
    const hint = [...TYPES.keys()].map((one) => `0x${one.toString(16)}`).join(", ");
    return command.fail("unsupported", "table_type", number, hint);
  }
  if (type.domainType === "fdb" && !command.context.function.managesSwitch) {
    command.fail("not_manager", "table_type", number);
  }
  return type;
}
