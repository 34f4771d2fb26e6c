import { fileTypeFromBuffer } from 'file-type';
import { AppError } from '#entities/kit/base/errors.ts';
import type { DeclaredFile } from '#entities/kit/objects/upload-rows.ts';
import { usualType, type FileTypes } from './file-types.ts';

/** How many bytes at the beginning of a file tell its type. */
export const headBytes = 65_536;

type NamedFile = Pick<DeclaredFile, 'name' | 'type'>;

/** Types with which programs send what they do not know; a part of a form without one counts as `text/plain` (RFC 7578, section 4.4). */
const sayNothing = new Set([
  '',
  'text/plain',
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-www-form-urlencoded',
]);

/**
 * The type that the content of a file has. The name decides only which kind of text a text is.
 * @param head the first `headBytes` bytes, or all
 * @param allowed any type if left out
 * @throws AppError file_type_refused for a type that is not allowed, or that contradicts the name or the declared type
 */
export async function detectType(
  head: Buffer,
  declared: NamedFile,
  types: FileTypes,
  allowed?: readonly string[],
): Promise<string> {
  const byName = types.ofName(declared.name);
  const found = await typeOfContent(head, byName, types);
  const said = usualType(declared.type ?? '');
  if (byName !== undefined && familyOf(byName) !== familyOf(found))
    throw refused(
      `Its name says ${byName}, but its content is ${found}; rename it so that its extension fits its content.`,
    );
  if (!sayNothing.has(said) && !agree(said, found, byName))
    throw refused(`It was sent as ${said}, but its content is ${found}; send it under its own type, or without one.`);
  if (allowed && !allowed.includes(found))
    throw refused(`Its content is ${found}; allowed here are ${allowed.join(', ')}.`);
  return found;
}

/**
 * Refuses a file whose name or declared type no allowed content can have.
 * @throws AppError file_type_refused
 */
export function checkDeclaredType(declared: NamedFile, types: FileTypes, allowed: readonly string[]): void {
  const byName = types.ofName(declared.name);
  const said = usualType(declared.type ?? '');
  if (byName !== undefined && allowed.every((type) => familyOf(type) !== familyOf(byName)))
    throw refused(`Its name says ${byName}; allowed here are ${allowed.join(', ')}.`);
  if (!sayNothing.has(said) && !allowed.some((type) => agree(said, type, byName)))
    throw refused(`It was sent as ${said}; allowed here are ${allowed.join(', ')}.`);
}

function refused(reason: string): AppError {
  return new AppError('file_type_refused', `The file was refused. ${reason}`);
}

/** Spreadsheet programs register themselves for comma-separated values, and browsers then send their type. */
function agree(said: string, found: string, byName: string | undefined): boolean {
  return familyOf(said) === familyOf(found) || (said === 'application/vnd.ms-excel' && byName === 'text/csv');
}

async function typeOfContent(head: Buffer, byName: string | undefined, types: FileTypes): Promise<string> {
  const signature = await fileTypeFromBuffer(head);
  const known = usualType(signature?.mime ?? '');
  if (known !== '' && known !== 'application/xml') return known;
  if (known === '' && isBinary(head)) return types.ofUnknown;
  const markup = markupOf(head);
  if (markup !== undefined) return markup;
  return byName !== undefined && familyOf(byName) === 'text' ? byName : 'text/plain';
}

/** Whether it contains a byte that no text has, unless a byte order mark says that it is text (MIME Sniffing Standard, 7.2). */
function isBinary(head: Buffer): boolean {
  const mark = head.readUIntBE(0, Math.min(2, head.length));
  if (mark === 0xfeff || mark === 0xfffe) return false;
  return head.some(
    (byte) => byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f),
  );
}

/** Beginnings of HTML documents (MIME Sniffing Standard, 7.1): a tag, ended by a space, a line end or `>`. */
const html =
  /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)(?:[\s>]|(?<=!--))/iu;

/** The type of text that begins as a document of markup, whatever its name is: a browser would take it for one. */
function markupOf(head: Buffer): string | undefined {
  const text = textOf(head).trimStart();
  const root = rootElement(text);
  if (root === 'svg') return 'image/svg+xml';
  if (html.test(text)) return 'text/html';
  if (root === 'html') return 'application/xhtml+xml';
  return text.startsWith('<?xml') ? 'application/xml' : undefined;
}

/** The name of the first element of an XML document without its prefix, in lower case. */
function rootElement(text: string): string | undefined {
  let index = 0;
  // What may stand before it: declaration and instructions, comments, a document type.
  while (index < text.length) {
    const end = endOfMarkup(text, index);
    if (end === undefined) break;
    index = end;
    while (/\s/u.test(text[index] ?? '')) index++;
  }
  return /^<(?:[\w.-]+:)?(?<name>[\w.-]+)/u.exec(text.slice(index, index + 100))?.groups?.['name']?.toLowerCase();
}

/** Index after the instruction, comment or document type that begins here; undefined where none does. */
function endOfMarkup(text: string, start: number): number | undefined {
  const end = ['<?', '<!--', '<!'].find((opening) => text.startsWith(opening, start));
  if (end === undefined) return undefined;
  const closing = end === '<?' ? '?>' : end === '<!--' ? '-->' : closingOfDoctype(text, start);
  const found = text.indexOf(closing, start + end.length);
  return found === -1 ? text.length : found + closing.length;
}

/** A document type with declarations of its own ends after their bracket. */
function closingOfDoctype(text: string, start: number): string {
  const end = text.indexOf('>', start);
  // Searched no further: a text of many such openings would be read again for each.
  return end !== -1 && text.slice(start, end).includes('[') ? ']>' : '>';
}

function textOf(head: Buffer): string {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return head.toString('utf16le').slice(1);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(head);
  return head.toString('utf8').replace(/^\uFEFF/u, '');
}

/** Types between which content alone does not decide are one family; any other type is its own. */
function familyOf(type: string): string {
  const isText =
    type.startsWith('text/') ||
    /[+/](?:json|xml|yaml)$/u.test(type) ||
    ['application/x-ndjson', 'application/sql', 'application/toml', 'application/x-sh'].includes(type);
  if (isText) return 'text';
  // Office documents are archives, and one format of film holds sound alone, too.
  if (type === 'application/zip' || /^application\/(?:epub\+zip|vnd\.(?:oasis|openxmlformats-))/u.test(type))
    return 'zip';
  return /^(?:audio|video)\//u.test(type) ? 'film' : type;
}
