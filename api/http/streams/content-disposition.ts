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

/** The header Content-Disposition (RFC 6266), with the name in ASCII for old clients and in full (RFC 8187). */
export function contentDisposition(disposition: Disposition, name: string): string {
  const text = name.toWellFormed();
  const ascii = text.normalize('NFKD').replaceAll(/[^\x20-\x7e]|["%/\\]/g, '_');
  return `${disposition}; filename="${ascii}"; filename*=UTF-8''${extendedValue(text)}`;
}

/** Everything but `attr-char` of RFC 8187, section 3.2.1, is encoded; `encodeURIComponent` leaves four characters more. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replaceAll(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
