/** Ports of the datapath that are tunnels: their names, or the flows by them, say of which type. */
import { UDP_PORTS } from "../../../../headers/announcers.js";
import type { HeaderName } from "../../../../headers/record.js";
import { TUNNEL_TYPES } from "../bridge/ports.js";
import type { Interface, Interfaces } from "../bridge/interfaces.js";
import type { Act, Flow } from "../steps.js";

/** Names that Open vSwitch gives the ports of all tunnels of a type. */
const SYSTEM = /^(vxlan|genev|gre|ip6gre|erspan|ip6erspan|gtpu|bareudp|stt|lisp)_sys(?:_(\d+))?$/;

/** The port of VXLAN devices of Linux that were given none. */
const LINUX_VXLAN = 8472;

function typeAt(port: number): string | undefined {
  if (port === LINUX_VXLAN) return "vxlan";
  return TUNNEL_TYPES.find((type) => UDP_PORTS[type as HeaderName] === port);
}

/** A port of all tunnels of a type: flows say their keys and addresses. */
export function makeTunnel(one: Interface, type: string): void {
  one.type = type;
  // GRE has a key where a flow says one.
  if (!one.options.has("key")) one.options.set("key", type === "gre" ? "optional" : "flow");
}

/** Makes ports tunnels that have the name of one, where the text says nothing else of them. */
export function nameSystemPorts({ match, acts }: Flow, interfaces: Interfaces): void {
  for (const port of [match.inPort ?? "", ...outputsOf(acts)]) {
    const [, name, number] = SYSTEM.exec(port) ?? [];
    if (name === undefined || interfaces.get(port) !== undefined) continue;
    const one = interfaces.named(port, { line: 1, column: 1 });
    makeTunnel(one, name === "genev" ? "geneve" : name);
    if (number !== undefined) one.options.set("dst_port", number);
  }
}

function outputsOf(acts: readonly Act[]): string[] {
  return acts.flatMap((one) => {
    if (one.kind === "output" || one.kind === "tunnel_pop") return [one.port];
    return one.kind === "clones" ? one.lists.flatMap(outputsOf) : [];
  });
}

/** Names the tunnel port that a flow's frames come by, if the text does not. @returns its type, where that was open */
export function inferTunnel({ match }: Flow, interfaces: Interfaces): string | undefined {
  const { inPort, tunnel } = match;
  if (inPort === undefined) return undefined;
  const isNew = interfaces.get(inPort) === undefined && !interfaces.hasNumber(inPort);
  const { tp_dst: udp } = tunnel;
  const hasOption = Object.keys(tunnel).some((key) => key.startsWith("option "));
  const type = hasOption ? "geneve" : udp?.mask === 0xffffffffffffffffn ? typeAt(Number(udp.value)) : undefined;
  if (type === undefined || !isNew) return undefined;
  const one = interfaces.named(inPort, { line: 1, column: 1 });
  makeTunnel(one, type);
  if (udp !== undefined && Number(udp.value) === LINUX_VXLAN) one.options.set("dst_port", String(LINUX_VXLAN));
  return type;
}
