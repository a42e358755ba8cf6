/**
 * Finds the mutants of an AssemblyScript source text: small changes, each of which some test should notice.
 *
 *     comparison      a < b     a <= b, a >= b          arithmetic      a + b         a - b
 *     equality        a == b    a != b                  bits            a & b         a | b
 *     logic           a && b    a || b, !(...)          shifts          a << b        a >> b
 *     constants       7         8, 6                    min, max        min(a, b)     max(a, b)
 *     statements      f(x);     nothing                 select          select(a, b)  select(b, a)
 *
 * The compiler's own parser gives the places; every change is text. Constants of modules stay: the compiler folds them.
 */

/** What an operator becomes. */
const BINARY = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "==": ["!="],
  "!=": ["=="],
  "&&": ["||"],
  "||": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["/"],
  "&": ["|"],
  "|": ["&"],
  "^": ["|"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "+=": ["-="],
  "-=": ["+="],
  "*=": ["/="],
  "/=": ["*="],
  "%=": ["/="],
  "&=": ["|="],
  "|=": ["&="],
  "^=": ["|="],
  "<<=": [">>="],
  ">>=": ["<<="],
  ">>>=": ["<<="],
};
const COMPARISONS = new Set(["<", "<=", ">", ">=", "==", "!="]);
const CALLS = { min: "max", max: "min" };

/**
 * From which argument on a built-in function takes immediates, which no expression can stand for: the change is then
 * one of the whole call.
 */
function firstImmediate(callee) {
  const name = callee.slice(callee.lastIndexOf(".") + 1);
  if (/^load\d*_lane$|^store\d*_lane$|^shuffle/.test(name)) return 2;
  if (/^load/.test(name) || /^(extract|replace)_lane/.test(name)) return 1;
  return /^store/.test(name) ? 2 : Infinity;
}

/**
 * @typedef {object} Mutant
 * @property {string} file
 * @property {string} function  name of the function, its namespace or class before it
 * @property {number} line
 * @property {string} from      the text that changes, on one line
 * @property {string} to        what it becomes; empty for a dropped statement
 * @property {number} start     of the place that is switched: `from` or more
 * @property {number} end
 * @property {boolean} statement  whether that place is a statement
 * @property {string} text      of the place with the change
 * @property {string} key       function and change, with a number where the function has the same change before
 */

/** All mutants of a text, in its order, and the bodies of its loops. */
export async function mutantsOf(text, file) {
  const { newOptions, newProgram, parse, NodeKind } = await import("assemblyscript");
  const program = newProgram(newOptions());
  parse(program, text, file, true);
  const source = program.sources.find(({ normalizedPath }) => normalizedPath === file);
  const mutants = [];
  const loops = [];
  let inside = "";

  const textOf = ({ range }) => text.slice(range.start, range.end);
  const grouped = (node) =>
    node.kind === NodeKind.Binary || node.kind === NodeKind.Ternary ? `(${textOf(node)})` : textOf(node);
  const oneLine = (piece) =>
    piece
      .replace(/\/\/.*$/gm, "")
      .replace(/\s+/g, " ")
      .trim();

  /** The piece of text at `from..to` becomes `change`; `place` is what is switched. */
  function add(place, start, end, change, statement = false) {
    const from = oneLine(text.slice(start, end));
    const to = oneLine(change);
    mutants.push({
      file,
      function: inside,
      line: source.lineAt(start),
      from,
      to,
      statement,
      changed: start,
      start: place.start,
      end: place.end,
      text: text.slice(place.start, start) + change + text.slice(end, place.end),
    });
  }

  /** Visits what is below a node; `place` is the call around it where the node has to be an immediate. */
  function visit(node, place) {
    const { range } = node;
    const at = place ?? range;
    const replace = (change) => add(at, range.start, range.end, change);
    switch (node.kind) {
      case NodeKind.Binary:
        binary(node, at);
        break;
      case NodeKind.UnaryPrefix:
      case NodeKind.UnaryPostfix:
        unary(node, range, replace);
        break;
      case NodeKind.Literal:
        constant(node, replace);
        return;
      case NodeKind.True:
        return replace("false");
      case NodeKind.False:
        return replace("true");
      case NodeKind.Call:
        return call(node, place);
      case NodeKind.Ternary:
        condition(node.condition);
        break;
      case NodeKind.If:
        condition(node.condition);
        droppable([node.ifTrue, node.ifFalse]);
        break;
      case NodeKind.For:
      case NodeKind.While:
      case NodeKind.Do:
        if (node.condition) condition(node.condition);
        droppable([node.body]);
        loops.push({ start: node.body.range.start, end: endOf(node.body) });
        break;
      case NodeKind.Block:
      case NodeKind.SwitchCase:
        droppable(node.statements);
        break;
    }
    children(node, place);
  }

  function binary({ left, right, range }, at) {
    const sign = oneLine(text.slice(left.range.end, right.range.start));
    for (const other of BINARY[sign] ?? []) {
      add(at, range.start, range.end, `${grouped(left)} ${other} ${grouped(right)}`);
    }
  }

  function unary({ operand, kind }, { start, end }, replace) {
    const piece = textOf(operand);
    const prefix = kind === NodeKind.UnaryPrefix;
    const sign = prefix ? text.slice(start, operand.range.start).trim() : text.slice(operand.range.end, end).trim();
    if (sign === "++" || sign === "--") {
      const other = sign === "++" ? "--" : "++";
      replace(prefix ? other + piece : piece + other);
    } else if ((sign === "-" && operand.kind !== NodeKind.Literal) || sign === "~" || sign === "!") replace(piece);
  }

  function constant(node, replace) {
    const digits = textOf(node).replaceAll("_", "");
    if (!/^(0x[\da-f]+|0b[01]+|\d+)$/i.test(digits)) return;
    const value = BigInt(digits);
    // One more would be a constant of a wider type.
    if (value !== 0xffffffffn && value !== 0xffffffffffffffffn) replace(String(value + 1n));
    if (value > 0n) replace(String(value - 1n));
  }

  function call(node, place) {
    const { expression, args, range } = node;
    const callee = textOf(expression);
    const at = place ?? range;
    if (callee === "assert") return;
    const rename = CALLS[callee];
    if (rename !== undefined) add(at, expression.range.start, expression.range.end, rename);
    if (callee === "select") {
      const [first, second] = args;
      const middle = text.slice(first.range.end, second.range.start);
      add(at, first.range.start, second.range.end, textOf(second) + middle + textOf(first));
    }
    const immediate = firstImmediate(callee);
    visit(expression, place);
    args.forEach((one, i) => visit(one, i >= immediate ? at : place));
  }

  /** Conditions that are comparisons are negated by another comparison. */
  function condition(node) {
    const bare = node.kind === NodeKind.Parenthesized ? node.expression : node;
    if (bare.kind === NodeKind.UnaryPrefix || bare.kind === NodeKind.True || bare.kind === NodeKind.False) return;
    if (bare.kind === NodeKind.Literal) return;
    if (bare.kind === NodeKind.Binary) {
      const sign = oneLine(text.slice(bare.left.range.end, bare.right.range.start));
      if (COMPARISONS.has(sign)) return;
    }
    add(node.range, node.range.start, node.range.end, `!(${textOf(node)})`);
  }

  /** Calls, assignments and jumps; what a declaration or a returned value is left out of does not compile. */
  function droppable(statements) {
    for (const one of statements) {
      if (!one) continue;
      const jump = one.kind === NodeKind.Break || one.kind === NodeKind.Continue;
      const bareReturn = one.kind === NodeKind.Return && !one.value;
      if (!jump && !bareReturn && one.kind !== NodeKind.Expression) continue;
      if (/^assert\b/.test(textOf(one))) continue;
      const place = { start: one.range.start, end: endOf(one) };
      add(place, place.start, place.end, "", true);
    }
  }

  function endOf({ range }) {
    const semicolon = /^\s*;/.exec(text.slice(range.end));
    return text[range.end - 1] === ";" || text[range.end - 1] === "}" || !semicolon
      ? range.end
      : range.end + semicolon[0].length;
  }

  function children(node, place) {
    for (const [name, value] of Object.entries(node)) {
      // `while (true)` tells the compiler that nothing follows.
      if (name === "condition" && value?.kind === NodeKind.True) continue;
      if (name === "range" || name === "decorators" || name === "typeArguments" || name === "type") continue;
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one?.range !== undefined && one.kind > NodeKind.Parameter) visit(one, place);
      }
    }
  }

  function declared(node, prefix) {
    const name = prefix + (node.name?.text ?? "");
    if (node.kind === NodeKind.FunctionDeclaration || node.kind === NodeKind.MethodDeclaration) {
      inside = name;
      if (node.body) visit(node.body);
    } else if (node.members) for (const one of node.members) declared(one, `${name}.`);
  }

  for (const one of source.statements) declared(one, "");
  mutants.sort((a, b) => a.changed - b.changed);
  const seen = new Map();
  for (const one of mutants) {
    const key = `${one.function}: ${one.from} → ${one.statement ? "(dropped)" : one.to}`;
    const ordinal = (seen.get(key) ?? 0) + 1;
    seen.set(key, ordinal);
    one.key = ordinal === 1 ? key : `${key} (${ordinal})`;
  }
  return { mutants, loops };
}
