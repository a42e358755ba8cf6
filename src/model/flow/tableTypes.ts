/** Types of tables that flows stand in (`enum mlx5dv_flow_table_type`). */
import type { DomainType } from "../table/domainType.js";
import type { FlowStage } from "./entry.js";

export interface FlowTableType {
  readonly name: string;
  readonly stage: FlowStage;
  /** The domain whose frames and fields it has. */
  readonly domainType: DomainType;
  /** Whether it is for RoCE alone, and flow actions are not. */
  readonly rdma: boolean;
  /** Whether it is for one port, which its matchers name. */
  readonly transport: boolean;
}

const type = (
  name: string,
  stage: FlowStage,
  domainType: DomainType,
  rdma = false,
  transport = false,
): FlowTableType => ({ name, stage, domainType, rdma, transport });

/** By their numbers. */
export const FLOW_TABLE_TYPES: readonly FlowTableType[] = [
  type("NIC_RX", "root", "nic_rx"),
  type("NIC_TX", "egress", "nic_tx"),
  type("FDB", "fdb", "fdb"),
  type("RDMA_RX", "rdmaRx", "nic_rx", true),
  type("RDMA_TX", "rdmaTx", "nic_tx", true),
  type("RDMA_TRANSPORT_RX", "rdmaTransportRx", "nic_rx", true, true),
  type("RDMA_TRANSPORT_TX", "rdmaTransportTx", "nic_tx", true, true),
];
