/** `buildFrame` builds a frame from headers; `layersOf` gives the headers of a frame. */
import { inCall, refuse } from "../../errors.js";
import { checkArray } from "../../base/checks.js";
import { Draft } from "./draft.js";
import type { BuildOptions, Layer } from "./layers.js";
import { checkLayer } from "./values.js";
import { joined } from "../bytes.js";
import { layoutOf, type Look } from "../layout.js";
import { LEFTOVER, type FrameTree } from "../tree/types.js";

export type { BytesText } from "../bytes.js";
export type { BuildOptions, HeaderLayer, Layer, PayloadLayer, TrailerLayer } from "./layers.js";

const NO_BYTES: Uint8Array = new Uint8Array();

/** Frames up to this size are built without memory of their own. */
const ROOM: Uint8Array = new Uint8Array(16384);

/** Ethernet without its checksum (IEEE 802.3 clause 3.2.7). */
const MIN = 60;

/**
 * A frame from its headers, the first one outermost.
 *
 *     buildFrame([
 *       { header: "ethernet" },
 *       { header: "ipv4", source: "10.0.0.1", ttl: 3 },
 *       { header: "udp", destination_port: 53 },
 *       new Uint8Array(12),
 *     ]);
 *
 * Fields that a layer leaves out get the value of a correct frame: versions, lengths, checksums, and the type, protocol or port
 * that announces the next layer. Given values are used unchanged, even if they are wrong. Header and field names, and their order, are those
 * of docs/parsing.md and of `frameTree`; lengths are in the units of the field.
 *
 * @throws SteeringError EINVAL: no such header, field or option, a value that does not fit, or a field left out that does not
 * follow from the other layers. The path names it: `layers[2].ttl`.
 * @throws TypeError a value of another JavaScript type than the field takes
 */
export function buildFrame(layers: readonly Layer[], options: BuildOptions = {}): Uint8Array {
  return inCall("buildFrame", () => {
    checkArray("layers", layers);
    const drafts: Draft[] = [];
    for (let i = 0; i < layers.length; i++) drafts.push(new Draft(checkLayer(layers[i], i), i, drafts));
    // Headers are written from the last to the first, each in front of its body.
    let room = ROOM;
    let at = room.length;
    let trailer = NO_BYTES;
    for (let i = drafts.length - 1; i >= 0; i--) {
      const draft = drafts[i] as Draft;
      checkOrder(draft);
      if (draft.header === "trailer") {
        trailer = joined(draft.bytes("bytes"), trailer);
        continue;
      }
      draft.follow(room, at);
      const { size } = draft;
      if (size > at) {
        const more = size + room.length;
        room = joined(new Uint8Array(more), draft.body);
        at = more;
        draft.follow(room, at);
      }
      draft.write();
      at -= size;
    }
    const length = room.length - at;
    const missing = options.pad === true ? Math.max(0, MIN - length - trailer.length) : 0;
    const frame = new Uint8Array(length + trailer.length + missing);
    frame.set(room.subarray(at));
    if (trailer.length > 0) frame.set(trailer, length);
    return frame;
  });
}

/** Headers that no field of theirs says what follows of, and what the parser finds behind them. */
const FOLLOWERS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ["arp", "tcp", "icmp", "icmpv6", "sctp", "esp", "bth", "macsec", "payload"].map((one) => [one, []]),
  ),
  vxlan: ["ethernet"],
  mpls: ["mpls", "ipv4", "ipv6"],
  gtpu: ["gtpu_extension", "ipv4", "ipv6"],
  gtpu_extension: ["gtpu_extension", "ipv4", "ipv6"],
};

function checkOrder(draft: Draft): void {
  const { header, index, all } = draft;
  const next = all[index + 1]?.header;
  if (next === undefined || next === "trailer") return;
  const followers = header === "trailer" ? [] : (FOLLOWERS[header] ?? [next]);
  if (followers.includes(next) || (next === "payload" && header !== "trailer")) return;
  const allowed = [...followers, "payload"];
  const hint =
    header === "trailer"
      ? "a trailer is the last layer: move it to the end"
      : `${header} has no field that says so (${allowed.join(", ")} can follow): build what follows by itself and give it as a payload`;
  refuse({ code: "EINVAL", reason: "not_derived", path: `layers[${index + 1}].header`, value: next, hint });
}

/**
 * The layers of a frame with every field as it is: `buildFrame(layersOf(frameTree(frame, parsed)))` is the frame again,
 * also where it is damaged. Change a field, and everything else stays; take a checksum out, and it becomes right.
 */
export function layersOf(tree: FrameTree): Layer[] {
  return tree.nodes.map(({ header, fields, offset, length }): Layer => {
    const bytes = tree.frame.slice(offset, offset + length);
    if (header === "trailer") return { header, bytes };
    if (header === "payload" || header === "unlisted") return { header: "payload", bytes };
    const values = new Map(fields.map(({ name, value }) => [name, value]));
    const look: Look = (name) => {
      const value = values.get(name);
      return typeof value === "number" ? value : undefined;
    };
    for (const [name, bits, , detail] of layoutOf(header)) {
      if (values.has(name) || detail?.when?.(look) === false) continue;
      // A header that is too short for its fields is its bytes; an empty list of options is one all the same.
      if (typeof bits === "number") return { header, bytes } as Layer;
      values.set(name, new Uint8Array());
    }
    if (values.has(LEFTOVER)) return { header, bytes } as Layer;
    return { header, ...Object.fromEntries(values) } as Layer;
  });
}
