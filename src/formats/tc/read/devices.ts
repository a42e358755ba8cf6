/** Network devices: which port of the device each one is, and which ones are tunnels. */
import { UDP_PORTS } from "../../../headers/announcers.js";
import { type Draft, type Endpoint, isEndpoint, NO_ENDPOINT } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import { notImported, type Place, type Word } from "../../text/refusal.js";

export type TunnelKind = "vxlan" | "geneve" | "gre";

export interface Tunnel {
  readonly kind: TunnelKind;
  /** Its UDP port; 0 of GRE. */
  readonly port: number;
  /** Whether only its name says so, and it may have another port. */
  readonly isAssumed?: boolean;
  /** The network that it is for alone. */
  readonly key?: number;
}

/** What a name of a device stands for. */
export type NetDevice =
  { readonly name: string; readonly endpoint: Endpoint } | { readonly name: string; readonly tunnel: Tunnel };

const TUNNEL_NAMES: readonly (readonly [RegExp, TunnelKind])[] = [
  [/^\$?\{?vx(?:lan)?(?:_sys_(\d+))?/i, "vxlan"],
  [/^\$?\{?gen(?:eve|ev)?(?:_sys_(\d+))?/i, "geneve"],
  [/^\$?\{?gre(?:tap)?/i, "gre"],
];
const VF_NAMES = [/pf\d+vf(\d+)$/i, /^[a-z][a-z\d]*_(\d+)$/i, /^\$?\{?(?:vf|rep|vfr|vf_?rep)_?(\d+)\}?$/i];
const PF_NAME = /pf\d+hpf$/i;
const UNNUMBERED = /rep|vf|^\$\{?vm/i;
const PHYSICAL =
  /^(?:eth\d+|en[a-z\d]+|p\d+(?:p\d+)?|swp\d+|mlx\w*|bond\d*|uplink|ib\d+|\$\{?(?:nic|uplink|pf|phy|dev|eth|if(?:ace|name)?|interface|wan|lan|swp|h)\w*\}?)$/i;

/** How the tunnel devices of a kind are told apart from other frames, and where their network is. */
export const TUNNEL_FIELDS: Readonly<Record<TunnelKind, string>> = {
  vxlan: "misc.vxlan_vni",
  geneve: "misc.geneve_vni",
  gre: "misc.gre_key",
};

/** The driver registers the port of a VXLAN device. @throws NotImported the device cannot read VXLAN there */
function register(draft: Draft, findings: Findings, word: Word, port: number): void {
  if (draft.vxlanPorts.includes(port)) return;
  const refused = draft.registerVxlan(port);
  if (refused !== null) notImported(word, refused);
  findings.explain(word.place, word.text, `UDP port ${port} is registered for VXLAN`);
}

/** The port at which filters of a tunnel device expect or send it. @throws NotImported the device does not know it there */
export function checkPort(
  draft: Draft,
  findings: Findings,
  word: Word,
  { kind, ...tunnel }: Tunnel,
  port: number,
): void {
  const known = UDP_PORTS[kind] ?? 0;
  if (kind !== "vxlan" && port !== known)
    notImported(word, `the device knows ${kind} at UDP port ${known}, not ${port}`);
  if (kind !== "vxlan") return;
  if (tunnel.isAssumed === true) register(draft, findings, word, port);
  else if (!draft.vxlanPorts.includes(port))
    notImported(word, `the driver accepts registered UDP ports only; that of the device is ${tunnel.port}`);
}

/** `vxlan_port` of drivers/net/vxlan/vxlan_core.c. */
const LINUX_VXLAN = 8472;

export class Devices {
  readonly #known = new Map<string, NetDevice>();
  readonly #tunnels = new Map<string, Tunnel>();
  #ports = 0;
  #vport = 0;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {}

  /** The port of a VXLAN device without one. */
  linuxPort(name: Word): number {
    this.findings.assume(name.place, name.text, `it has no dstport: that of Linux is ${LINUX_VXLAN}`);
    return LINUX_VXLAN;
  }

  /** Notes what `ip link add NAME type KIND` or `ip -d link` says. */
  declare(place: Place, name: string, tunnel: Tunnel): void {
    this.#tunnels.set(name, tunnel);
    if (tunnel.kind === "vxlan") register(this.draft, this.findings, { text: name, place }, tunnel.port);
  }

  /** @throws NotImported nothing says which port it is */
  of(word: Word): NetDevice {
    const name = word.text;
    const known = this.#known.get(name) ?? this.#find(word);
    this.#known.set(name, known);
    return known;
  }

  /** A device that is a port. @throws NotImported */
  portOf(word: Word): Endpoint {
    const device = this.of(word);
    return "endpoint" in device ? device.endpoint : notImported(word, `${word.text} is a tunnel, not a port`);
  }

  #find(word: Word): NetDevice {
    const name = word.text;
    const mapped = this.draft.mapped(name);
    if (mapped !== undefined) return { name, endpoint: this.draft.endpoint(mapped) };
    const declared = this.#tunnels.get(name);
    if (declared !== undefined) return { name, tunnel: declared };
    const tunnel = this.#tunnelNamed(word);
    if (tunnel !== undefined) return { name, tunnel };
    const vport = this.#vportNamed(name);
    if (vport !== undefined) {
      if (!isEndpoint({ vport })) notImported(word, `${NO_ENDPOINT}; --map says what ${name} is`);
      const is = vport === 0 ? "the PF" : `vport ${vport}, the VF "vf${vport}"`;
      this.findings.assume(word.place, name, `taken for ${is} by its name; --map ${name}=... overrides this`);
      this.#vport = Math.max(this.#vport, vport);
      return { name, endpoint: this.draft.endpoint({ vport }) };
    }
    if (!PHYSICAL.test(name)) notImported(word, `unknown port: --map ${name}=uplink, or =vf1`);
    const port = this.#ports + 1;
    if (!isEndpoint({ port })) notImported(word, `${NO_ENDPOINT}; --map says what ${name} is`);
    this.#ports = port;
    const is = port === 1 ? "the uplink" : `port ${port} of the device`;
    this.findings.assume(word.place, name, `taken for ${is} by its name; --map ${name}=... overrides this`);
    return { name, endpoint: this.draft.endpoint({ port }) };
  }

  #tunnelNamed(word: Word): Tunnel | undefined {
    for (const [pattern, kind] of TUNNEL_NAMES) {
      const found = pattern.exec(word.text);
      if (found === null) continue;
      const isAssumed = found[1] === undefined;
      const port = isAssumed ? (UDP_PORTS[kind] ?? 0) : Number(found[1]);
      const what = kind === "gre" ? "gre" : `${kind} at UDP port ${port}`;
      this.findings.assume(word.place, word.text, `taken for a tunnel device by its name: ${what}`);
      if (kind === "vxlan") register(this.draft, this.findings, word, port);
      return { kind, port, isAssumed };
    }
    return undefined;
  }

  #vportNamed(name: string): number | undefined {
    if (PF_NAME.test(name)) return 0;
    for (const pattern of VF_NAMES) {
      const [, digits] = pattern.exec(name) ?? [];
      if (digits !== undefined) return Number(digits) + 1;
    }
    return UNNUMBERED.test(name) ? this.#vport + 1 : undefined;
  }
}
