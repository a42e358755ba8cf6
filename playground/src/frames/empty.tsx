/** What the pane says when there are no frames. */
import type { JSX } from "preact";
import { buildPacket } from "../state/builder.js";
import { chooseCapture } from "../state/capture.js";
import { Samples } from "./capture/samples.js";

export function Empty(): JSX.Element {
  return (
    <div class="frames-empty">
      <p>Drop a capture, build a packet, or open an example.</p>
      <p class="frames-choices">
        <button type="button" onClick={chooseCapture}>
          Open capture
        </button>
        <button type="button" onClick={() => buildPacket()}>
          Build packet
        </button>
      </p>
      <Samples />
      <p class="muted">Captures stay on this machine: pcap and pcapng, also .gz, up to 1 GB.</p>
    </div>
  );
}
