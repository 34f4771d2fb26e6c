import { fileTypeFromBuffer } from 'file-type';
import { AppError } from '#entities/kit/base/errors.ts';
import type { DeclaredFile } from '#entities/kit/objects/upload-rows.ts';
import { usualType, type FileTypes } from './file-types.ts';
import { markupOf } from './markup-of.ts';
import { compoundFile, isOldOfficeName, oldOfficeAdvice } from './old-office.ts';

/** Number of bytes at the beginning of a file that determine its type. */
export const headBytes = 65_536;

type NamedFile = Pick<DeclaredFile, 'name' | 'type'>;

/** Types with which programs send what they do not know; a part of a form without one is `text/plain` (RFC 7578, section 4.4). */
const sayNothing = new Set([
  '',
  'text/plain',
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-www-form-urlencoded',
]);

/**
 * Refuses a type that contradicts the name or the declared type, or that is not allowed.
 * @param allowed any type if left out
 * @param isFinal whether what is an archive so far can be no office document any more
 * @throws AppError file_type_refused
 */
export function checkType(
  found: string,
  declared: NamedFile,
  types: FileTypes,
  { allowed, isFinal = true }: { readonly allowed?: readonly string[] | undefined; readonly isFinal?: boolean },
): void {
  const byName = types.ofName(declared.name);
  const said = usualType(declared.type ?? '');
  const isAllowed = allowed?.some((type) => (isFinal ? type === found : familyOf(type) === familyOf(found))) ?? true;
  const contradicts = byName !== undefined && familyOf(byName) !== familyOf(found);
  const advice = found === compoundFile ? oldOfficeAdvice(declared.name, allowed) : undefined;
  if (advice !== undefined && (contradicts || !isAllowed)) throw refused(advice);
  if (contradicts)
    throw refused(
      `Its name says ${byName}, but its content is ${found}; rename it so that its extension fits its content.`,
    );
  if (!sayNothing.has(said) && !agree(said, found, byName))
    throw refused(`It was sent as ${said}, but its content is ${found}; send it under its own type, or without one.`);
  if (!isAllowed) throw refused(`Its content is ${found}; allowed here are ${allowed?.join(', ')}.`);
}

/** Refuses a file whose name or declared type no allowed content can have. @throws AppError file_type_refused */
export function checkDeclaredType(declared: NamedFile, types: FileTypes, allowed: readonly string[]): void {
  const byName = types.ofName(declared.name);
  const said = usualType(declared.type ?? '');
  const advice =
    byName !== undefined && isOldOfficeName(declared.name) ? oldOfficeAdvice(declared.name, allowed) : undefined;
  if (advice !== undefined) throw refused(advice);
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

/**
 * The type that the content of a file has. The name decides only which kind of text a text is, and where a PDF may begin. Of an archive
 * whose beginning does not say so, `ZipParts` finds whether it is an office document.
 * @param head the first `headBytes` bytes, or all
 * @throws AppError file_type_refused for what may be a text of an older encoding
 */
export async function typeOfContent(head: Buffer, name: string, types: FileTypes): Promise<string> {
  const byName = types.ofName(name);
  const isPart = head.length === headBytes;
  const isNamedText = byName !== undefined && familyOf(byName) === 'text';
  const text = validText(head, isPart);
  if (text !== undefined && isNamedText) return markupOf(text, { isNamedText, isPart }) ?? byName;
  if (byName === pdf && hasPdfMark(head)) return pdf;
  const signature = await fileTypeFromBuffer(head);
  const known = usualType(signature?.mime ?? '');
  // Bytes that are not UTF-8 may still be text of an older encoding.
  const characters = text ?? head.toString('latin1');
  const isBinary = binaryCharacter.test(characters);
  if (known !== '' && known !== 'application/xml') {
    if (isNamedText && !isBinary) throw refused(`It begins like ${known}; if it is a text, save it as UTF-8.`);
    return known;
  }
  if (text === undefined && !isNamedText && hasPdfMark(head)) return pdf;
  if (known === '' && isBinary) return types.ofUnknown;
  return markupOf(characters, { isNamedText, isPart }) ?? (isNamedText ? byName : 'text/plain');
}

/** Whether the type is that of an archive, of which office documents are some. */
export function isArchive(type: string): boolean {
  return familyOf(type) === 'zip';
}

const pdf = 'application/pdf';

/** Bytes within which a PDF begins: mails and devices write something before it (ISO 32000-1, annex H, note 13). */
const pdfMarkBytes = 1_024;

function hasPdfMark(head: Buffer): boolean {
  return head.subarray(0, pdfMarkBytes).includes('%PDF-');
}

// oxlint-disable-next-line no-control-regex -- what no text has is what is looked for
const binaryCharacter = /[\u0000-\u0008\u000B\u000E-\u001A\u001C-\u001F]/u;

/**
 * The text of a document in UTF-8, or in UTF-16 with a byte order mark; undefined for what is none. @param isPart whether the text
 * continues
 */
function validText(head: Buffer, isPart: boolean): string | undefined {
  const [first, second] = head;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: isPart });
    return binaryCharacter.test(text) ? undefined : text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  }
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
