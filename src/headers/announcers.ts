/** Headers by the number that announces them. */
import { HEADER_LIST } from "./headers.js";
import type { Announced, HeaderName } from "./record.js";

/** Headers with the number that announces each, the lowest first. */
export type Carried = Readonly<Partial<Record<HeaderName, number>>>;

function carried(by: keyof Announced): Carried {
  const numbers = HEADER_LIST.flatMap(([name, { announced }]) => {
    const number = announced?.[by];
    return number === undefined ? [] : [[name, number] as const];
  });
  return Object.fromEntries(numbers.sort(([, a], [, b]) => a - b));
}

export const ETHERTYPES = /* @__PURE__ */ carried("etherType");
export const TUNNEL_ETHERTYPES = /* @__PURE__ */ carried("tunnelType");
export const PROTOCOLS = /* @__PURE__ */ carried("protocol");
export const UDP_PORTS = /* @__PURE__ */ carried("port");
export const GPE_PROTOCOLS = /* @__PURE__ */ carried("gpe");
export const FAMILIES = /* @__PURE__ */ carried("family");
export const GTPU_EXTENSIONS = /* @__PURE__ */ carried("gtpuExtension");

/** The header that a number announces. */
export function headerBy(numbers: Carried, number: number): HeaderName | undefined {
  return (Object.keys(numbers) as HeaderName[]).find((name) => numbers[name] === number);
}
