/** NFKC (Unicode Standard Annex 15), without white space at the ends, and with single spaces. */
export function nameForm(name: string): string {
  return name.normalize('NFKC').trim().replaceAll(/\s+/gu, ' ');
}

/** Characters that are not seen: controls, format characters such as zero-width joiners and directions, fillers, variation selectors. */
const invisible = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;

/**
 * Scripts with letters that look like those of another one. A name of two of them can imitate one of one script, for example with a
 * Cyrillic letter among Latin ones (Unicode Technical Standard 39, Mixed-Script Detection).
 */
const lookAlikes = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu'].map((name) => ({
  name,
  pattern: new RegExp(`\\p{Script=${name}}`, 'u'),
}));

/** What is wrong with a name in its stored form, as the end of a sentence about it; undefined for a name as people write it. */
export function nameProblem(name: string): string | undefined {
  const [hidden] = invisible.exec(name) ?? [];
  if (hidden !== undefined) return `contains an invisible character (${codePoint(hidden)})`;
  const used = lookAlikes.filter(({ pattern }) => pattern.test(name)).map((script) => script.name);
  return used.length > 1 ? `mixes ${used.join(' and ')} letters, which look alike; use those of one script` : undefined;
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
