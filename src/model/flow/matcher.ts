/**
 * Flow matchers (mlx5dv_create_flow_matcher(3)): the mask, the table type and the priority of flows
 * in device bytes.
 */
import { EXT_PRESENT_TUNNEL, EXT_PORT, PRESENT_BTH } from "../../abi/key.js";
import { MLX5DV_FLOW_MATCHER_MASK_FT_TYPE, MLX5DV_FLOW_MATCHER_MASK_IB_PORT } from "../../abi/mlx5dv.js";
import { IBV_FLOW_ATTR_FLAGS_EGRESS, IBV_FLOW_ATTR_NORMAL } from "../../abi/verbs.js";
import { refuse, type Refusal } from "../../errors.js";
import { Context } from "../base/context.js";
import { DeviceMask, type LeftOut } from "../match/deviceMask.js";
import type { DeviceBytes } from "../match/parameterBytes.js";
import { fieldNamed, type Field } from "../match/fields.js";
import type { KeyBits } from "./specMatch.js";
import { FLOW_TABLE_TYPES, type FlowTableType } from "../table/flowTableTypes.js";
import { checkObject, rangeText, unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";
import type { MatchParameters } from "../match/match.js";
import { checkTakesRules, type MaskPlace } from "../match/matcherChecks.js";

/** `struct mlx5dv_flow_matcher_attr`; missing members are 0. */
export interface FlowMatcherAttr {
  type?: number | undefined;
  /** 0 or IBV_FLOW_ATTR_FLAGS_EGRESS. */
  flags?: number | undefined;
  /** 16 bits; the lower number wins. */
  priority?: number | undefined;
  match_criteria_enable?: number | undefined;
  match_mask?: MatchParameters | Uint8Array | null | undefined;
  /** MLX5DV_FLOW_MATCHER_MASK_* */
  comp_mask?: number | bigint | undefined;
  /** MLX5DV_FLOW_TABLE_TYPE_*, with the bit of `comp_mask`. */
  ft_type?: number | undefined;
  ib_port?: number | undefined;
}

const PAGE = "mlx5dv_create_flow_matcher(3)";

interface Setting {
  readonly context: Context;
  readonly priority: number;
  readonly criteria: number;
  readonly tableType: FlowTableType;
  /** 0 for all. */
  readonly port: number;
}

export class FlowMatcher extends Handle {
  readonly context: Context;
  readonly priority: number;
  readonly criteria: number;
  readonly tableType: FlowTableType;
  /** The port whose frames its flows match; 0 for all. */
  readonly port: number;
  private readonly _mask: DeviceMask;

  private constructor(setting: Setting, mask: DeviceMask) {
    const { device } = setting.context;
    super(device, `flow_matcher${device.nextNumber("flow_matcher")}`);
    this.context = setting.context;
    this.priority = setting.priority;
    this.criteria = setting.criteria;
    this.tableType = setting.tableType;
    this.port = setting.port;
    this._mask = mask;
    this.context.users++;
  }

  /**
   * @internal @throws EINVAL, EOPNOTSUPP a matcher that the kernel refuses, or a mask that the device cannot
   *   match
   */
  static create(context: Context, attr: FlowMatcherAttr): FlowMatcher {
    living("context", context, Context);
    checkObject("attr", attr);
    const setting = settingOf(context, attr);
    const place = placeOf(context, setting.tableType);
    return new FlowMatcher(
      setting,
      new DeviceMask("attr.match_mask", place, setting.criteria, attr.match_mask ?? null),
    );
  }

  /** The whole mask of its flows, presence included. */
  get mask(): Uint8Array {
    return this._mask.mask;
  }

  /** What it masks in groups that its criteria leave out; null if nothing. */
  get leftOut(): LeftOut | null {
    return this._mask.leftOut;
  }

  /**
   * Whether its flows match ESP of the outer packet after an IP header (ibv_flow_action_esp(3),
   * Inline Crypto Mode).
   */
  get asksForEsp(): boolean {
    const { mask } = this._mask;
    const asks = (name: string): boolean => {
      const { bit, width } = fieldNamed(name) as Field;
      for (let at = bit; at < bit + width; at++) if (((mask[at >> 3] ?? 0) & (0x80 >> (at & 7))) !== 0) return true;
      return false;
    };
    const any = (...names: string[]): boolean => names.some(asks);
    return (
      any("misc.outer_esp_spi", "ext.outer_esp_seq") && any("outer.ip_version", "outer.ethertype", "outer.ip_protocol")
    );
  }

  /** @internal @throws EINVAL, EOPNOTSUPP no flow of this matcher can be made */
  checkTakesFlows(): void {
    const { domainType, transport } = this.tableType;
    if (domainType === "fdb" && !this.context.function.managesSwitch) {
      const hint = "the PF manages the eSwitch";
      refuse({ code: "EOPNOTSUPP", reason: "root_only", path: "flow_matcher", value: this, hint });
    }
    const { lastPriority, inBytes } = this.device.profile.flows;
    if (transport && inBytes.transportPriority !== undefined && this.priority > lastPriority) {
      const hint = `0 to ${lastPriority}`;
      const code = inBytes.transportPriority;
      refuse({ code, reason: "out_of_range", path: "matcher.priority", value: this.priority, hint, cite: PAGE });
    }
    checkTakesRules(placeOf(this.context, this.tableType), this.priority, this.criteria);
  }

  /**
   * @internal The match of a flow with this value. @throws EINVAL bits outside the mask, another
   * `ip_version`, a bad size
   */
  matchOf(value: DeviceBytes): KeyBits {
    const bits = { mask: this._mask.mask.slice(), value: this._mask.keyOf("match_value", value).slice() };
    const { domainType, rdma } = this.tableType;
    if (this.port !== 0) {
      ask(bits, EXT_PORT, 0xff, this.port >> 8);
      ask(bits, EXT_PORT + 1, 0xff, this.port & 0xff);
    }
    if (rdma && domainType === "nic_rx") ask(bits, EXT_PRESENT_TUNNEL + 2, PRESENT_BTH >> 8, PRESENT_BTH >> 8);
    return bits;
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    retire("matcher", this, "destroy its flows first");
    this.context.users--;
  }
}

/** The masks and rules of flows are those of root tables. */
function placeOf({ device }: Context, { domainType }: FlowTableType): MaskPlace {
  return { device, isRoot: true, type: domainType };
}

/** Some more bits of a byte of the key. */
function ask({ mask, value }: KeyBits, at: number, bits: number, wanted: number): void {
  mask[at] = (mask[at] ?? 0) | bits;
  value[at] = (value[at] ?? 0) | wanted;
}

/** The table of a matcher's flows; undefined if `ft_type` is unknown. The other members may be illegal. */
export function flowTableOf({ comp_mask = 0, flags = 0, ft_type = 0 }: FlowMatcherAttr): FlowTableType | undefined {
  const isTyped = (Number(comp_mask) & MLX5DV_FLOW_MATCHER_MASK_FT_TYPE) !== 0;
  return FLOW_TABLE_TYPES[isTyped ? ft_type : flags === 0 ? 0 : 1];
}

/** The provider checks `comp_mask`, `type` and `ib_port`, the kernel the rest. */
function settingOf(context: Context, attr: FlowMatcherAttr): Setting {
  const number = (name: keyof FlowMatcherAttr, bits: number): number => unsigned(`attr.${name}`, attr[name] ?? 0, bits);
  const bad = (path: string, value: number, hint: string, code: Refusal["code"] = "EINVAL"): never =>
    refuse({
      code,
      reason: code === "EINVAL" ? "out_of_range" : "unsupported",
      path: `attr.${path}`,
      value,
      hint,
      cite: PAGE,
    });
  const comp_mask = number("comp_mask", 53);
  const type = number("type", 32);
  const flags = number("flags", 32);
  const ft_type = number("ft_type", 32);
  const ib_port = number("ib_port", 32);
  const typed = (comp_mask & MLX5DV_FLOW_MATCHER_MASK_FT_TYPE) !== 0;
  const named = (comp_mask & MLX5DV_FLOW_MATCHER_MASK_IB_PORT) !== 0;
  if (comp_mask > (MLX5DV_FLOW_MATCHER_MASK_FT_TYPE | MLX5DV_FLOW_MATCHER_MASK_IB_PORT))
    bad("comp_mask", comp_mask, "FT_TYPE 1, IB_PORT 2", "EOPNOTSUPP");
  if (type !== IBV_FLOW_ATTR_NORMAL) bad("type", type, "IBV_FLOW_ATTR_NORMAL", "EOPNOTSUPP");
  const tableType = flowTableOf({ comp_mask, flags, ft_type });
  const isTransport = typed && tableType?.transport === true;
  if (isTransport && !named) bad("comp_mask", comp_mask, "this type takes an ib_port, and its bit");
  if (!isTransport && named) {
    bad("comp_mask", comp_mask, "only RDMA_TRANSPORT types have an ib_port", "EOPNOTSUPP");
  }
  if (typed && flags !== 0) bad("flags", flags, "0 beside a type");
  if (flags !== 0 && flags !== IBV_FLOW_ATTR_FLAGS_EGRESS) bad("flags", flags, "IBV_FLOW_ATTR_FLAGS_EGRESS, or 0");
  if (tableType === undefined) return bad("ft_type", ft_type, `0 to ${FLOW_TABLE_TYPES.length - 1}`);
  const { ports } = context.device;
  if (named && (ib_port < 1 || ib_port > ports)) bad("ib_port", ib_port, rangeText(1, ports));
  return {
    context,
    priority: number("priority", 16),
    criteria: number("match_criteria_enable", 8),
    tableType,
    port: named ? ib_port : 0,
  };
}
