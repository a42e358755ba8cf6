/** Damaged commands: each line makes a rule, changes one, or has a finding. None is left out in silence. */
import { expect, test } from "vitest";
import { importRules, type ImportFormat } from "../../../src/import/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

const COMMANDS: Readonly<Record<string, (n: number) => string>> = {
  ovs: (n) =>
    `table=0,priority=${100 + n},tcp,tp_dst=${80 + n},actions=mod_dl_dst:02:00:00:00:00:0${n},output:${n + 2}`,
  tc: (n) =>
    `tc filter add dev eth0 ingress protocol ip prio ${n + 1} flower ip_proto tcp dst_port ${80 + n} action drop`,
  ethtool: (n) => `ethtool -N eth0 flow-type tcp4 dst-port ${80 + n} action ${n} loc ${n + 3}`,
  nft: (n) => `nft add rule netdev t c tcp dport ${80 + n} drop`,
};
const CHAIN = "nft add chain netdev t c { type filter hook ingress device eth0 priority 0; }\n";
const LINES = 4;

/** A letter more, less or another one, or two letters that change places, in a word of the command. */
function damaged(random: Random, line: string): string {
  const at = random.below(line.length - 1);
  const letter = "abcdefghijklmnopqrstuvwxyz0123456789".charAt(random.below(36));
  const kept = line.slice(0, at);
  switch (random.below(4)) {
    case 0:
      return kept + letter + line.slice(at);
    case 1:
      return kept + line.slice(at + 1);
    case 2:
      return kept + letter + line.slice(at + 1);
    default:
      return kept + line.charAt(at + 1) + line.charAt(at) + line.slice(at + 2);
  }
}

test.each(Object.keys(COMMANDS))("%s", (format) => {
  const { seed, random } = ((seed: number) => ({ seed, random: new Random(seed) }))(seedFor(`silence ${format}`));
  const read = (lines: readonly string[]): ReturnType<typeof importRules> => {
    const text = (format === "nft" ? CHAIN : "\n") + lines.join("\n");
    return importRules(text, { format: format as ImportFormat, lenient: true, map: { eth0: "uplink" } });
  };
  for (let round = rounds(500); round > 0; round--) {
    const command = COMMANDS[format] as (n: number) => string;
    const lines = Array.from({ length: LINES }, (_, n) => damaged(random, command(n)));
    const { scenario, findings } = read(lines);
    for (const [n, line] of lines.entries()) {
      if (findings.some((one) => one.line === n + 2)) continue;
      const without = read(lines.with(n, ""));
      expect(JSON.stringify(without.scenario), `seed ${seed}: ${line}`).not.toBe(JSON.stringify(scenario));
    }
  }
});
