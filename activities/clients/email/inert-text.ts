const maxLength = 100;

/**
 * A name that somebody chose, for a mail to somebody else: one line, of a length that people have, in which no program finds a link or
 * an address.
 */
export function inertText(name: string): string {
  const line = oneLine(name);
  return withoutLinks(line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line);
}

/** A text that contains what others have written, for a mail: one line in which no program finds a link or an address. */
export function inertLine(text: string): string {
  return withoutLinks(oneLine(text));
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

function withoutLinks(line: string): string {
  return (
    line
      .replaceAll(/:\/\/+/g, ': ')
      // Between digits it is part of a number.
      .replaceAll(/(?<=[^\s.])\.(?=[^\s.])(?<!\d\.(?=\d))/g, '. ')
      // At the beginning of a word it mentions somebody.
      .replaceAll(/(?<=\S)@/g, ' at ')
  );
}
