// Compares the rewriting reference with Open vSwitch.

import { describe, expect, test } from "vitest";
import { ovsFiles, withoutDifferences, type OvsAction } from "../../golden/ovs/cases.js";
import { hex } from "../wire/handmade.js";
import { noRegisters } from "./modifyHeader.js";
import { type Frame, type Lost, modified, popVlan, pushVlan, reformatted } from "./rewrite.js";

const registers = noRegisters();

function act(frame: Frame, action: OvsAction): Frame | Lost {
  switch (action.action) {
    case "modify":
      return modified(frame, action.actions, registers);
    case "push_vlan":
      return pushVlan(frame, action.vlan_hdr);
    case "pop_vlan":
      return popVlan(frame);
    case "reformat":
      return reformatted(frame, { type: action.reformat_type, data: hex(action.data ?? "") });
  }
}

for (const [file, cases] of ovsFiles()) {
  describe(file, () => {
    test.each(cases.map((one) => [one.name, one] as const))("%s", (_, one) => {
      const bytes = hex(one.frame);
      let frame: Frame | Lost = { bytes, wireLength: bytes.length, linkType: 1, port: 1, parser: {} };
      for (const action of one.actions) if (typeof frame !== "string") frame = act(frame, action);
      const out = typeof frame === "string" ? frame : Buffer.from(frame.bytes).toString("hex");
      expect(withoutDifferences(out, one)).toBe(withoutDifferences(one.out, one));
    });
  });
}
