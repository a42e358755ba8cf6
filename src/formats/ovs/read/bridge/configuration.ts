/** What `ovs-vsctl` is told of ports, and what `ovs-vsctl show` prints of them. */
import { namesHint } from "../../../../base/nearest.js";
import type { Findings } from "../../../reading/findings.js";
import type { Piece } from "../text.js";
import type { Interface, Interfaces } from "./interfaces.js";

/** What deletes a bridge. */
type Forget = (bridge: string) => void;

/** `ovs-vsctl add-port BRIDGE NAME -- set interface NAME type=vxlan options:remote_ip=...`. */
export function configure(words: readonly Piece[], interfaces: Interfaces, forget: Forget, findings: Findings): void {
  checkVerbs(words, findings);
  let one: Interface | undefined;
  for (const [n, word] of words.entries()) {
    const text = word.unquoted();
    const next = words[n + 1];
    const third = words[n + 2];
    if (text === "add-port" && next !== undefined && third !== undefined) {
      one = interfaces.named(third.unquoted(), third.place);
      interfaces.join(one, next.unquoted());
      one.isTyped = true;
    } else if (text === "set" && next !== undefined && isTable(next.text, "interface") && third !== undefined) {
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

/** The commands of ovs-vsctl, which `--` parts (ovs-vsctl(8)). */
const VERBS =
  "init show emer-reset add-br del-br list-br br-exists br-to-vlan br-to-parent br-set-external-id br-get-external-id add-port add-bond del-port list-ports port-to-br add-bond-iface del-bond-iface list-ifaces iface-to-br get-controller set-controller del-controller get-fail-mode set-fail-mode del-fail-mode get-manager set-manager del-manager get-ssl set-ssl del-ssl get-aa-mapping add-aa-mapping del-aa-mapping add-zone-tp del-zone-tp list-zone-tp get-dp-capabilities list-dp-capabilities list find get set add remove clear create destroy wait-until comment".split(
    " ",
  );
const TABLES =
  "interface bridge port open_vswitch flow_table qos queue mirror controller manager netflow ssl sflow ipfix flow_sample_collector_set ct_zone ct_timeout_policy datapath autoattach".split(
    " ",
  );

/** Names of tables may be cut. */
const isTable = (text: string, name: string): boolean =>
  text.length > 1 && name.startsWith(text.toLowerCase().replaceAll("-", "_"));

function checkVerbs(words: readonly Piece[], findings: Findings): void {
  let isFirst = true;
  for (const [n, word] of words.entries()) {
    const { text, place } = word;
    if (text === "--") isFirst = true;
    if (text.startsWith("-") || !isFirst) continue;
    isFirst = false;
    const table = words[n + 1]?.text;
    if (!VERBS.includes(text))
      findings.refuse(place, text, `ovs-vsctl has no command ${text}; ${namesHint(text, "commands", VERBS)}`);
    else if (text === "set" && table !== undefined && !TABLES.some((name) => isTable(table, name)))
      findings.refuse(place, `set ${table}`, `ovs-vsctl has no table ${table}; ${namesHint(table, "tables", TABLES)}`);
    else if (text === "create" && table !== undefined && isTable(table, "mirror"))
      findings.assume(
        place,
        `create ${table}`,
        "mirrors of a bridge are ignored: its flows decide what happens to frames",
      );
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
      this.#one.isTyped = true;
      if (this.#bridge !== undefined) this.interfaces.join(this.#one, this.#bridge);
    } else if (this.#one !== undefined && key === "type") this.#one.type = value.replaceAll('"', "");
    else if (this.#one !== undefined && key === "options") setOptions(this.#one, value);
    return true;
  }
}
