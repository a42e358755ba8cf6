/** Where files can be dropped: all of the page, while files are held over it. */
import type { JSX } from "preact";
import { holding } from "./drops.js";

export function DropTarget(): JSX.Element | null {
  if (!holding.value) return null;
  return (
    <div class="drop-target">
      <p>
        <strong>Drop to open</strong>
        <span>A capture (pcap, pcapng, also .gz), rules (.json), or both</span>
      </p>
    </div>
  );
}
