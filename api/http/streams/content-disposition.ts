import { create } from 'content-disposition';

export type Disposition = 'attachment' | 'inline';

/** Types that a browser shows without running anything of them. */
const inlineTypes: ReadonlySet<string> = new Set([
  'application/pdf',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);

/** A media type without parameters (RFC 9110, section 8.3.1). */
const mediaType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/** The media type with which content is sent; bytes of no type for what is none. */
export function mediaTypeOf(contentType: string): string {
  return mediaType.test(contentType) ? contentType.toLowerCase() : 'application/octet-stream';
}

/** How a file is presented: inline only if that was asked for and its content has one of the harmless types. */
export function dispositionOf(contentType: string, asked: Disposition): Disposition {
  return asked === 'inline' && inlineTypes.has(mediaTypeOf(contentType)) ? 'inline' : 'attachment';
}

/**
 * The header Content-Disposition (RFC 6266). A name that old clients may misread, such as one with quotes, escapes, separators of paths or
 * letters beyond ASCII, is sent in full (RFC 8187) beside a harmless form of it.
 */
export function contentDisposition(type: Disposition, name: string): string {
  const text = name.toWellFormed();
  const fallback = text.normalize('NFKD').replaceAll(/[^\x20-\x7e]|["%/\\]/g, '_');
  return create(text, { type, fallback });
}
