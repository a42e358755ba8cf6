/** Section `frames`. */
import { STEP } from "../state/definition.js";
import { integer, list, name, object, oneKeyOf, text, yes, type Static } from "../schema/define.js";
import { about, MAX_U32, port } from "../schema/parts.js";
import { headers } from "./headers.js";

export const FRAME = object(
  "A frame that arrives, or is sent.",
  [],
  {
    name: name("Its name, for expectations.", "syn to web"),
    description: about,
    hex: text("Its bytes as hexadecimal digits, white space and colons between bytes ignored."),
    base64: text("Its bytes as base64."),
    headers: headers("Its bytes as headers, the first one outermost."),
    send: name("The queue that sends it, from its port; left out, the frame arrives from the wire.", "web"),
    metadata: integer("For a sent frame: the value of register A, which rules of the send path match.", 0, MAX_U32, {
      default: 0,
    }),
    sync: yes("Syncs all domains before it: waiting rules take effect."),
    before: list("Changes before it, in order.", STEP),
    time: integer(
      "When it arrives or is sent, by the clock of the device: nanoseconds. Left out, a microsecond after the frame before it; the first one at 0.",
      0,
      Number.MAX_SAFE_INTEGER,
    ),
    port: port("The port at which it arrives."),
    linkType: integer("LINKTYPE_ number, its first header; 1 is Ethernet, 101 IP.", 0, 65535, { default: 1 }),
    wireLength: integer("Its length on the wire in bytes, where the capture cut it.", 0, MAX_U32),
  },
  { ...oneKeyOf("hex", "base64", "headers"), dependentRequired: { metadata: ["send"] } },
);
export type ScenarioFrame = Static<typeof FRAME>;
