/**
 * The generated part of the C library: for each function its arguments into a message, and what the answer brings into out
 * parameters. `native/flowsteer-verbs.h` has the functions that it calls.
 *
 *     request   | size 4 | function 2 | arguments |
 *     answer    | size 4 | errno 4 | number of the object, or the result 4 | its members 4 each | out parameters |
 */
import { HANDLES, type HandleName } from "./handles.js";
import {
  functions,
  INTEGERS,
  structs,
  tableHash,
  type CFunction,
  type Member,
  type Parameter,
  type Type,
} from "./notation.js";

const C_INTEGERS = {
  u8: "uint8_t",
  u16: "uint16_t",
  u32: "uint32_t",
  u64: "uint64_t",
  i32: "int",
  i64: "int64_t",
  size: "size_t",
  bool: "bool",
  be32: "__be32",
  be64: "__be64",
} as const;

/** The text of `generated.c`. */
export function cSource(): string {
  return [
    '/* Generated from the table of calls. */\n#include "flowsteer-verbs.h"\n',
    ...functions.map(functionText),
  ].join("\n");
}

/** The text of `generated.h`: the numbers of functions, and those that handwritten C calls. */
export function cHeader(): string {
  const own = functions.filter(({ generated }) => !generated);
  const numbers = functions.map(({ name, number }) => `\tCALL_${name} = ${number},\n`).join("");
  const hash = `enum { TABLE_HASH = ${tableHash} };\n`;
  return `/* Generated from the table of calls. */\n${hash}enum call {\n${numbers}};\n${own.map((one) => `${signature(one)};\n`).join("")}`;
}

function signature({ name, returns, parameters, generated }: CFunction): string {
  const list = parameters.map(parameterText);
  if (!generated) {
    if (typeof returns === "object") list.push("struct made *made");
    if (returns === "int") list.push("int *result");
    if (returns === "text") list.push("char **text");
    return `int rpc_${name}(${list.join(", ") || "void"})`;
  }
  const type = typeof returns === "object" ? `struct ${returns.handle} *` : returns === "void" ? "void " : "int ";
  return `EXPORT ${type}${name}(${list.join(", ") || "void"})`;
}

function parameterText({ name, type, direction }: Parameter): string {
  switch (type.kind) {
    case "integer":
      return `${type.enumeration === null ? C_INTEGERS[type.name] : `enum ${type.enumeration}`} ${name}`;
    case "handle":
      return `struct ${type.name} *${name}`;
    case "struct":
      return `struct ${type.name} *${name}`;
    case "bytes":
      if (type.words) return `__be64 ${name}[]`;
      return `${type.constant && direction === "in" ? "const " : ""}void *${name}`;
    case "list":
      if (type.of.kind === "handle") return `struct ${type.of.name} *${name}[]`;
      if (type.of.kind === "struct") return `struct ${type.of.name} ${type.of.pointer ? "*" : ""}${name}[]`;
      break;
    case "text":
  }
  throw new Error(`no parameter has this type: ${name}`);
}

function functionText(one: CFunction): string {
  const { name, returns, parameters, generated } = one;
  const body = [`struct message m;`, ``, `message_begin(&m, CALL_${name});`];
  for (const each of parameters) body.push(...writeParameter(each));
  const answer = parameters.filter(({ direction }) => direction === "out" || direction === "inout");
  const fails = generated && typeof returns === "object" ? "return NULL;" : "return finish(&m, error);";
  if (returns === "void") return wrapped(one, [...body, `message_end(&m);`, `finish(&m, 0);`]);
  body.push(`int error = message_end(&m);`);
  if (generated && typeof returns === "object") {
    body.push(`void *object = error ? NULL : (void *)(uintptr_t)get_u32(&m);`);
    for (const each of answer) body.push(...guarded("object", readParameter(each)));
    body.push(`errno = finish(&m, error);`, `return object;`);
    return wrapped(one, body);
  }
  body.push(`if (error)`, `\t${fails}`);
  if (typeof returns === "object") {
    body.push(`made->id = get_u32(&m);`);
    HANDLES[returns.handle].returns.forEach((_, i) => body.push(`made->member[${i}] = get_u32(&m);`));
  } else if (returns === "int") body.push(`*result = (int)get_u32(&m);`);
  else if (returns === "text") body.push(`*text = get_text(&m);`);
  else body.push(`get_u32(&m);`);
  for (const each of answer) body.push(...readParameter(each));
  body.push(`return finish(&m, 0);`);
  return wrapped(one, body);
}

function wrapped(one: CFunction, body: readonly string[]): string {
  return `${signature(one)}\n{\n${body.map((line) => (line === "" ? "" : `\t${line}`)).join("\n")}\n}\n`;
}

function guarded(condition: string, lines: readonly string[]): string[] {
  return [`if (${condition}) {`, ...lines.map((line) => `\t${line}`), `}`];
}

function writeParameter({ name, type, direction }: Parameter): string[] {
  if (direction === "out") return [];
  if (direction === "inout") return [`put_u64(&m, ${name} ? ${name}->comp_mask : 0);`];
  return write(name, "", type);
}

/** Writes a value. @param owner the struct that has its length, with `->` or `.`; empty for a parameter */
function write(value: string, owner: string, type: Type): string[] {
  switch (type.kind) {
    case "integer":
      return [`put_${integerOf(type.name)}(&m, ${hosted(type.name, value)});`];
    case "handle":
      return [`put_u32(&m, ${numberOf(type.name, value)});`];
    case "bytes": {
      const length = typeof type.length === "number" ? String(type.length) : `${owner}${type.length}`;
      return [`put_bytes(&m, ${value}, ${length});`];
    }
    case "struct":
      if (!type.pointer) return writeMembers(`${value}.`, membersOf(type.name));
      return [`put_u8(&m, ${value} != NULL);`, ...guarded(value, writeMembers(`${value}->`, membersOf(type.name)))];
    case "list": {
      const count = type.length.replace(/[a-z]\w*/, (name) => `${owner}${name}`);
      const at = `i${value.length}`;
      return [
        `put_u32(&m, ${value} ? (uint32_t)(${count}) : NO_LENGTH);`,
        `for (size_t ${at} = 0; ${value} && ${at} < (size_t)(${count}); ${at}++) {`,
        ...write(`${value}[${at}]`, "", type.of).map((line) => `\t${line}`),
        `}`,
      ];
    }
    case "text":
      throw new Error("text is only returned");
  }
}

function writeMembers(owner: string, members: readonly Member[]): string[] {
  return members.flatMap(({ name, type, when }) => {
    const lines = write(`${owner}${name}`, owner, type);
    return when === null ? lines : guarded(conditionOf(owner, when), lines);
  });
}

function conditionOf(owner: string, { of, operator, bits }: NonNullable<Member["when"]>): string {
  return operator === "&" ? `${owner}${of} & ${bits}` : `${owner}${of} == ${bits}`;
}

/** Reads an out parameter; a null pointer takes nothing, but the answer has its bytes. */
function readParameter({ name, type }: Parameter): string[] {
  if (type.kind === "bytes") return [`get_bytes(&m, ${name}, ${type.length});`];
  if (type.kind !== "struct") throw new Error(`no out parameter has this type: ${name}`);
  return guarded(name, readMembers(`${name}->`, membersOf(type.name)));
}

function readMembers(owner: string, members: readonly Member[]): string[] {
  return members.flatMap(({ name, type, when }) => {
    const lines = read(`${owner}${name}`, type);
    return when === null ? lines : guarded(conditionOf(owner, when), lines);
  });
}

function read(value: string, type: Type): string[] {
  switch (type.kind) {
    case "integer":
      return [`${value} = ${deviced(type.name, `get_${integerOf(type.name)}(&m)`)};`];
    case "bytes":
      return [`get_bytes(&m, ${value}, ${type.length});`];
    case "text":
      return [`get_bytes(&m, ${value}, ${type.length});`];
    case "struct":
      return readMembers(`${value}.`, membersOf(type.name));
    case "handle":
      // The C library keeps the queues of a queue pair itself.
      return [`get_u32(&m);`];
    case "list":
      throw new Error(`no out parameter has a list: ${value}`);
  }
}

function membersOf(name: string): readonly Member[] {
  const found = structs.get(name);
  if (found === undefined) throw new Error(`no struct ${name}`);
  return found;
}

function integerOf(name: keyof typeof INTEGERS): string {
  return `u${8 * INTEGERS[name]}`;
}

function hosted(name: keyof typeof INTEGERS, value: string): string {
  return name === "be32" ? `be32toh(${value})` : name === "be64" ? `be64toh(${value})` : value;
}

function deviced(name: keyof typeof INTEGERS, value: string): string {
  return name === "be32" ? `htobe32(${value})` : name === "be64" ? `htobe64(${value})` : value;
}

function numberOf(name: HandleName, value: string): string {
  return HANDLES[name].in === "pointer" ? `(uint32_t)(uintptr_t)${value}` : `number_of_${name}(${value})`;
}
