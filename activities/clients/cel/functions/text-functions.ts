import { CelFailure, meter } from '../meter.ts';

// The "strings" extension of CEL. Positions are those of code points, and sizes of results are charged before they are made.

const surrogate = /[\ud800-\udfff]/;

/** The characters of a text, by code points. A text without surrogates is its own. */
function characters(text: string): string | readonly string[] {
  return surrogate.test(text) ? Array.from(text) : text;
}

function joined(part: string | readonly string[]): string {
  return typeof part === 'string' ? part : part.join('');
}

function outOfRange(name: string, index: bigint): CelFailure {
  return new CelFailure('invalid_argument', `${name}: the index ${index} is out of range.`);
}

function checkedIndex(name: string, index: bigint, length: number): number {
  if (index < 0n || index > BigInt(length)) throw outOfRange(name, index);
  return Number(index);
}

export function size(text: string): bigint {
  return BigInt(characters(text).length);
}

export function charAt(text: string, index: bigint): string {
  const all = characters(text);
  return all[checkedIndex('charAt', index, all.length)] ?? '';
}

export function indexOf(text: string, search: string, from = 0n): bigint {
  const all = characters(text);
  const start = checkedIndex('indexOf', from, all.length);
  if (typeof all === 'string') return BigInt(all.indexOf(search, start));
  const at = text.indexOf(search, all.slice(0, start).join('').length);
  return at < 0 ? -1n : size(text.slice(0, at));
}

export function lastIndexOf(text: string, search: string, from?: bigint): bigint {
  const all = characters(text);
  const start = from === undefined ? all.length : checkedIndex('lastIndexOf', from, all.length);
  if (typeof all === 'string') return BigInt(all.lastIndexOf(search, start));
  const at = text.lastIndexOf(search, all.slice(0, start).join('').length);
  return at < 0 ? -1n : size(text.slice(0, at));
}

export function substring(text: string, from: bigint, to?: bigint): string {
  const all = characters(text);
  const start = checkedIndex('substring', from, all.length);
  const end = to === undefined ? all.length : checkedIndex('substring', to, all.length);
  if (start > end) throw outOfRange('substring', from);
  return joined(all.slice(start, end));
}

export function replace(text: string, search: string, replacement: string, limit = -1n): string {
  if (limit === 0n) return text;
  const parts = search === '' ? ['', ...Array.from(text), ''] : text.split(search);
  const count = limit < 0n ? parts.length - 1 : Math.min(parts.length - 1, Number(limit));
  meter.charge(text.length + count * replacement.length);
  const rest = parts.slice(count).join(search);
  return [...parts.slice(0, count), rest].join(replacement);
}

export function split(text: string, separator: string, limit = -1n): string[] {
  if (limit === 0n) return [];
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  meter.charge(parts.length * 10);
  if (limit < 0n || BigInt(parts.length) <= limit) return parts;
  const kept = Number(limit) - 1;
  return [...parts.slice(0, kept), parts.slice(kept).join(separator)];
}

export function join(list: readonly unknown[], separator = ''): string {
  let length = 0;
  for (const item of list) {
    if (typeof item !== 'string') throw new CelFailure('wrong_type', 'join: the list has an item that is no string.');
    length += item.length + separator.length;
  }
  meter.charge(length);
  return list.join(separator);
}

export function reverse(text: string): string {
  return Array.from(text).reverse().join('');
}

/** Only A to Z, also where the language of a text knows others. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
}

export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (part) => part.toUpperCase());
}

/** Removes white space as Unicode defines it at both ends. Two passes over the text: one pattern would take quadratic time. */
export function trim(text: string): string {
  const isSpace = (character: string | undefined) => character !== undefined && /[\p{White_Space}]/u.test(character);
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text[start])) start++;
  while (end > start && isSpace(text[end - 1])) end--;
  return text.slice(start, end);
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** A literal with the text. */
export function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the characters that a literal escapes
  return `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, (character) => escapes[character] ?? character)}"`;
}
