const maxLength = 100;

/**
 * A name that somebody chose, for a mail to somebody else: one line, of a length that people have, in which no program finds a link or
 * an address.
 */
export function inertText(name: string): string {
  const line = name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const cut = line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
  return cut
    .replaceAll(/:\/\/+/g, ': ')
    .replaceAll(/(?<=[^\s.])\.(?=[^\s.])/g, '. ')
    .replaceAll('@', ' at ');
}
