/** The words of packet notation, for completion and forms. */
import { LAYOUTS, type FieldKind, type FieldLayout, type LaidOutHeader } from "../layout.js";

/** A field of a header, as `buildFrame` and packet notation take it. */
export interface PacketField {
  readonly name: string;
  readonly kind: FieldKind;
  /** Names of its flags, the highest bit first; empty for other fields. */
  readonly flags: readonly string[];
  /** Values that have a name: `6` is `tcp`. */
  readonly names: Readonly<Record<number, string>>;
}

const BYTES: PacketField = { name: "bytes", kind: "bytes", flags: [], names: {} };

/** The names of all headers that packet notation has, with `payload` and `trailer`. */
export function packetHeaders(): string[] {
  return [...Object.keys(LAYOUTS), "payload", "trailer"];
}

/** The fields of a header in wire order; none for a name that no header has. */
export function packetFields(header: string): PacketField[] {
  if (header === "payload" || header === "trailer") return [BYTES];
  if (!Object.hasOwn(LAYOUTS, header)) return [];
  const layout: readonly FieldLayout[] = LAYOUTS[header as LaidOutHeader];
  return layout.map(([name, , kind, detail]) => ({
    name,
    kind,
    flags: detail?.bits ?? [],
    names: detail?.names ?? {},
  }));
}
