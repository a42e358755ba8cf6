/** Meters, connections, first-hit flags. */
import type { Entry } from "./support/entry.js";

export const STATE: readonly Entry[] = [
  {
    file: "state/meter-red",
    target: { kind: "rule", name: "green" },
    mistake: "meter-colour",
    says: ["red", "misc2.metadata_reg_c_1"],
    correction: [{ op: "replace", path: "/frames/1/time", value: 5000000 }],
  },
  {
    file: "state/colour-numbers",
    target: { kind: "rule", name: "green" },
    mistake: "meter-colour",
    says: ["misc2.metadata_reg_c_3", "green"],
    correction: [{ op: "replace", path: "/rules/1/match/misc2.metadata_reg_c_3", value: "2/0xff" }],
  },
  {
    file: "state/connection-new-state",
    target: { kind: "rule", name: "valid" },
    mistake: "connection-state",
    says: ["misc2.metadata_reg_c_1", "2"],
    correction: [{ op: "replace", path: "/rules/2/match/misc2.metadata_reg_c_1", value: "0/0xfd" }],
  },
  {
    file: "state/out-of-window",
    target: { kind: "rule", name: "valid" },
    mistake: "connection-state",
    says: ["connection", "invalid"],
    correction: [{ op: "replace", path: "/frames/3/headers/2/sequence", value: 501 }],
  },
  {
    file: "state/in-the-middle",
    target: { kind: "rule", name: "valid" },
    mistake: "connection-state",
    says: ["connection", "invalid"],
    correction: [
      {
        op: "add",
        path: "/frames/0",
        value: {
          name: "syn",
          headers: [
            { header: "ethernet" },
            { header: "ipv4", source: "10.0.0.1", destination: "192.0.2.80" },
            {
              header: "tcp",
              source_port: 40000,
              destination_port: 80,
              flags: "syn",
              sequence: 100,
              acknowledgement: 0,
              window: 1000,
            },
          ],
        },
      },
      {
        op: "add",
        path: "/frames/1",
        value: {
          name: "syn ack",
          headers: [
            { header: "ethernet" },
            { header: "ipv4", source: "192.0.2.80", destination: "10.0.0.1" },
            {
              header: "tcp",
              source_port: 80,
              destination_port: 40000,
              flags: "syn ack",
              sequence: 8000,
              acknowledgement: 101,
              window: 1000,
            },
          ],
        },
      },
      { op: "replace", path: "/frames/0/headers/2/sequence", value: 7000 },
      { op: "replace", path: "/frames/1/headers/2/acknowledgement", value: 7001 },
    ],
  },
  {
    file: "state/wrong-direction",
    target: { kind: "rule", name: "valid" },
    mistake: "connection-state",
    says: ["connection", "invalid"],
    correction: [{ op: "replace", path: "/rules/1/actions/0/aso/flags", value: "ct_direction_responder" }],
  },
  {
    file: "state/first-hit-only",
    target: { kind: "rule", name: "learn" },
    mistake: "first-hit-state",
    says: ["misc2.metadata_reg_c_1", "seen"],
    correction: [{ op: "remove", path: "/frames/0" }],
  },
  {
    file: "state/tag-matched",
    target: { kind: "rule", name: "inside" },
    mistake: "tag-is-no-register",
    says: ['"mark"', "tag"],
    correction: [
      { op: "replace", path: "/rules/0/actions/0", value: { modify: [{ set: "misc2.metadata_reg_c_0", to: 7 }] } },
    ],
  },
];
