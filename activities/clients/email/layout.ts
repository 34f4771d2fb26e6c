import { readFileSync } from 'node:fs';
import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import type { EmailThemeName } from './content.ts';

/** By name: the text of a place, or one object of values for each repetition of a part. */
export interface LayoutValues {
  readonly [name: string]: string | readonly LayoutValues[];
}

/** Read at the first mail: `npm run derive` writes the files, and imports this one. */
const layouts = new Map<EmailThemeName, string>();

/** `<!-- part -->…<!-- /part -->`, or `{{place}}`. */
const partOrPlace = /<!-- (?<part>\w+) -->(?<inner>.*?)<!-- \/\k<part> -->|\{\{(?<place>\w+)\}\}/gs;

/**
 * The HTML of a mail. A part is repeated once for each of its objects, whose values take precedence inside it; without any it is
 * omitted. Texts are escaped and never read as parts or places.
 * @throws Error when a part or place has no value
 */
export function fillLayout(theme: EmailThemeName, values: LayoutValues): string {
  return fill(layoutOf(theme), values);
}

function fill(layout: string, values: LayoutValues): string {
  return layout.replaceAll(partOrPlace, (_match, part: string | undefined, inner: string, place: string) => {
    const value = values[part ?? place];
    if (part === undefined && typeof value === 'string') return escapeHtml(value);
    if (part !== undefined && typeof value === 'object')
      return value.map((own) => fill(inner, { ...values, ...own })).join('');
    throw new Error(`The layout of mails has no value for "${part ?? place}"`);
  });
}

function layoutOf(theme: EmailThemeName): string {
  const layout = layouts.get(theme) ?? readFileSync(new URL(`layout/${theme}.html`, import.meta.url), 'utf8');
  layouts.set(theme, layout);
  return layout;
}
