/** Addresses of wires and of the control: numbers and ports, on this machine unless the caller says otherwise. */
import { isIPv4, isIPv6 } from "node:net";
import { badUsage } from "../refusal.js";

export interface Endpoint {
  /** An IPv4 or IPv6 address. */
  readonly host: string;
  readonly port: number;
}

const MAX_PORT = 65_535;
const ENDPOINT = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})/;

/**
 * Reads `HOST:PORT` or `[HOST]:PORT` at the start of a text.
 * @param beyond the option that allows other addresses than those of this machine
 * @returns it and the rest of the text
 */
export function endpointAt(
  option: string,
  text: string,
  beyondLoopback: boolean,
  beyond = "--beyond-loopback",
): [Endpoint, rest: string] {
  const [all = "", six, four = "", digits = ""] = ENDPOINT.exec(text) ?? [];
  if (all === "")
    throw badUsage(
      option,
      `expected an address and a port, such as 127.0.0.1:10001 or [::1]:10001, not ${JSON.stringify(text)}`,
    );
  const named = six ?? four;
  const host = named === "localhost" ? "127.0.0.1" : named;
  if (!isIPv4(host) && !isIPv6(host)) throw badUsage(option, `${host} is not an IP address; write 127.0.0.1 or [::1]`);
  const port = Number(digits);
  if (port > MAX_PORT) throw badUsage(option, `port ${digits}: 0 to ${MAX_PORT}`);
  if (!beyondLoopback && !isLoopback(host))
    throw badUsage(option, `${host} is not a loopback address; use 127.0.0.1 or [::1], or allow it with ${beyond}`);
  return [{ host, port }, text.slice(all.length)];
}

export function isLoopback(host: string): boolean {
  return host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

export function hostPort({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
