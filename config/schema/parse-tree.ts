import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type YAMLError,
} from 'yaml';

/**
 * A parsed YAML or JSON text with the line of every part, before it is validated. Keys are stored in a Map, so that no key
 * can change the prototype of an object.
 */
export type Tree =
  | { readonly type: 'scalar'; readonly line: number; readonly value: null | boolean | number | string }
  | { readonly type: 'list'; readonly line: number; readonly items: readonly Tree[] }
  | {
      readonly type: 'map';
      readonly line: number;
      readonly entries: ReadonlyMap<string, { line: number; tree: Tree }>;
    };

/** A part of the text that cannot be parsed. */
interface Unreadable {
  readonly line: number;
  readonly reason: string;
  readonly remedy: string;
}

/** Thrown and caught inside `parseTree`. */
class TreeError extends Error {
  readonly unreadable: Unreadable;

  constructor(unreadable: Unreadable) {
    super(unreadable.reason);
    this.unreadable = unreadable;
  }
}

const maxDepth = 32;
const maxParts = 20_000;

/** Keys that could change a prototype when a value is copied without care. */
const dangerousKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** Reasons by error code. The messages of the parser are not used, because they quote the text, which may be a secret. */
const syntaxReasons: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'refers to an anchor that does not exist or is not allowed here',
  BAD_INDENT: 'is indented wrongly or lacks a closing bracket',
  BLOCK_AS_IMPLICIT_KEY: 'has two colons, or the line after it is indented more',
  DUPLICATE_KEY: 'has the same key twice',
  MISSING_CHAR: 'lacks a character (a quote, comma, colon or bracket)',
  MULTILINE_IMPLICIT_KEY: 'lacks a colon, or the space after it',
  MULTIPLE_DOCS: 'contains more than one document',
  TAB_AS_INDENT: 'is indented with a tab',
  TAG_RESOLVE_FAILED: 'has a tag that is not supported',
  UNEXPECTED_TOKEN: 'has a character where none is expected',
};

const syntaxRemedies: Readonly<Record<string, string>> = {
  BAD_INDENT: 'indent the fields of one object alike, and close each bracket',
  BLOCK_AS_IMPLICIT_KEY: 'indent the fields of one object alike; a text with a colon belongs in quotes',
  DUPLICATE_KEY: 'remove one of them',
  MULTIPLE_DOCS: 'remove the line ---',
  TAB_AS_INDENT: 'use spaces',
  TAG_RESOLVE_FAILED: 'write the plain value',
};

function syntaxProblem(error: YAMLError, lines: LineCounter): Unreadable {
  return {
    line: lines.linePos(error.pos[0]).line,
    reason: syntaxReasons[error.code] ?? `is not valid YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`,
    remedy: syntaxRemedies[error.code] ?? 'correct the line; long or special texts belong in quotes',
  };
}

/** One mistake often causes several errors, so only the first error of each line is kept. */
function firstPerLine(problems: readonly Unreadable[]): Unreadable[] {
  return problems.filter(({ line }, index) => problems.findIndex((other) => other.line === line) === index).slice(0, 5);
}

class TreeReader {
  #parts = 0;
  readonly #open = new Set<unknown>();
  readonly #document: Document;
  readonly #lines: LineCounter;

  constructor(document: Document, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
  }

  read(node: unknown, parentLine: number, depth: number): Tree {
    const line = this.#lineOf(node) ?? parentLine;
    if (depth > maxDepth) this.#fail(line, 'is nested too deeply', `use at most ${maxDepth} levels`);
    if (++this.#parts > maxParts) {
      this.#fail(
        line,
        `has more than ${maxParts} values, counting what aliases repeat`,
        'write the values out, without aliases',
      );
    }
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target === undefined) this.#fail(line, 'has an alias without its anchor', 'write the value out');
      if (this.#open.has(target)) this.#fail(line, 'has an alias that refers to itself', 'write the value out');
      return this.read(target, line, depth + 1);
    }
    if (isScalar(node)) return this.#readScalar(node.value, line);
    this.#open.add(node);
    const tree = isMap(node) ? this.#readMap(node.items, line, depth) : this.#readList(node, line, depth);
    this.#open.delete(node);
    return tree;
  }

  #readScalar(value: unknown, line: number): Tree {
    if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
      return { type: 'scalar', line, value };
    }
    return this.#fail(line, 'has a value that is neither text nor number nor true or false', 'write the plain value');
  }

  #readList(node: unknown, line: number, depth: number): Tree {
    if (!isSeq(node)) {
      // `key:` without a value.
      return { type: 'scalar', line, value: null };
    }
    return { type: 'list', line, items: node.items.map((item) => this.read(item, line, depth + 1)) };
  }

  #readMap(items: readonly { key: unknown; value: unknown }[], line: number, depth: number): Tree {
    const entries = new Map<string, { line: number; tree: Tree }>();
    for (const { key, value } of items) {
      const keyLine = this.#lineOf(key) ?? line;
      const scalar = isAlias(key) ? key.resolve(this.#document) : key;
      if (!isScalar(scalar)) this.#fail(keyLine, 'has a key that is a list or an object', 'use a text as key');
      const name = typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value));
      if (dangerousKeys.has(name)) this.#fail(keyLine, `has the key ${name}`, 'remove it');
      if (entries.has(name)) this.#fail(keyLine, 'has the same key twice', 'remove one of them');
      entries.set(name, { line: keyLine, tree: this.read(value, keyLine, depth + 1) });
    }
    return { type: 'map', line, entries };
  }

  #lineOf(node: unknown): number | undefined {
    const start = isNode(node) ? node.range?.[0] : undefined;
    return start === undefined ? undefined : this.#lines.linePos(start).line;
  }

  #fail(line: number, reason: string, remedy: string): never {
    throw new TreeError({ line, reason, remedy });
  }
}

/** A parsed text, or the parts that cannot be parsed. */
export type Parsed = { readonly tree: Tree } | { readonly unreadable: readonly Unreadable[] };

/** Parses a YAML or JSON text. */
export function parseTree(text: string): Parsed {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error', merge: false });
    const errors = [...document.errors, ...document.warnings];
    if (errors.length > 0) return { unreadable: firstPerLine(errors.map((error) => syntaxProblem(error, lines))) };
    return { tree: new TreeReader(document, lines).read(document.contents, 1, 0) };
  } catch (error) {
    if (error instanceof TreeError) return { unreadable: [error.unreadable] };
    // The parser is recursive: deeply nested brackets exhaust the stack.
    if (error instanceof RangeError) {
      return { unreadable: [{ line: 1, reason: 'is nested too deeply', remedy: `use at most ${maxDepth} levels` }] };
    }
    throw error;
  }
}
