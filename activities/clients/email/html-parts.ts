import type { EmailItem } from './content.ts';
import { escapeHtml } from '#entities/kit/base/escape-html.ts';

export function paragraph(text: string, style: string): string {
  return `<p style="${style}">${escapeHtml(text)}</p>`;
}

/** A list; empty without entries. */
export function list(items: readonly EmailItem[], color: string): string {
  if (items.length === 0) return '';
  const entries = items.map(({ text, url }) => {
    const shown = escapeHtml(text);
    return `<li style="margin:0 0 12px">${url === undefined ? shown : anchor(url, shown, color)}</li>`;
  });
  return `<ul style="margin:0 0 16px;padding:0 0 0 20px">${entries.join('\n')}</ul>`;
}

/** @param html content of the link */
export function anchor(url: string, html: string, color: string): string {
  return `<a href="${escapeHtml(url)}" style="color:${color};overflow-wrap:anywhere">${html}</a>`;
}

export function image(url: string, text: string, height: number): string {
  return `<img src="${escapeHtml(url)}" alt="${escapeHtml(text)}" height="${height}" style="max-width:100%;height:${height}px;border:0">`;
}

/**
 * A page of at most 600 px. Its colours are those of the configuration on dark screens as well, because colours that programs make of them
 * may not be legible.
 */
export function documentOf(title: string, background: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light only">
<meta name="supported-color-schemes" content="light">
<title>${escapeHtml(title)}</title>
<style>:root { color-scheme: light only; }</style>
</head>
<body style="margin:0;padding:0;background-color:${background};font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<div style="max-width:600px;margin:0 auto;padding:24px 8px;overflow-wrap:anywhere">
${body}
</div>
</body>
</html>`;
}
