/** Address handles: the destination of datagrams, and the source GID and port. */
import { refuse } from "../../errors.js";
import { ProtectionDomain } from "../base/context.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { gidFrom, isIpv4Mapped, macFrom, macOfGid, type GidInput, type MacInput } from "../base/port/gids.js";
import { checkObject, flagOf, unsigned, embedded } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";
import { portOf, type Port } from "../base/port/ports.js";

/** `struct ibv_global_route` */
export interface GlobalRoute {
  dgid: GidInput;
  /** 20 bits. @default 0 */
  flow_label?: number | undefined;
  /** @default 0 */
  sgid_index?: number | undefined;
  /** @default 0 */
  hop_limit?: number | undefined;
  /** @default 0 */
  traffic_class?: number | undefined;
}

/**
 * `struct ibv_ah_attr`. `dlid`, `sl`, `src_path_bits` and `static_rate` are for InfiniBand links;
 * they are ignored.
 */
export interface AddressAttributes {
  grh: GlobalRoute;
  /** Must be 1: Ethernet ports always send a GRH. */
  is_global: number | boolean;
  port_num: number;
  dlid?: number | undefined;
  sl?: number | undefined;
  src_path_bits?: number | undefined;
  static_rate?: number | undefined;
  /**
   * MODEL: not a field of C. The MAC of the destination, which a kernel finds in its neighbour
   * table; here there is no such table. If left out, it is derived from a `dgid` that is a
   * multicast group or a link-local address made from a MAC.
   */
  dmac?: MacInput | undefined;
}

const NO_GID = "::";

/** The route of a datagram, as its headers carry it; addresses are bytes. */
export interface Route {
  readonly port: Port;
  readonly sgid: Uint8Array;
  readonly dgid: Uint8Array;
  readonly dmac: Uint8Array;
  readonly flowLabel: number;
  readonly hopLimit: number;
  readonly trafficClass: number;
}

/**
 * Checks the attributes and finds the route.
 * @param path the name of the attributes in errors
 * @throws EINVAL for an unknown port or GID, GIDs of different IP versions, or an unknown
 *   destination MAC
 */
export function routeOf(path: string, device: DeviceBase, attributes: AddressAttributes): Route {
  checkObject(path, attributes);
  const { is_global = 0, port_num = 0, dmac } = attributes as Partial<AddressAttributes>;
  if (!flagOf(`${path}.is_global`, is_global)) {
    const hint = "Ethernet ports need a GRH (IBV_QPF_GRH_REQUIRED): set is_global to 1";
    refuse({ code: "EINVAL", reason: "bad_route", path: `${path}.is_global`, value: is_global, hint });
  }
  const port = portOf(`${path}.port_num`, device, port_num);
  const grh = embedded(`${path}.grh`, attributes.grh);
  const { dgid: to = NO_GID, sgid_index = 0, flow_label = 0, hop_limit = 0, traffic_class = 0 } = grh;
  const sgid = port.gids[unsigned(`${path}.grh.sgid_index`, sgid_index, 8)];
  if (sgid === undefined) {
    const hint = `port ${port.number} has GIDs 0 to ${port.gids.length - 1}`;
    refuse({ code: "EINVAL", reason: "no_entry", path: `${path}.grh.sgid_index`, value: sgid_index, hint });
  }
  const dgid = gidFrom(`${path}.grh.dgid`, to);
  checkPair(`${path}.grh.dgid`, sgid, dgid, to);
  return {
    port,
    sgid,
    dgid,
    dmac: dmac === undefined ? derivedMac(path, dgid, to) : macFrom(`${path}.dmac`, dmac),
    flowLabel: unsigned(`${path}.grh.flow_label`, flow_label, 20),
    hopLimit: unsigned(`${path}.grh.hop_limit`, hop_limit, 8),
    trafficClass: unsigned(`${path}.grh.traffic_class`, traffic_class, 8),
  };
}

/** Refuses an all-zero destination, and a source and destination of different IP versions. */
function checkPair(path: string, sgid: Uint8Array, dgid: Uint8Array, value: unknown): void {
  if (dgid.every((byte) => byte === 0)) {
    const hint = "use the GID of the destination, not all zeros";
    refuse({ code: "EINVAL", reason: "bad_address", path, value, hint });
  }
  if (isIpv4Mapped(sgid) === isIpv4Mapped(dgid)) return;
  const hint = `the GID at sgid_index is ${isIpv4Mapped(sgid) ? "IPv4" : "IPv6"}: use GIDs of one IP version`;
  refuse({ code: "EINVAL", reason: "bad_route", path, value, hint });
}

function derivedMac(path: string, dgid: Uint8Array, value: unknown): Uint8Array {
  const mac = macOfGid(dgid);
  if (mac !== undefined) return mac;
  const hint = `use a multicast GID or a link-local EUI-64 GID, or set ${path}.dmac`;
  return refuse({ code: "EINVAL", reason: "no_mac", path: `${path}.grh.dgid`, value, hint });
}

export class AddressHandle extends Handle {
  readonly pd: ProtectionDomain;
  readonly route: Route;

  /** @internal */
  constructor(pd: ProtectionDomain, attributes: AddressAttributes) {
    const { device } = living("pd", pd, ProtectionDomain);
    const route = routeOf("attr", device, attributes);
    const { inventory } = device.hardware;
    inventory.checkRoom(device, "ah");
    super(device, `ah${device.nextNumber("ah")}`);
    this.pd = pd;
    this.route = route;
    inventory.add("ah");
    pd.users++;
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    retire("ah", this, "");
    this.device.hardware.inventory.remove("ah");
    this.pd.users--;
  }
}
