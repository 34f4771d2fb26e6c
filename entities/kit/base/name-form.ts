/** Anything but white space, controls, and what is blank: fillers, joiners and selectors, the empty Braille pattern. */
const visible = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\uFFF9-\uFFFB\u{1D159}]/v;

/** Whether a text shows anything: fillers, joiners and selectors alone show nothing. */
export function isVisible(text: string): boolean {
  return visible.test(text);
}

/** Characters that end a line in some program: also the vertical tab, the form feed, and the separators of Unicode. */
const lineBreak = /[\n\v\f\r\u0085\u2028\u2029]/;

export function hasLineBreak(text: string): boolean {
  return lineBreak.test(text);
}

const hidden = String.raw`[[\p{Cc}--\t]\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\uFFF9-\uFFFB]`;

/** Arabic and Syriac letters that join neither side, and those that join no following one (Joining_Type U and R). */
const joinsNeither = String.raw`\u0621\u0674\u0856\u08AD`;
const joinsNoNext = String.raw`\u0622-\u0625\u0627\u0629\u062F-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06C0\u06C3-\u06CB\u06CD\u06CF\u06D2\u06D3\u06D5\u06EE\u06EF\u0710\u0715-\u0719\u071E\u0728\u072A\u072C\u072F\u074D\u0759-\u075B\u076B\u076C\u0771\u0773\u0774\u0778\u0779\u0870-\u0882\u088E\u08AA-\u08AC\u08AE\u08B1\u08B2\u08B9`;
const cursive = String.raw`[\p{Lo}&&[\p{sc=Arab}\p{sc=Syrc}\p{sc=Nkoo}\p{sc=Mong}\p{sc=Mand}\p{sc=Rohg}]]`;

/** Hidden characters that change what is seen. */
const shaping = [
  // RFC 5892, appendix A.1: a non-joiner between letters that would join.
  String.raw`(?<=[${cursive}--[${joinsNeither}${joinsNoNext}]]\p{Mn}*)\u200C(?=\p{Mn}*[${cursive}--[${joinsNeither}]])`,
  // Between emoji, which become one: Unicode Technical Standard 51.
  String.raw`(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\u200D(?=\p{Extended_Pictographic})`,
  // The tags of a flag.
  String.raw`(?<=\u{1F3F4})[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]+\u{E007F}`,
];

/** Selectors, which say how the character before them is drawn: of an emoji, or of a Chinese character. */
const selectors = [
  String.raw`(?<=\p{Emoji})[\uFE0E\uFE0F]`,
  String.raw`(?<=\p{sc=Han})[\uFE00-\uFE02\u{E0100}-\u{E01EF}]`,
];

const parts = new RegExp(`(?<shaping>${shaping.join('|')})|(?<selector>${selectors.join('|')})|${hidden}`, 'gv');

type Hidden = 'shaping' | 'selector' | 'useless';

function replaceHidden(text: string, replacement: (found: string, sort: Hidden) => string): string {
  return text.replaceAll(parts, (found: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const [before = ''] = /.$/su.exec(text.slice(0, rest.at(-3) as number)) ?? [];
    if (groups['shaping'] !== undefined || (/[\u200C\u200D]/.test(found) && isVirama(before)))
      return replacement(found, 'shaping');
    return replacement(found, groups['selector'] === undefined ? 'useless' : 'selector');
  });
}

/**
 * Whether a mark has the combining class of viramas (9), after which joiners choose a form (RFC 5892, appendices A.1 and A.2). JavaScript
 * does not expose the class, but normalization puts a mark of class 8 before it and one of class 10 after it.
 */
function isVirama(mark: string): boolean {
  const [nukta, sheva] = ['\u3099', '\u05B0'];
  if (!/\p{M}/u.test(mark)) return false;
  return (
    `${mark}${nukta}`.normalize('NFD') === `${nukta}${mark}` && `${sheva}${mark}`.normalize('NFD') === `${mark}${sheva}`
  );
}

/**
 * The form in which names are compared: two names that look the same have the same one. NFC, letters of one case (full case folding),
 * single spaces and none at the ends, and no hidden characters but those that change what is seen.
 */
export function nameForm(name: string): string {
  const shown = replaceHidden(name.replaceAll(/\s/g, ' '), (found, sort) => (sort === 'shaping' ? found : ''));
  // Upper case of a dotless ı is the I of an i.
  const folded = shown.normalize('NFD').split('ı').map(caseFolded).join('ı');
  return folded.normalize('NFC').trim().replaceAll(/\s+/g, ' ');
}

/** Lower and upper case alone leave letters apart that are the same: ẞ and ss, σ and ς. */
function caseFolded(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase();
}

/**
 * Scripts with letters that look like those of another one. A name of two of them can imitate one of one script, for example with a
 * Cyrillic letter among Latin ones (Unicode Technical Standard 39, Mixed-Script Detection).
 */
const lookAlikes = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu'].map((name) => ({
  name,
  pattern: new RegExp(`\\p{Script=${name}}`, 'u'),
}));

/** Problem of a name, as the end of a sentence about it; undefined for a name as people write it. */
export function nameProblem(name: string): string | undefined {
  const useless: string[] = [];
  replaceHidden(name, (found, sort) => {
    if (sort === 'useless') useless.push(found);
    return found;
  });
  const [first] = useless;
  if (first !== undefined) return `contains an invisible character (${codePoint(first)})`;
  const used = lookAlikes.filter(({ pattern }) => pattern.test(name)).map((script) => script.name);
  return used.length > 1 ? `mixes ${used.join(' and ')} letters, which look alike; use those of one script` : undefined;
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
