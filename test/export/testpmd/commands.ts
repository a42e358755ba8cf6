/** The commands that testpmd is asked about: those of the corpus, exported scenarios, and mistakes. */
import { readdirSync, readFileSync } from "node:fs";
import { exportRules } from "../../../src/export/index.js";
import { Random } from "../../oracle/generate/random.js";
import { randomRules } from "../support/randomRules.js";
import { randomSwitch } from "../tc/support.js";

const SEED = 22_11;
const SCENARIOS = 12;

const MISTAKES = [
  "flow create 0 ingress pattern eht / end actions drop / end",
  "flow create 0 ingress pattern eth dts is 02:00:00:00:00:01 / end actions drop / end",
  "flow create 0 ingress pattern eth / end actions qeue index 1 / end",
  "flow craete 0 ingress pattern eth / end actions drop / end",
  "flow create 0 ingres pattern eth / end actions drop / end",
  "flow create 0 ingress pattern eth ipv4 / end actions drop / end",
  "flow create 0 ingress pattern eth dst is 1:2:3:4:5:6 / end actions drop / end",
  "flow create 0 ingress pattern eth dst is 02-00-00-00-00-01 / end actions drop / end",
  "flow create 0 ingress pattern ipv4 ttl is 256 / end actions drop / end",
  "flow create 0 ingress pattern ipv4 src is 10.0.0 / end actions drop / end",
  "flow create 0 ingress pattern ipv4 src prefix 33 / end actions drop / end",
  "flow create 0 ingress pattern / end actions drop / end",
  "flow create 0 ingress pattern eth / end actions drop / end end",
  "flow create 0 ingress pattern eth / end actions queue index 65536 / end",
  "flow create 0 ingress pattern eth / end actions rss types ipv5 end / end",
  "flow create 0 ingress pattern gre c_bit is 2 / end actions drop / end",
  "flow create 0 ingress pattern gre_key is 5 / end actions drop / end",
  "flow create 0 ingress pattern eth / end actions modify_field op set dst_type mac_dst src_type value src_value 01 / end",
  "flow create 0 ingress pattern eth / end action drop / end",
  "flow create zero ingress pattern eth / end actions drop / end",
  "flow create 0 ingress user_id 5 pattern eth / end actions drop / end",
  "set vxlan ip-version ipv4 vni 4 udp-dst 4789",
];

/** Values that testpmd takes, though they look odd. */
const ODD = [
  "flow create 0 ingress pattern eth type is 010 / end actions drop / end",
  "flow create 0 ingress pattern end actions drop / end",
  "flow create 0 ingress pattern gre c_bit is true / end actions drop / end",
  "flow create 0 group 0x10 ingress pattern eth / end actions drop / end",
  "flow create 0 ingress pattern eth / end actions mark / queue / end",
];

const TEXTS = new URL("../../import/corpus/testpmd/", import.meta.url);

function corpus(): string[] {
  const names = readdirSync(TEXTS).filter((one) => one.endsWith(".txt"));
  return names.flatMap((name) => {
    const text = readFileSync(new URL(name, TEXTS), "utf8").replaceAll(/\\\n\s*/g, " ");
    return text
      .split("\n")
      .map((line) => line.replace(/^testpmd> /, "").replace(/\s+#.*$/, ""))
      .filter((line) => /^flow (?:create|validate) /.test(line) && !line.includes("{"))
      .map((line) => line.replaceAll(/\s+/g, " "));
  });
}

function exported(): string[] {
  const random = new Random(SEED);
  const scenarios = Array.from({ length: SCENARIOS }, (_, n) =>
    n % 2 === 0 ? randomRules(random) : randomSwitch(random),
  );
  return scenarios.flatMap((scenario) => {
    const { text } = exportRules(scenario, { format: "testpmd", lenient: true });
    return (text ?? "").split("\n").filter((line) => line !== "");
  });
}

export function judgedCommands(): string[] {
  return [...new Set([...corpus(), ...exported(), ...MISTAKES, ...ODD])];
}
