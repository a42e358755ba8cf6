/** The packet builder: open while it has a text to begin with. */
import { signal } from "@preact/signals";

export interface Building {
  /** Packet notation: docs/packet.md. */
  readonly text: string;
}

/** What the builder was opened with; null while it is closed. */
export const building = signal<Building | null>(null);

const FIRST =
  "ipv4 10.0.0.1 > 10.0.0.7 / udp 40000 > 4789 / vxlan vni 5001 / ipv4 192.0.2.1 > 192.0.2.2 / tcp 40000 > 443 [S]";

/** Opens the builder. @param text a packet to begin with, in packet notation */
export function buildPacket(text: string = FIRST): void {
  building.value = { text };
}
