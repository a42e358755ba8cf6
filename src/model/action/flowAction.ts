/**
 * Flow actions (IBV_FLOW_SPEC_ACTION_HANDLE, ibv_create_flow(3)): modify header and packet reformat
 * for flows, with the records of direct rules.
 */
import { Op } from "../../abi/engine.js";
import { L2_TO_L3_TUNNEL, L2_TUNNEL_TO_L2 } from "../../abi/reformat.js";
import { createRecord, releaseRecord } from "../../engine/records.js";
import { refuse } from "../../errors.js";
import { Context } from "../base/context.js";
import { DOMAIN_TYPES, type DomainType } from "../base/domainType.js";
import { unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";
import type { HeaderCheck } from "../profile/profile.js";
import type { Refusals } from "../profile/refusals.js";
import { programOfWords, wordsOf, type ModifyActions } from "./modifyHeader.js";
import { encapsulates, reformatData, reformatRecord } from "./reformat.js";

/** The step of an action in the execution order. */
export type FlowActionStep = "decrypt" | "decap" | "modify" | "encap" | "encrypt";

/** Groups of flow actions. */
export type FlowActionKind = "ESP" | "modify header" | "packet reformat" | "L2_TUNNEL_TO_L2";

/** Types of flow tables (`enum mlx5dv_flow_table_type`): the domains, then those of RDMA. */
const LAST_TYPE = 6;

export abstract class FlowAction extends Handle {
  readonly context: Context;
  /** The direction of the flows that may use it; "fdb" for the eSwitch. */
  readonly domainType: DomainType;
  readonly step: FlowActionStep;
  readonly op: Op;
  /** The number that stands for it in C bytes, where C has a pointer. */
  readonly handle: number;
  /** Its record in the core. */
  readonly operand: number;
  private readonly _bytes: number;

  protected constructor(
    context: Context,
    domainType: DomainType,
    does: { readonly name: string; readonly step: FlowActionStep; readonly op: Op },
    record: Uint8Array,
  ) {
    const { device } = context;
    const operand = device.allocated(createRecord(device.core, record));
    super(device, `${does.name}${device.nextNumber(does.name)}`);
    this.context = context;
    this.domainType = domainType;
    this.step = does.step;
    this.op = does.op;
    this.operand = operand;
    this._bytes = record.length;
    this.handle = device.named.add(this);
    context.users++;
  }

  /** Its group: a device runs one action of a group in a flow. */
  abstract get kind(): FlowActionKind;

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    retire("action", this, "destroy the flows that use it first");
    const { device } = this;
    this.discard();
    releaseRecord(device.core, this.operand, this._bytes);
    device.named.remove(this);
    this.context.users--;
  }

  /** Releases what it owns in the core besides its record, which still exists. */
  protected discard(): void {
    // Most actions own only their record.
  }
}

/** SET, ADD, COPY (docs/rules.md, "Modify header"). */
export class ModifyHeaderAction extends FlowAction {
  /** The words of its changes, as the device takes them. */
  readonly words: Uint8Array;

  private constructor(context: Context, domainType: DomainType, program: Uint8Array, words: DataView) {
    super(context, domainType, { name: "modify_header", step: "modify", op: Op.modify }, program);
    this.words = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  }

  /** @internal `actions_sz` counts bytes; undefined means all of them. @throws EINVAL, EOPNOTSUPP, ENOMEM */
  static create(
    context: Context,
    actions_sz: number | undefined,
    actions: ModifyActions,
    ft_type: number,
  ): ModifyHeaderAction {
    const { refuses, domainType } = settingOf(context, ft_type);
    const words = wordsOf(actions, actions_sz);
    const program = programOfWords({ domainType, refuses, rootLevel: true }, words);
    return new ModifyHeaderAction(context, domainType, program, words);
  }

  get kind(): FlowActionKind {
    return "modify header";
  }
}

/** Encapsulation, decapsulation (docs/rules.md, "Packet reformat"). */
export class PacketReformatAction extends FlowAction {
  /** `enum mlx5dv_flow_action_packet_reformat_type` */
  readonly reformatType: number;

  private constructor(context: Context, domainType: DomainType, type: number, record: Uint8Array) {
    const step = encapsulates(type) ? "encap" : "decap";
    super(context, domainType, { name: "packet_reformat", step, op: Op.reformat }, record);
    this.reformatType = type;
  }

  /** @internal `data_sz` undefined means all of `data`. @throws EINVAL, EOPNOTSUPP, ENOMEM */
  static create(
    context: Context,
    data_sz: number | undefined,
    data: Uint8Array | null | undefined,
    type: number,
    ft_type: number,
  ): PacketReformatAction {
    const { refuses, domainType } = settingOf(context, ft_type);
    const bytes = reformatData(data, data_sz);
    checkDirection(refuses, domainType, unsigned("reformat_type", type, 32));
    const setting = { domainType, refuses: {}, rootLevel: true };
    const record = reformatRecord(setting, type, bytes, bytes.length);
    return new PacketReformatAction(context, domainType, type, record);
  }

  /** A decapsulation without new headers is a step of its own in the device. */
  get kind(): FlowActionKind {
    return this.reformatType === L2_TUNNEL_TO_L2 ? "L2_TUNNEL_TO_L2" : "packet reformat";
  }
}

function settingOf(context: Context, ft_type: number): { refuses: Refusals<HeaderCheck>; domainType: DomainType } {
  const { device } = living("ctx", context, Context);
  const domainType = DOMAIN_TYPES[unsigned("ft_type", ft_type, 32)];
  if (domainType !== undefined) return { domainType, refuses: device.profile.rules.root.headers };
  const hint = "MLX5DV_FLOW_TABLE_TYPE_NIC_RX, _NIC_TX or _FDB";
  const known = ft_type <= LAST_TYPE;
  return refuse({
    code: known ? "EOPNOTSUPP" : "EINVAL",
    reason: known ? "unsupported" : "out_of_range",
    path: "ft_type",
    value: ft_type,
    hint,
  });
}

/** Received frames are decapsulated, sent frames encapsulated. */
function checkDirection(
  { flowReformatDirection: code }: Refusals<HeaderCheck>,
  domainType: DomainType,
  type: number,
): void {
  if (code === undefined) return;
  if (type <= L2_TO_L3_TUNNEL && domainType === (encapsulates(type) ? "nic_tx" : "nic_rx")) return;
  const hint = "NIC_RX decapsulates (0, 2), NIC_TX encapsulates (1, 3)";
  refuse({ code, reason: "unsupported", path: "reformat_type", value: type, hint });
}
