/**
 * Marks what the top level of a module computes as free of side effects, so that a bundler leaves out
 * what a program does not use: calls by an annotation, other expressions by an annotated function around
 * them. No module here has side effects (package.json, sideEffects).
 */
import ts from "typescript";

const PURE = "/*@__PURE__*/";
const { SyntaxKind } = ts;

/** @param {string} text a module without types */
export function withPure(text) {
  const source = ts.createSourceFile("module.js", text, ts.ScriptTarget.Latest, true);
  const edits = source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .filter(({ name, initializer }) => ts.isIdentifier(name) && initializer !== undefined && !isPure(initializer))
    .map((declaration) => edit(declaration, source));
  let result = text;
  for (const { at, end, before, after } of edits.reverse())
    result = `${result.slice(0, at)}${before}${result.slice(at, end)}${after}${result.slice(end)}`;
  return result;
}

function edit({ name, initializer }, source) {
  const [at, end] = [initializer.getStart(source), initializer.getEnd()];
  if (isPureCall(initializer)) return { at, end, before: PURE, after: "" };
  // A class gets its name from the variable.
  if (ts.isClassExpression(initializer) && initializer.name === undefined)
    return { at, end, before: `${PURE}(()=>{const ${name.text}=`, after: `;return ${name.text}})()` };
  const isObject = ts.isObjectLiteralExpression(initializer);
  return { at, end, before: `${PURE}(()=>${isObject ? "(" : ""}`, after: `${isObject ? ")" : ""})()` };
}

/** Whether the annotation is enough: nothing else than the call may have an effect. */
function isPureCall(node) {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  return ts.isIdentifier(node.expression) && (node.arguments ?? []).every(isPure);
}

/** Whether all bundlers see that it has no effect. */
function isPure(node) {
  if (ts.isIdentifier(node) || ts.isLiteralExpression(node) || ts.isFunctionLike(node)) return true;
  if (ts.isParenthesizedExpression(node)) return isPure(node.expression);
  if (ts.isPrefixUnaryExpression(node)) return ts.isLiteralExpression(node.operand);
  if (ts.isArrayLiteralExpression(node)) return node.elements.every(isPure);
  if (ts.isObjectLiteralExpression(node)) return node.properties.every(isPureProperty);
  if (ts.isClassExpression(node)) return node.heritageClauses === undefined && node.members.every(isPureMember);
  return [SyntaxKind.TrueKeyword, SyntaxKind.FalseKeyword, SyntaxKind.NullKeyword].includes(node.kind);
}

function isPureProperty(property) {
  if (ts.isShorthandPropertyAssignment(property)) return true;
  if (ts.isSpreadAssignment(property) || ts.isComputedPropertyName(property.name)) return false;
  return !ts.isPropertyAssignment(property) || isPure(property.initializer);
}

function isPureMember(member) {
  if (ts.isClassStaticBlockDeclaration(member) || (member.name && ts.isComputedPropertyName(member.name))) return false;
  const isStatic = (ts.getModifiers(member) ?? []).some(({ kind }) => kind === SyntaxKind.StaticKeyword);
  return (
    !isStatic || !ts.isPropertyDeclaration(member) || member.initializer === undefined || isPure(member.initializer)
  );
}
