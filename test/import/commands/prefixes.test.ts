/** A command is read after any prefix, or refused: readers of tc, ethtool and nft leave none out in silence. */
import { describe, expect, test } from "vitest";
import { importRules, printFinding, type ImportFormat } from "../../../src/import/index.js";

function imported(text: string, format: ImportFormat) {
  const { scenario, findings } = importRules(text, { format, lenient: true, map: { eth0: "uplink" } });
  const rules = [...(scenario?.rules ?? []), ...(scenario?.hostRules ?? [])];
  return {
    rules: rules.filter(({ match }) => match?.["outer.tcp_dport"] !== undefined),
    said: findings.map(printFinding).join("\n"),
  };
}

const COMMANDS = {
  tc: "tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto tcp dst_port 80 action drop",
  ethtool: "ethtool -N eth0 flow-type tcp4 dst-port 80 action -1 loc 3",
  nft: "nft add rule netdev t c tcp dport 80 drop",
} as const;
const CHAIN = "table netdev t {\n chain c { type filter hook ingress device eth0 priority 0; flags offload; }\n}\n";

describe.each(["tc", "ethtool", "nft"] as const)("%s", (format) => {
  const read = (text: string): ReturnType<typeof imported> => imported(format === "nft" ? CHAIN + text : text, format);

  test.each([
    (command: string) => `kubectl exec pod -- ${command}`,
    (command: string) => `ssh host '${command}'`,
    (command: string) => `ssh -p 22 host "${command}";`,
    (command: string) => `step 1: ${command}`,
    (command: string) => `rule-0: ${command}`,
    (command: string) => `# kubectl exec pod -- ${command}`,
    (command: string) => `host:/$ ${command}`,
  ])("%s", (written) => {
    const { rules, said } = read(written(COMMANDS[format]));
    expect(said).toBe("");
    expect(rules).toHaveLength(1);
  });

  test("words that are wrong after a prefix are refused", () => {
    const { said } = read(`step 1: ${COMMANDS[format].replace("80", "eighty")}`);
    expect(said).toContain("not imported: ");
  });
});

describe("tc", () => {
  const other = COMMANDS.tc.replace("80", "81").replace("prio 1", "prio 2");
  test.each([
    ["an addition", `${COMMANDS.tc}\n${other}\nRTNETLINK answers: File exists\nWe have an error talking to the kernel`],
    ["a refused one", `${COMMANDS.tc}\ntc filter add dev eth0 ingress bpf obj x.o\nError: Failed to load.`],
    ["a deletion", `${COMMANDS.tc}\ntc filter del dev eth0 ingress prio 1\nError: Invalid handle.`],
    ["that of a qdisc", `${COMMANDS.tc}\ntc qdisc del dev eth0 ingress\nRTNETLINK answers: Invalid argument`],
  ])("an error is the answer of %s", (_, text) => {
    const { rules, said } = imported(text, "tc");
    expect(rules).toMatchObject([{ match: { "outer.tcp_dport": 80 } }]);
    expect(said).toContain("the command before it failed: ignored");
    expect(said).not.toContain("not imported");
  });

  test.each([
    [`if x; then ${COMMANDS.tc}; fi`, "fi: not a tc command"],
    [`${COMMANDS.tc} || ${other}`, "|| tc filter add"],
    ["tc qdisc addd dev eth0 ingress", 'not a command of tc; did you mean "add"?'],
    ["tc filtr add dev eth0 ingress prio 1 matchall action drop", 'not an object that is read; did you mean "filter"?'],
    ["tc filter add dev eth0 ingres prio 1 matchall action drop", 'did you mean "ingress"?'],
    ["tc filter add dev eth0 ingress protocol ipp prio 1 matchall action drop", 'not an EtherType; did you mean "ip"?'],
    ["tc filter add dev eth0 ingress protocol ip prio 1 flowr action drop", 'did you mean "flower"?'],
    [
      "tc filter add dev eth0 ingress protocol ip prio 1 flower ip_proto tpc action drop",
      'not a protocol; did you mean "tcp"?',
    ],
    [
      "tc filter add dev eth0 ingress prio 1 matchall action mirred egress redirct dev eth0",
      'not what mirred does; did you mean "redirect"?',
    ],
    ["tc qdisc add dev eth0 ingress ingress_blokc 1", '"ingress_blokc" is not an option of a qdisc'],
  ])("%s", (text, reason) => {
    expect(imported(`${text}\n${other}`, "tc").said).toContain(reason);
  });
});

describe("ethtool", () => {
  const other = COMMANDS.ethtool.replace("80", "81").replace(" loc 3", "");
  test.each([
    ["an addition", `${COMMANDS.ethtool}\n${other} loc 4\nrmgr: Cannot insert RX class rule: Operation not supported`],
    ["a replacement", `${COMMANDS.ethtool}\n${other} loc 3\nCannot insert RX class rule: Invalid argument`],
    ["a deletion", `${COMMANDS.ethtool}\nethtool -N eth0 delete 3\nrmgr: Cannot delete RX class rule: No such file`],
  ])("an error is the answer of %s", (_, text) => {
    const { rules, said } = imported(text, "ethtool");
    expect(rules).toMatchObject([{ match: { "outer.tcp_dport": 80 }, name: "eth0 3", priority: 5 }]);
    expect(said).toContain("the command before it failed: ignored");
  });

  test("the answer has the location", () => {
    const { rules, said } = imported(`${other}\nAdded rule with ID 900`, "ethtool");
    expect(rules).toMatchObject([{ name: "eth0 900", priority: 5 }]);
    expect(said).toBe("");
  });
});

describe("nft", () => {
  const chain = (head: string): string => `table netdev t {\n ${head}\n tcp dport 80 drop\n }\n}\n`;
  const TYPE = "type filter hook ingress device eth0 priority 0;";
  test.each([
    [chain(`hcain c { ${TYPE}`), 'not an object of a table; did you mean "chain"?'],
    [chain(`chain c { ${TYPE.replace("priority", "pirority")}`), "pirority: a chain has type, hook, device"],
    [chain(`chain c { ${TYPE} policy drpo;`), "drpo: a policy is accept or drop"],
    [`${CHAIN}nft add rlue netdev t c tcp dport 80 drop`, 'not an nft object; did you mean "rule"?'],
    [
      '{"nftables":[{"chain":{"family":"netdev","table":"t","name":"c","hook":"ingress","dev":"eth0","policy":"drpo"}}]}',
      "drpo: a policy is accept or drop",
    ],
  ])("%s", (text, reason) => {
    const { rules, said } = imported(text, "nft");
    expect(said).toContain(reason);
    expect(rules).toEqual([]);
  });
});
