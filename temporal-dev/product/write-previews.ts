import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { previewMails } from '#activities/email/preview-mails.ts';
import { configFileArgument, loadConfiguration } from '#config/reading/load-configuration.ts';
import { escapeHtml } from '#entities/kit/base/escape-html.ts';

/** Values of required fields that say nothing about mails, where the configuration has none. */
const elsewhere = {
  CORE_SERVER_DEV: 'true',
  CORE_SERVER_LISTEN: '127.0.0.1:0',
  CORE_DB_PRIMARYDBSOURCE: 'postgres://localhost/core',
  CORE_JOBQUEUE_CONNECTIONURI: 'temporal://localhost:7233/default',
  CORE_AUTHZ_HOSTURL: 'http://localhost:8080',
  CORE_AUTH_TOKEN_KID: 'preview',
  CORE_AUTH_TOKEN_ISSUER: 'http://localhost:17608',
  CORE_AUTH_TOKEN_AUDIENCE: 'http://localhost:17608',
};

/**
 * Writes every mail in every theme, as HTML and as plain text, and a page with all of them.
 * @param args `--config FILE`, as of the server
 * @returns path of the page
 */
export async function writePreviews(folder: string, args: readonly string[]): Promise<string> {
  const file = configFileArgument(args);
  const environment = { ...elsewhere, ...process.env };
  const { config } = await loadConfiguration({ environment, ...(file === undefined ? {} : { file }) });
  const previews = previewMails(config, new Date());
  await mkdir(folder, { recursive: true });
  const entries: string[] = [];
  for (const { template, theme, email } of previews) {
    const name = `${template}.${theme}`;
    await writeFile(join(folder, `${name}.html`), email.html);
    await writeFile(join(folder, `${name}.txt`), email.text);
    entries.push(
      `<h2>${escapeHtml(email.subject)}</h2><p>${name}, from ${escapeHtml(email.from)}; <a href="${name}.txt">as text</a></p>
<iframe src="${name}.html" title="${name}" width="640" height="700"></iframe>`,
    );
  }
  const page = join(folder, 'index.html');
  const document = `<!doctype html><html lang="en"><meta charset="utf-8"><title>E-mails</title>${entries.join('\n')}</html>`;
  await writeFile(page, document);
  return page;
}
