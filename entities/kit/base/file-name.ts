import { AppError } from './errors.ts';

/** Controls, separators of lines and paragraphs, and characters that change the direction of the text around them. */
const forbidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

const maxLength = 255;

/**
 * The name under which an uploaded file is kept: the last part of a path, in Unicode form NFC, without white space at its ends and dots
 * at its end. It is text for people, never part of a path or a key.
 * @throws AppError invalid_input for a name that is empty or too long, or that contains characters that nobody sees
 */
export function fileName(given: string): string {
  const name = (given.split(/[/\\]/u).at(-1) ?? '')
    .normalize('NFC')
    .trim()
    .replace(/[.\s]+$/u, '');
  if (name === '') throw refusal('is empty');
  if (name.length > maxLength) throw refusal(`is longer than ${maxLength} characters`);
  const [hidden] = forbidden.exec(name) ?? [];
  if (hidden === undefined) return name;
  const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw refusal(`contains the character U+${code}, which is invisible`);
}

function refusal(reason: string): AppError {
  return new AppError('invalid_input', `The name of the file ${reason}; rename the file.`);
}

/** The extension of a name in lower case, without the dot; empty if it has none. */
export function extensionOf(name: string): string {
  return /[^.]\.(?<extension>[^.]+)$/u.exec(name)?.groups?.['extension']?.toLowerCase() ?? '';
}
