/** flowsteer fields: what is listed, what is said of one field, and what of a name that is none. */
import { describe, expect, it } from "vitest";
import { FIELDS } from "../../src/model/match/fields.js";
import { CHANGE_FIELD_NAMES } from "../../src/scenario/action/changeFields.js";
import { flowsteer } from "./support/command.js";

describe("flowsteer fields", () => {
  it("lists every field that rules match, and every field that header changes name", async () => {
    const { code, out } = await flowsteer(["fields"]);
    expect(code).toBe(0);
    const [match = "", modify = ""] = out.split("\n\n");
    const names = (text: string): string[] =>
      text
        .split("\n")
        .slice(1)
        .filter((line) => line !== "")
        .map((line) => line.split(/\s+/)[0] ?? "");
    expect(names(match)).toEqual(FIELDS.filter(({ filled }) => filled).map(({ name }) => name));
    expect(names(modify)).toEqual(CHANGE_FIELD_NAMES);
    expect(match).toMatch(/^outer\.tcp_dport +16 +outer TCP +number: 0 to 65535$/m);
    expect(match).toMatch(/^misc\.vxlan_vni +24 +VXLAN /m);
  });

  it("shows everything about one field", async () => {
    const { code, out } = await flowsteer(["fields", "outer.dmac"]);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "outer.dmac",
        "  bits           48",
        '  written as     MAC address: "02:00:00:00:00:01"',
        '  match          "match": { "outer.dmac": ... }',
        "  header         outer Ethernet",
        '  change         "modify": [{ "set": "outer.dmac", "to": ... }]',
        "  changed in     outer Ethernet",
        "  device fields  OUT_DMAC_47_16, OUT_DMAC_15_0",
        "",
      ].join("\n"),
    );
  });

  it.each([
    ["outer.tcp_dprt", "did you mean outer.tcp_dport? "],
    ["tcp_dport", "did you mean outer.tcp_dport, inner.tcp_dport? "],
    ["metadata", "did you mean misc2.metadata_reg_c_7, "],
    ["nothing.like.it.at.all", "flowsteer fields lists all names"],
  ])("refuses %s with names that may be meant", async (name, hint) => {
    const { code, err } = await flowsteer(["fields", name]);
    expect(code).toBe(2);
    expect(err).toContain(hint);
  });
});
