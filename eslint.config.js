import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import regexp from "eslint-plugin-regexp";
import tseslint from "typescript-eslint";

const nodeGlobals = Object.fromEntries(
  [
    "Buffer",
    "URL",
    "WebAssembly",
    "console",
    "crypto",
    "fetch",
    "globalThis",
    "performance",
    "process",
    "setTimeout",
  ].map((name) => [name, "readonly"]),
);

/** A later block replaces the options of a rule, so blocks list all that holds for their files. */
const EXCESS_PROPERTIES = {
  selector: "ObjectExpression > SpreadElement > ObjectExpression",
  message: "Write the properties without the spread, which hides excess ones from the compiler.",
};
const UNNAMED_OPERATIONS = [
  {
    selector:
      "SwitchCase:matches([test.object.name=/^(Op|StateKind)$/], [test.expression.object.name='Op']) ~ SwitchCase[test=null]",
    message:
      "A default takes the next operation for one of these: index a Record<OpName, ...> (src/model/action/operations.ts).",
  },
  {
    selector: "NewExpression[callee.name=/^(Set|Map)$/] MemberExpression[object.name='Op']",
    message: "The next operation would be missing here: ask the table of src/model/action/operations.ts.",
  },
];

/** Text of others may nest deeper than any stack: parseJson of src/base/json.ts has the limit. */
const NATIVE_JSON = {
  selector: "CallExpression[callee.object.name='JSON'][callee.property.name='parse']",
  message: "Call parseJson of src/base/json.ts, which limits the depth.",
};

export default defineConfig(
  globalIgnores(["dist/", "build/", "coverage/"]),
  { linterOptions: { reportUnusedDisableDirectives: "error" } },

  {
    name: "TypeScript",
    files: ["{src,test,bench,scripts}/**/*.ts", "playground/{src,site}/**/*.{ts,tsx}", "*.config.ts"],
    extends: [js.configs.recommended, tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: "error",
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true, allowNever: true },
      ],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // An index that is known to be in range, next to noUncheckedIndexedAccess.
      "@typescript-eslint/no-non-null-assertion": "off",
      // The numbers of the core are compared with the enums that name them.
      "@typescript-eslint/no-unsafe-enum-comparison": "off",
      // Arguments come from callers without types too: checks that the types call needless are not.
      "@typescript-eslint/no-unnecessary-condition": "off",
      "@typescript-eslint/no-unnecessary-type-conversion": "off",
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "@typescript-eslint/unified-signatures": "off",
    },
  },
  {
    name: "object literals whose every property the compiler checks",
    files: ["playground/**/*.{ts,tsx}", "{test,bench,scripts}/**/*.{ts,mjs}"],
    rules: { "no-restricted-syntax": ["error", EXCESS_PROPERTIES] },
  },
  {
    name: "operations: every one is named; JSON: one reader",
    files: ["src/**/*.ts"],
    rules: { "no-restricted-syntax": ["error", EXCESS_PROPERTIES, NATIVE_JSON, ...UNNAMED_OPERATIONS] },
  },
  {
    name: "the reader of JSON itself",
    files: ["src/base/json.ts"],
    rules: { "no-restricted-syntax": ["error", EXCESS_PROPERTIES, ...UNNAMED_OPERATIONS] },
  },
  {
    name: "texts of others: no expression takes more than linear time",
    files: ["src/**/*.ts"],
    plugins: { regexp },
    rules: {
      "regexp/no-super-linear-backtracking": ["error", { report: "potential" }],
      "regexp/no-super-linear-move": ["error", { report: "potential" }],
    },
  },
  {
    name: "tests",
    files: ["{test,bench}/**/*.ts"],
    rules: {
      // JSON that a test has just written itself, and wrong arguments on purpose.
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/require-await": "off",
    },
  },

  {
    name: "tests that run in a browser too",
    files: ["test/**/*.test.ts"],
    ignores: ["test/**/*.node.test.ts"],
    rules: {
      "no-restricted-globals": ["error", "Buffer", "process"],
      "no-restricted-imports": ["error", { patterns: [{ regex: "^node:", message: "Name the file *.node.test.ts." }] }],
    },
  },

  {
    name: "JavaScript",
    files: ["**/*.{js,mjs}"],
    extends: [js.configs.recommended],
    languageOptions: { globals: nodeGlobals },
    rules: { eqeqeq: "error" },
  },

  {
    // Decorated functions are no TypeScript, and the types are the compiler's own: `asc --noEmit` checks those.
    name: "AssemblyScript",
    files: ["assembly/**/*.ts"],
    extends: [js.configs.recommended],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { allowInvalidAST: true, errorOnUnknownASTType: false },
    },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: {
      "no-var": "error",
      "no-else-return": "error",
      // Another file may assign to an exported variable.
      "prefer-const": "off",
      "no-undef": "off",
      "no-unused-vars": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      // Conditions on types are decided when the function is compiled, and integers have 64 bits.
      "no-constant-condition": "off",
      "no-constant-binary-expression": "off",
      "no-loss-of-precision": "off",
      "no-redeclare": "off",
    },
  },
);
