/** Variables that a text uses and does not set: what the caller gives, and what refusals say. */
import { expect, test } from "vitest";
import { importRules, type ImportFormat } from "../../src/import/index.js";

const NFT = "nft add chain netdev t c { type filter hook ingress device eth0 priority 0; }\nnft add rule netdev t c";
const CASES: readonly (readonly [ImportFormat, string])[] = [
  ["tc", "tc filter add dev eth0 ingress protocol ip flower ip_proto tcp dst_port $PORT action drop"],
  ["testpmd", "flow create 0 ingress pattern eth / ipv4 / tcp dst is ${PORT} / end actions drop / end"],
  ["ethtool", "ethtool -N eth0 flow-type tcp4 dst-port $PORT action -1"],
  ["ovs", "ovs-ofctl add-flow br0 tcp,tp_dst=$PORT,actions=drop"],
  ["nft", `${NFT} tcp dport $PORT drop`],
  ["xfrm", "ip xfrm policy add proto tcp dport $PORT dir out action block offload packet dev eth0"],
];

test.each(CASES)("%s", (format, text) => {
  const map = { eth0: "uplink" };
  const { scenario: none, findings } = importRules(text, { format, map });
  expect(none).toBe(null);
  expect(findings.map(({ reason }) => reason).join()).toContain(
    "a variable that the text does not set (--set PORT=...",
  );

  const { scenario } = importRules(text, { format, map, set: { PORT: "443" } });
  const rules = [...(scenario?.rules ?? []), ...(scenario?.hostRules ?? []), ...(scenario?.deviceFlows ?? [])];
  expect(rules.filter(({ match }) => match?.["outer.tcp_dport"] === 443)).toHaveLength(1);
});

test("what the text sets itself counts", () => {
  const text = `PORT=80\n${CASES[0]?.[1] ?? ""}`;
  const { scenario } = importRules(text, { map: { eth0: "uplink" }, set: { PORT: "443" } });
  expect(scenario?.rules?.some(({ match }) => match?.["outer.tcp_dport"] === 80)).toBe(true);
});

test("values are texts", () => {
  expect(() => importRules("", { set: { PORT: 443 } as never })).toThrow("importRules: set.PORT must be a string");
});
