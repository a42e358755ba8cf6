/** What the page adds to the scenario of a text of another program: frames and settings of the device, and nothing else. */
import { describe, expect, it } from "vitest";
import type { Scenario } from "../../../src/scenario/index.js";
import { addedBy } from "../../../playground/src/state/additions.js";

const [first, second, said] = [{ hex: "01" }, { hex: "02" }, { hex: "03" }];
const RULES = { rules: [{ table: "root", actions: ["drop"] }] };

function added(into: object | null, before: object, after: object): unknown {
  const text = (scenario: object): string => JSON.stringify({ flowsteer: 1, ...scenario });
  return addedBy(into as Scenario | null, text(before), text(after));
}

describe("addedBy", () => {
  it("keeps frames that are added, changed and removed", () => {
    expect(added(null, RULES, { ...RULES, frames: [first] })).toEqual({ flowsteer: 1, frames: [first] });
    expect(added({ frames: [first] }, { frames: [first] }, { frames: [first, second] })).toEqual({
      flowsteer: 1,
      frames: [first, second],
    });
    expect(added({ frames: [first] }, { frames: [first] }, { frames: [second] })).toMatchObject({ frames: [second] });
    const none = added({ frames: [first] }, { frames: [first] }, {});
    expect(JSON.parse(JSON.stringify(none))).toEqual({ flowsteer: 1 });
  });

  it("does not take frames of the text for added ones", () => {
    expect(added({ frames: [first] }, { frames: [first, said] }, { frames: [first, said, second] })).toEqual({
      flowsteer: 1,
      frames: [first, second],
    });
    expect(added({ frames: [first] }, { frames: [first, first] }, { frames: [first, first, second] })).toEqual({
      flowsteer: 1,
      frames: [first, second],
    });
  });

  it("keeps the keys of the device that a change names, and not those that the text says", () => {
    const before = { device: { vports: 3, parser: { vxlanPorts: [4789] } } };
    const after = { device: { vports: 3, parser: { vxlanPorts: [4789, 8472] } } };
    expect(added(null, before, after)).toEqual({ flowsteer: 1, device: { parser: { vxlanPorts: [4789, 8472] } } });
  });

  it("has no place for changes of rules, and for texts that are no scenario", () => {
    expect(added(null, RULES, { rules: [] })).toBeNull();
    expect(addedBy(null, JSON.stringify(RULES), "{")).toBeNull();
    expect(addedBy(null, "[]", JSON.stringify(RULES))).toBeNull();
  });
});
