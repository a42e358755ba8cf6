/** Planted faults of what remembers: meters, flags, samplers; in the host and in the core. */

const METERS = ["test/engine/meters.test.ts"];
const DUMPS = ["test/mlx5dv/dump.test.ts"];

const fault = (folder, sees) => (name, id, search, replace, breaks) => {
  return { id, file: `${folder}/${name}.ts`, search, replace, breaks, sees };
};
const meter = fault("assembly/act", METERS);
const parameters = fault("src/model", METERS);
const dump = fault("src/model", DUMPS);

export const STATE = [
  meter(
    "meter",
    "meter-price-wraps",
    "return <u64>load<u32>(frame, FRAME_WIRE_LENGTH) + GAP",
    "return <u64>(<u32>(<u64>load<u32>(frame, FRAME_WIRE_LENGTH) + GAP))",
    "a length on the wire near 2^32",
  ),
  meter(
    "meter",
    "meter-long-time",
    "const FILLS: u64 = 1 << 40;",
    "const FILLS: u64 = 1 << 20;",
    "a bucket that long times fill",
  ),
  meter("meter", "meter-fraction", "store<u32>(fraction, <u32>(sum & below));", "", "what is less than a unit"),
  meter(
    "meter",
    "meter-full-fraction",
    "if (fraction != 0) store<u32>(fraction, 0);",
    "",
    "the fraction of a full bucket",
  ),
  meter(
    "meter",
    "meter-both",
    "if (both != 0) store<u64>(at, excess - cost, METER_EXCESS);",
    "",
    "what green takes from the excess bucket",
  ),
  meter("meter", "meter-red", "start == RED || cost > excess", "cost > excess", "frames that come red"),
  meter("meter", "meter-time-back", "if (time <= last) return;", "if (time == last) return;", "time that goes back"),
  meter("meter", "meter-overflow", "& METER_OVERFLOW) pour", "& METER_BOTH) pour", "what is over the committed bucket"),
  meter(
    "state",
    "colour-of-none",
    ": otherwise;",
    ": <u32>load<u8>(lowByte(branch, register));",
    "a register that nobody has written",
  ),
  meter("length", "meter-ipv6", "+ IPV6_SIZE", "", "the length of an IPv6 header"),
  parameters(
    "meterParameters",
    "meter-cut",
    "view.setBigUint64(bucket, most, true);",
    "",
    "a bucket that becomes smaller",
  ),
  parameters(
    "meterParameters",
    "meter-new-rate",
    "  view.setUint32(fraction, 0, true);\n}",
    "}",
    "the fraction of another rate",
  ),
  parameters("meterParameters", "meter-least-packets", "=== PACKETS_MODE", "!== PACKETS_MODE", "a size of 0"),
  parameters(
    "meterParameters",
    "meter-active",
    "~METER_ACTIVE",
    "METER_ACTIVE",
    "modes of a meter that becomes active",
  ),
  dump("dumpParameters", "dump-gre-key", "name === GRE_KEY && from === 0", "false", "the two fields of a GRE key"),
  dump("dump", "dump-sample-ids", "if (mask !== null) writeSampleIds(mask, bytes);", "", "ids of samples"),
  dump("dump", "dump-destroyed", "rule.destroyed || ", "", "rules that wait for their end"),
  {
    id: "dump-value",
    file: "assembly/steer/definer.ts",
    search: "if (from < 16) store",
    replace: "if (from < 15) store",
    breaks: "values of rules, read back",
    sees: DUMPS,
  },
];
