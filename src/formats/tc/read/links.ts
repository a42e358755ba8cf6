/** VXLAN devices in what `ip -d link` prints. */
import type { Word } from "../../text/refusal.js";
import type { Tunnel } from "./devices.js";

/** `5: vxlan0@eth0: <BROADCAST,MULTICAST,UP> mtu ...`. */
const LINK = /^\d+: ([^\s:@]+)(?:@[^\s:]+)?: </;
/** `link/ether 02:00:00:00:00:01 brd ...`, `altname ...`. */
const MORE = /^(?:link\/\w+|altname) /;
const VXLAN = /^vxlan\b.*\sdstport (\d{1,5})\b/;
const KEY = /\sid (\d{1,8})\s/;

export class Links {
  #name: Word | undefined;

  constructor(private readonly declare: (name: Word, tunnel: Tunnel) => void) {}

  /** @returns whether it is a line of `ip -d link` */
  add({ text, place }: Word): boolean {
    const [head, name = ""] = LINK.exec(text) ?? [];
    if (head !== undefined) {
      const column = place.column + head.indexOf(name);
      this.#name = { text: name, place: { ...place, column } };
      return true;
    }
    if (this.#name === undefined) return false;
    const [, port] = VXLAN.exec(text) ?? [];
    if (port === undefined) return MORE.test(text);
    const key = Number(KEY.exec(text)?.[1] ?? 0);
    const isExternal = key === 0 || /\sexternal\s/.test(text);
    const { text: of } = this.#name;
    this.declare({ text: of, place }, { kind: "vxlan", port: Number(port), ...(isExternal ? {} : { key }) });
    return true;
  }
}
