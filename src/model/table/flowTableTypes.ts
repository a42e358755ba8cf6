/** The types of tables that hold flows (`enum mlx5dv_flow_table_type`). */
import type { DomainType } from "../base/domainType.js";
import type { FlowStage } from "./pipeline.js";

export interface FlowTableType {
  readonly name: string;
  readonly stage: FlowStage;
  /** The domain whose frames it gets and whose fields it can match. */
  readonly domainType: DomainType;
  /** Whether it is for RoCE only; flow actions are then refused. */
  readonly rdma: boolean;
  /** Whether it belongs to one port, which its matchers name. */
  readonly transport: boolean;
}

const type = (
  name: string,
  stage: FlowStage,
  domainType: DomainType,
  rdma = false,
  transport = false,
): FlowTableType => ({ name, stage, domainType, rdma, transport });

/** The types, by number. */
export const FLOW_TABLE_TYPES: readonly FlowTableType[] = [
  type("NIC_RX", "root", "nic_rx"),
  type("NIC_TX", "egress", "nic_tx"),
  type("FDB", "fdb", "fdb"),
  type("RDMA_RX", "rdmaRx", "nic_rx", true),
  type("RDMA_TX", "rdmaTx", "nic_tx", true),
  type("RDMA_TRANSPORT_RX", "rdmaTransportRx", "nic_rx", true, true),
  type("RDMA_TRANSPORT_TX", "rdmaTransportTx", "nic_tx", true, true),
];
