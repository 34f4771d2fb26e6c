/** Beginnings of HTML documents (MIME Sniffing Standard, 7.1): a tag, ended by a space, a line end or `>`. */
const html = /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]/iu;

/** Those of them that make a page of a text, which Markdown for example has no use for. */
const htmlPage = /^<(?:!doctype html|html|head|script|iframe|style|title|body)[\s>]/iu;

/** Characters that show what begins. */
const beginning = 100;

/**
 * The type of a text that begins as a document of markup: a browser would take it for one. Under the name of a type of text, this is
 * only what a browser would run: pages and drawings.
 * @param isPart whether the document continues after the text
 */
export function markupOf(
  given: string,
  { isNamedText, isPart }: { readonly isNamedText: boolean; readonly isPart: boolean },
): string | undefined {
  const text = given.trimStart();
  const starts = startsOf(text);
  const root = text.slice(starts.at(-1), (starts.at(-1) ?? 0) + beginning);
  const name = /^<(?:[\w.-]+:)?(?<name>[\w.-]+)/u.exec(root)?.groups?.['name']?.toLowerCase();
  const isXml = text.startsWith('<?xml');
  const page = isNamedText ? htmlPage : html;
  const isPage = starts.some((start) => page.test(text.slice(start, start + beginning)));
  // Content after so many comments is unknown, and might be a page.
  const isHidden = isPart && root === '' && starts.length > 1;
  const isComment = !isNamedText && text.startsWith('<!--');
  if (name === 'svg') return 'image/svg+xml';
  if (!isXml && (isPage || isHidden || isComment)) return 'text/html';
  if (name === 'html') return 'application/xhtml+xml';
  return isXml && !isNamedText ? 'application/xml' : undefined;
}

/** Where the document, and what follows each declaration, instruction, comment and document type before its first element, begins. */
function startsOf(text: string): number[] {
  const starts = [0];
  for (let index: number | undefined = 0; index < text.length;) {
    index = endOfMarkup(text, index);
    if (index === undefined) break;
    while (/\s/u.test(text[index] ?? '')) index++;
    starts.push(index);
  }
  return starts;
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
