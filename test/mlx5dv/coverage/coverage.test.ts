/** Every function of mlx5dv under every profile. The page rules-coverage.md lists what they assert. */
import { describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { nameOf, PROFILES, rowOf } from "./support/record.js";
import { CASES, coveragePage } from "./support/table.js";
import { DEEP } from "../../support/tier.js";

/** The default profile, and the one that most others resemble. */
const SOME = PROFILES.filter((profile) => profile === "manual" || profile === "connectx7");

describe.each(DEEP ? PROFILES : SOME)("%s", (profile) => {
  for (const one of CASES) {
    test(nameOf(one), async () => {
      const results = await rowOf(one, profile);
      const counts = results.filter((result) => /^(destination|bytes|register|errno)/.test(result));
      expect(counts, "the row asserts no destination, bytes, register or errno").not.toEqual([]);
    });
  }
});

/**
 * Functions of the synopses of mlx5dv_dr(3), of mlx5dv_create_flow(3) and of the pages that it
 * refers to.
 */
const MANUAL: Readonly<Record<string, string>> = {
  mlx5dv_dr_domain_: "create sync destroy set_reclaim_device_memory allow_duplicate_rules",
  mlx5dv_dr_table_: "create destroy",
  mlx5dv_dr_matcher_: "create destroy set_layout",
  mlx5dv_dr_rule_: "create destroy",
  mlx5dv_dr_action_: "modify_aso modify_flow_meter destroy",
  mlx5dv_dr_action_create_:
    "drop default_miss tag dest_ibv_qp dest_table dest_root_table dest_vport dest_ib_port dest_devx_tir packet_reformat " +
    "modify_header flow_counter aso flow_meter flow_sampler dest_array pop_vlan push_vlan",
  mlx5dv_dr_aso_other_domain_: "link unlink",
  mlx5dv_create_flow: " _matcher _action_modify_header _action_packet_reformat",
  mlx5dv_destroy_: "flow_matcher steering_anchor",
  mlx5dv_create_: "steering_anchor",
};

test("every function has rows, and no row is there twice", () => {
  const names = CASES.map(nameOf);
  expect(new Set(names).size).toBe(names.length);
  const functions = Object.keys(dv).filter((name) => name.startsWith("mlx5dv_"));
  const manual = Object.entries(MANUAL).flatMap(([start, ends]) => ends.split(" ").map((end) => start + end));
  expect(manual.filter((name) => !functions.includes(name))).toEqual([]);
  const covered = new Set(CASES.map(({ call }) => call));
  expect(functions.filter((name) => !covered.has(name.replace("mlx5dv_dr_", "")))).toEqual([]);
});

test("the page has a row a case, and a cell a profile", async () => {
  const rows = ["domain_create FDB of a VF", "domain_sync MEM"].map((name) => CASES.find((one) => nameOf(one) === name)!);
  const lines = (await coveragePage([["Rows", rows]])).trimEnd().split("\n").slice(-6);
  expect(lines.map((line) => line.replace(/ +/g, " "))).toEqual([
    "## Rows",
    "",
    "| function | case | manual | connectx5 | connectx6dx | connectx7 | connectx8 |",
    expect.stringMatching(/^(\| -+ ){7}\|$/),
    `| \`domain_create\` | FDB of a VF |${" EOPNOTSUPP |".repeat(5)}`,
    `| \`domain_sync\` | MEM |${" destination, memory |".repeat(5)}`,
  ]);
});
