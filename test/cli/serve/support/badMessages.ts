/** Messages to the control of `flowsteer serve` that get errors, with the rules of examples/serve-switch.json. */

/**
 * @param draw a number below its argument
 * @returns one function for each kind of message
 */
export function badMessages(draw: (below: number) => number): readonly (() => string)[] {
  const odd = (): unknown =>
    [null, true, -1, 1.5, 2 ** 60, "", "\u0000", [], {}, [[]], { __proto__: 1 }, "x".repeat(99)][draw(12)];
  const request = (method: unknown, params: unknown): object => ({ jsonrpc: "2.0", id: draw(9), method, params });
  const name = "mlx5dv_dr_rule_create";
  return [
    () => `x${Array.from({ length: draw(60) }, () => String.fromCharCode(33 + draw(600))).join("")}`,
    () => JSON.stringify(request("counters", {})).slice(0, 1 + draw(40)),
    () => JSON.stringify(odd()),
    () => JSON.stringify({ ...request("counters", {}), jsonrpc: odd() }),
    () => JSON.stringify(request(["none", "toString", "__proto__", "constructor", "exit"][draw(5)], {})),
    () => JSON.stringify(request("counters", [[], null, 5, "x", { more: 1 }][draw(5)])),
    () => JSON.stringify({ ...request("counters", {}), id: [{}, [], true][draw(3)] }),
    () => JSON.stringify(request(name, { name: "bad", table: "switch", [`k${draw(99)}`]: odd() })),
    () => JSON.stringify(request(name, { name: "bad", table: "switch", match: { "outer.tcp_dport": -1 - draw(9) } })),
    () =>
      JSON.stringify(
        request(name, {
          name: "bad",
          table: "switch",
          actions: [["jump"], [{ queue: "vm1" }], [{ table: "x" }], ["drop", "drop"]][draw(4)],
        }),
      ),
    () => JSON.stringify(request(name, { name: "all", table: "root" })),
    () => JSON.stringify(request("mlx5dv_dr_rule_destroy", { rule: [`r${draw(99)}`, 5, null, "__proto__"][draw(4)] })),
    () => JSON.stringify(request(["receive", "trace", "why"][draw(3)], { frame: ["abc", "zz", 5, null][draw(4)] })),
    () =>
      JSON.stringify(
        request(["receive", "trace", "why"][draw(3)], { frame: "00", port: [0, 2, -1, "1", 1.5][draw(5)] }),
      ),
    () => JSON.stringify(request("send", { frame: "00".repeat(60), queue: [odd(), "vm3", undefined][draw(3)] })),
    () => JSON.stringify(request("send", { frame: "00".repeat(draw(14)), queue: "vm1" })),
    () =>
      JSON.stringify(
        request("why", {
          frame: "00".repeat(60),
          target: [odd(), { rule: 5 }, { rule: "none" }, { a: "b" }][draw(4)] ?? 5,
        }),
      ),
    () => JSON.stringify(request("subscribe", { events: [5, ["none"], "frame", ["drop", 5]][draw(4)] ?? 5 })),
    () => "[".repeat(1 + draw(5000)),
    () => JSON.stringify([odd(), request("none", {})]),
  ];
}
