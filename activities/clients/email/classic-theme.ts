import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import type { EmailView } from './content.ts';
import { anchor, documentOf, image, list, paragraph } from './html-parts.ts';

/** A letter: the logo, the text, a line, and the footer below it. */
export function classicTheme(view: EmailView): string {
  const { greeting, paragraphs, items, action, support, links, brand, subject } = view;
  const { colors, companyName } = brand;
  const logoUrl = brand.headerLogoUrl || brand.logoUrl;
  const logo = logoUrl === '' ? escapeHtml(companyName) : image(logoUrl, companyName, 40);
  const button =
    action &&
    `<p style="margin:24px 0"><a href="${escapeHtml(action.url)}" style="display:inline-block;padding:10px 20px;background-color:${colors.button};color:${colors.buttonText};text-decoration:none">${escapeHtml(action.text)}</a></p>
<p style="margin:16px 0;font-size:13px">${escapeHtml(action.trouble)}<br>${anchor(action.url, escapeHtml(action.url), colors.text)}</p>`;
  const small = `margin:0 0 8px;font-size:13px;color:${colors.footerText}`;
  const footer = [[companyName, brand.companyAddress].filter((line) => line !== '').join(', '), brand.copyright].filter(
    (line) => line !== '',
  );
  const footerLinks = links.map(({ text, url }) => anchor(url, escapeHtml(text), colors.footerText)).join(' | ');
  const accent = colors.accent === '' ? '' : `border-top:4px solid ${colors.accent};`;
  return documentOf(
    subject,
    colors.card,
    `<div style="${accent}padding:24px 8px;font-size:16px;line-height:1.5;color:${colors.text}">
${logo === '' ? '' : `<p style="margin:0 0 24px;font-weight:bold;color:${colors.heading}">${logo}</p>`}
${[greeting, ...paragraphs].map((line) => paragraph(line, 'margin:0 0 16px')).join('\n')}
${list(items, colors.text)}
${button ?? ''}
${support === '' ? '' : paragraph(support, 'margin:16px 0 0')}
</div>
<div style="margin:0 8px;padding:16px 0;border-top:1px solid ${colors.footerText}">
${footer.map((line) => paragraph(line, small)).join('\n')}
${footerLinks === '' ? '' : `<p style="${small}">${footerLinks}</p>`}
</div>`,
  );
}
