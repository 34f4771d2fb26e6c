import { AppError } from '#entities/kit/base/errors.ts';

/** Maximum nesting of a document: code that walks it may recurse. */
const maxDepth = 64;

/**
 * Parses a JSON document and rejects prototype keys, excessive nesting, and NUL characters and unpaired surrogates, which cannot
 * be stored.
 * @throws AppError malformed_body
 */
export function parseStrictJson(text: string): unknown {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw malformed(`it is not valid JSON at ${errorPosition(text, (cause as Error).message)}`, cause);
  }
  // A loop instead of recursion, because deep documents could exhaust the stack.
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw malformed(`it is nested deeper than ${maxDepth} levels`);
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'string') refuseUnstorable(value);
      else if (Array.isArray(value)) for (const item of value) next.push(item);
      else if (value !== null && typeof value === 'object') {
        for (const [key, item] of Object.entries(value)) {
          if (reachesPrototype(key, item)) throw malformed(`the name "${key}" is not allowed here`);
          refuseUnstorable(key);
          next.push(item);
        }
      }
    }
    level = next;
  }
  return document;
}

const token = /[ \t\r\n]*(?:"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:])/y;

/**
 * Line and column of the first invalid character. The parser reports its position except where a value is missing; that position
 * is searched for.
 */
function errorPosition(text: string, message: string): string {
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  const lines = text.slice(0, position === undefined ? missingValue(text) : Number(position)).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function missingValue(text: string): number {
  let before = '';
  for (let index = 0; ; index = token.lastIndex) {
    token.lastIndex = index;
    const sign = token.exec(text)?.[0].trimStart();
    if (sign === undefined) return index + (/^[ \t\r\n]*/.exec(text.slice(index))?.[0].length ?? 0);
    const isValueNext = ['', ':', ',', '['].includes(before) && !(before === '[' && sign === ']');
    if (isValueNext && [',', ':', ']', '}'].includes(sign)) return token.lastIndex - 1;
    before = sign;
  }
}

/** Whether this member could change the prototype of an object. */
function reachesPrototype(key: string, item: unknown): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof item === 'object' && item !== null && Object.hasOwn(item, 'prototype');
}

function refuseUnstorable(text: string): void {
  if (text.includes('\0')) throw malformed('it contains a NUL character');
  if (!text.isWellFormed()) throw malformed('it contains an unpaired surrogate');
}

function malformed(reason: string, cause?: unknown): AppError {
  return new AppError('malformed_body', `The request body is invalid: ${reason}. Send a JSON document in UTF-8.`, {
    cause,
  });
}
