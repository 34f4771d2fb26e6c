import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import mjml2html from 'mjml';
import { emailThemes } from '#activities/clients/email/content.ts';

const folder = 'activities/clients/email/layout';

/**
 * The layouts of mails, rendered from MJML: nested tables, with conditional comments for the engine of Word, in which Outlook shows
 * mails. By path from the root of the repository.
 * @throws Error when MJML does not know an element or an attribute
 */
export async function renderMailLayouts(): Promise<Readonly<Record<string, string>>> {
  const entries = emailThemes.map(async (theme) => {
    const path = `${folder}/${theme}`;
    return [`${path}.html`, await render(join(import.meta.dirname, '..', '..', `${path}.mjml`))] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function render(filePath: string): Promise<string> {
  // MJML rejects a place where it expects a color.
  const standIns = new Map<string, string>();
  const standInFor = (place: string) => {
    const color = standIns.get(place) ?? `#c010${(standIns.size + 1).toString(16).padStart(2, '0')}`;
    standIns.set(place, color);
    return color;
  };
  const { html } = await mjml2html(await readFile(filePath, 'utf8'), {
    filePath,
    fonts: {},
    ignoreIncludes: false,
    preprocessors: [(source) => source.replaceAll(/\{\{\w+Color\}\}/g, standInFor)],
    validationLevel: 'strict',
  });
  const lines = html.split('\n').map((line) => line.trim());
  const text = `${lines.filter((line) => line !== '').join('\n')}\n`;
  return [...standIns].reduce((whole, [place, color]) => whole.replaceAll(color, place), text);
}
