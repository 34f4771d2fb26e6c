import { AppError } from '#entities/kit/base/errors.ts';

/** Deepest nesting of a document; ours are flat, and whatever walks them may recurse. */
const deepest = 64;

/**
 * Parses a JSON document and refuses what nothing behind it can use: prototype keys, NUL characters, halves of surrogate
 * pairs (neither can be stored), and nesting that is only there to hurt.
 * @throws AppError malformed_body
 */
export function parseStrictJson(text: string): unknown {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw malformed(`it is not a JSON document: ${brokenPlace(text, (cause as Error).message)} is wrong`, cause);
  }
  // Most documents are flat and small; the walk is a loop, because recursion is what a deep one is after.
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) throw malformed(`it is nested deeper than ${deepest} levels`);
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
 * The character from which on a text is no JSON, as line and column. The parser says it of most mistakes; where a value is missing
 * it does not, and the text is looked through for that.
 */
function brokenPlace(text: string, said: string): string {
  const [, told] = / at position (\d+)/.exec(said) ?? [];
  const lines = text.slice(0, told === undefined ? missingValue(text) : Number(told)).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function missingValue(text: string): number {
  let before = '';
  for (let place = 0; ; place = token.lastIndex) {
    token.lastIndex = place;
    const sign = token.exec(text)?.[0].trimStart();
    if (sign === undefined) return place + (/^[ \t\r\n]*/.exec(text.slice(place))?.[0].length ?? 0);
    const isValueNext = ['', ':', ',', '['].includes(before) && !(before === '[' && sign === ']');
    if (isValueNext && [',', ':', ']', '}'].includes(sign)) return token.lastIndex - 1;
    before = sign;
  }
}

/** Names through which a document could reach the prototype of an object. */
function reachesPrototype(key: string, item: unknown): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof item === 'object' && item !== null && Object.hasOwn(item, 'prototype');
}

function refuseUnstorable(text: string): void {
  if (text.includes('\0')) throw malformed('it contains a NUL character');
  if (!text.isWellFormed()) throw malformed('it contains half a surrogate pair');
}

function malformed(reason: string, cause?: unknown): AppError {
  return new AppError('malformed_body', `The request body cannot be used: ${reason}. Send a JSON document in UTF-8.`, {
    cause,
  });
}
