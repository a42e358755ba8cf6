/** Parts of every program, and lines of data. */

export function rows(items: readonly string[], each: number): string[] {
  const lines: string[] = [];
  for (let at = 0; at < items.length; at += each) lines.push(`\t\t\t${items.slice(at, at + each).join(", ")},`);
  return lines;
}

export function dataLines(name: string, size: number, lines: readonly string[]): string[] {
  if (size === 0) return [];
  if (lines.length === 0) return [`\t\tstatic const uint8_t ${name}[${size}];`];
  return [`\t\tstatic const uint8_t ${name}[${size}] = {`, ...lines.map((line) => `\t\t${line}`), "\t\t};"];
}

export function parametersText(name: string, size: number): string {
  return size === 0 ? "parameters(NULL, 0)" : `parameters(${name}, sizeof ${name})`;
}

/** `parameters()`: match parameters of bytes. */
export const PARAMETERS = [
  "",
  "/* Match parameters with these bytes, until the next call. */",
  "static struct mlx5dv_flow_match_parameters *parameters(const uint8_t *bytes, size_t size)",
  "{",
  "\tstatic union {",
  "\t\tstruct mlx5dv_flow_match_parameters parameters;",
  "\t\tuint8_t bytes[sizeof(struct mlx5dv_flow_match_parameters) + 512];",
  "\t} match;",
  "",
  "\tmatch.parameters.match_sz = size;",
  "\tif (size)",
  "\t\tmemcpy(match.parameters.match_buf, bytes, size);",
  "\treturn &match.parameters;",
  "}",
];

/** `open_device()`. */
export const OPEN = [
  "",
  "/* Opens the device of this name; without a name, the first one. */",
  "static int open_device(const char *name, uint32_t flags)",
  "{",
  "\tstruct ibv_device **list = ibv_get_device_list(NULL);",
  "\tstruct mlx5dv_context_attr attr = { .flags = flags };",
  "",
  "\tif (!list)",
  '\t\treturn failed("device list");',
  "\tfor (int n = 0; list[n] && !context; n++)",
  "\t\tif (!name || !strcmp(ibv_get_device_name(list[n]), name))",
  "\t\t\tcontext = mlx5dv_open_device(list[n], &attr);",
  "\tibv_free_device_list(list);",
  '\treturn context ? 0 : failed(name ? name : "no device");',
  "}",
  "",
];
