/** What `ovs-vsctl` is told of ports, and what `ovs-vsctl show` prints of them. */
import type { Piece } from "../text.js";
import type { Interface, Interfaces } from "./interfaces.js";

/** What deletes a bridge. */
type Forget = (bridge: string) => void;

/** `ovs-vsctl add-port BRIDGE NAME -- set interface NAME type=vxlan options:remote_ip=...`. */
export function configure(words: readonly Piece[], interfaces: Interfaces, forget: Forget): void {
  let one: Interface | undefined;
  for (const [n, word] of words.entries()) {
    const text = word.unquoted();
    const next = words[n + 1];
    const third = words[n + 2];
    if (text === "add-port" && next !== undefined && third !== undefined) {
      one = interfaces.named(third.unquoted(), third.place);
      one.bridge = next.unquoted();
    } else if (text === "set" && next?.text.toLowerCase() === "interface" && third !== undefined) {
      one = interfaces.named(third.unquoted(), third.place);
    } else if (text === "del-br" && next !== undefined) {
      interfaces.removeBridge(next.unquoted());
      forget(next.unquoted());
    } else if (text === "del-port" && next !== undefined) interfaces.remove((third ?? next).unquoted());
    const [, key = "", value = ""] = /^([\w:-]+)=(.*)$/.exec(text) ?? [];
    if (one === undefined || key === "") continue;
    const plain = value.replace(/^(["'])(.*)\1$/, "$2");
    if (key === "type") one.type = plain;
    else if (key === "ofport_request" || key === "ofport") interfaces.number(one, plain);
    else if (key.startsWith("options:")) one.options.set(key.slice(8), plain);
    else if (key === "options") setOptions(one, plain);
  }
}

function setOptions(one: Interface, text: string): void {
  for (const [, option = "", to = ""] of text.matchAll(/(?<![\w-])([\w-]+)=("[^"]*"|[^,{}]*)/g))
    one.options.set(option, to.replaceAll('"', "").trim());
}

const SHOWN = /^(?:(Bridge|Port|Interface) "?([^\s"]+)"?|(type|options): (.*))$/;

/** Whether a line is one of `ovs-vsctl show` that says something of ports. */
export function isShown(text: string): boolean {
  return SHOWN.test(text) && !/^(?:type|options): [^\w{"]/.test(text);
}

/** Reads the lines of `ovs-vsctl show`. */
export class Listing {
  #bridge: string | undefined;
  #one: Interface | undefined;

  constructor(private readonly interfaces: Interfaces) {}

  /** @returns whether it is a line of `ovs-vsctl show` */
  add(piece: Piece): boolean {
    const [whole, kind, name = "", key, value = ""] = SHOWN.exec(piece.text) ?? [];
    if (whole === undefined) return false;
    if (kind === "Bridge") {
      this.#bridge = name;
      this.#one = undefined;
    } else if (kind === "Interface") {
      this.#one = this.interfaces.named(name, piece.place);
      if (this.#bridge !== undefined) this.#one.bridge = this.#bridge;
    } else if (this.#one !== undefined && key === "type") this.#one.type = value.replaceAll('"', "");
    else if (this.#one !== undefined && key === "options") setOptions(this.#one, value);
    return true;
  }
}
