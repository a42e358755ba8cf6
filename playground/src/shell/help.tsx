/** What the page is. */
import type { JSX } from "preact";
import { Dialog } from "../parts/dialog.js";
import { KeyTables } from "./keyList.js";
import type { ViewProps } from "../parts/viewProps.js";

/** The build sets it: the version of the package. */
declare const FLOWSTEER_VERSION: string;

export function Help({ onClose }: ViewProps): JSX.Element {
  return (
    <Dialog title="The flowsteer playground" class="help" onClose={onClose}>
      <p>
        It steers frames as an RDMA NIC does: rules on the left, frames on the right, and below them the path of the
        selected frame through tables, rules and actions. Edit a rule, and every frame is steered again.
      </p>
      <p>
        Rules are a scenario file. Frames come from the scenario, from a capture (pcap or pcapng: drop it on the page),
        or are built by hand. For a frame that misses or is dropped, it explains why and which change would help.
      </p>
      <p>
        <strong>Nothing leaves your machine.</strong> The page is a set of static files and works offline. What you
        edited is kept in this browser. A link that you share has the rules in its fragment, which browsers do not send.
      </p>
      <h3>Keys</h3>
      <KeyTables />
      <p class="muted">
        flowsteer {FLOWSTEER_VERSION} · <a href="./THIRD-PARTY-NOTICES.txt">Third-party licences</a>
      </p>
    </Dialog>
  );
}
