/** The Linux driver of the NIC: rules of ethtool. */

export interface EthtoolFacts {
  /** Whether the flow type is `ether`: no IP version, no ports. */
  readonly isEther: boolean;
  /** Fields that the rule compares: addresses, ports, protocol, EtherType, `vlan`, `dst-mac`. */
  readonly fields: number;
}

export interface KernelDriver {
  readonly name: string;
  /** Which table, in order of their lookups, has a rule of ethtool. */
  readonly ethtoolTable: (rule: EthtoolFacts) => number;
  readonly because: (rule: EthtoolFacts) => string;
  /** IP protocols whose connections it takes from the kernel. */
  readonly tracked: readonly number[];
}

/** Tables of rules of IP flow types, then those of `ether`. */
const IP_TABLES = 7;
const ETHER_TABLES = 4;

/** A flow type of IP counts as a field itself. */
function tuples({ isEther, fields }: EthtoolFacts): number {
  return isEther ? fields : fields + 1;
}

export const MLX5E: KernelDriver = {
  name: "mlx5e",
  tracked: [6, 17, 47],
  ethtoolTable: (rule) =>
    rule.isEther ? IP_TABLES + Math.max(0, ETHER_TABLES - tuples(rule)) : Math.max(0, IP_TABLES - tuples(rule)),
  because: (rule) =>
    `rules with more fields come first, those of ether last, whatever their loc: ${tuples(rule)} fields${rule.isEther ? " of ether" : ""}`,
};

/** The command by which the driver registers a UDP port for VXLAN. */
export function vxlanDevice(port: number | string): string {
  return `ip link add NAME type vxlan dstport ${port} external`;
}
