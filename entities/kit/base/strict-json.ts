/** Maximum nesting of a document: code that walks it may recurse. */
const maxDepth = 64;

/** A JSON document that is not accepted; the message is the reason, as a clause about the document. */
export class JsonRefusal extends Error {
  override readonly name = 'JsonRefusal';
}

/**
 * Parses a JSON document, wherever it comes from. Of members with the same name the last one is valid.
 * @throws JsonRefusal for text that is not JSON, and for what `jsonProblem` finds
 */
export function parseStrictJson(text: string): unknown {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    const index = errorIndex(text, (cause as Error).message);
    throw new JsonRefusal(`it is not valid JSON at ${positionOf(text, index)}${reasonAt(text, index)}`, { cause });
  }
  const problem = jsonProblem(document);
  if (problem) throw new JsonRefusal(problem);
  return document;
}

/**
 * Why a document cannot be accepted: names that reach prototypes, excessive nesting, and NUL characters and unpaired surrogates,
 * which cannot be stored. Undefined for all others.
 */
export function jsonProblem(document: unknown): string | undefined {
  // A loop instead of recursion, because deep documents could exhaust the stack.
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return `it is nested deeper than ${maxDepth} levels`;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'string') {
        const problem = textProblem(value);
        if (problem) return problem;
      } else if (Array.isArray(value)) for (const item of value) next.push(item);
      else if (value !== null && typeof value === 'object') {
        for (const [key, item] of Object.entries(value)) {
          const problem = reachesPrototype(key, item) ? `the name "${key}" is not allowed here` : textProblem(key);
          if (problem) return problem;
          next.push(item);
        }
      }
    }
    level = next;
  }
  return undefined;
}

/** Why a document would not come back as it was sent; undefined for all others. @param document without cycles, as deep as `jsonProblem` accepts */
export function roundedProblem(document: unknown): string | undefined {
  if (typeof document === 'number' && Number.isInteger(document) && !Number.isSafeInteger(document))
    return `it contains a whole number beyond ${Number.MAX_SAFE_INTEGER}, which would be rounded; send it as a text`;
  if (typeof document !== 'object' || document === null) return undefined;
  for (const value of Object.values(document)) {
    const problem = roundedProblem(value);
    if (problem) return problem;
  }
  return undefined;
}

const token = /[ \t\r\n]*(?:"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:])/y;

/** Index of the first invalid character. The parser reports it except where a value is missing; that index is searched for. */
function errorIndex(text: string, message: string): number {
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  return position === undefined ? missingValue(text) : Number(position);
}

function positionOf(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** For the mistakes that are made most: what is wrong at the first invalid character, as the end of a sentence; else empty. */
function reasonAt(text: string, index: number): string {
  const before = text.slice(0, index).trimEnd();
  const sign = text.slice(index).trimStart().slice(0, 1);
  if (before === '') return '';
  if (sign === '') return ': the document ends before all of its brackets and texts are closed';
  if (before.endsWith(',') && '}]'.includes(sign)) return ': a comma is followed by no further member; remove it';
  if (/[{[,:]$/.test(before) && /['A-Za-z_“”]/.test(sign)) return ': names and texts are written in double quotes';
  return '\r\n'.includes(text.charAt(index)) ? ': a line break in a text is written as \\n' : '';
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

function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'it contains a NUL character';
  return text.isWellFormed() ? undefined : 'it contains an unpaired surrogate';
}
