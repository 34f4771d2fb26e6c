import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import type { EmailView } from './content.ts';
import { anchor, documentOf, image, list, paragraph } from './html-parts.ts';

/** A card on a coloured page: small header, hero with the large logo, text, button, footer. */
export function modernTheme(view: EmailView): string {
  const { greeting, paragraphs, items, action, support, links, brand, subject } = view;
  const { colors, companyName, headerText, headerLogoUrl, logoUrl, productUrl } = brand;
  const logo = headerLogoUrl === '' ? escapeHtml(companyName) : image(headerLogoUrl, companyName, 32);
  const header =
    logo === '' && headerText === ''
      ? ''
      : `<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr>
<td style="padding:0 8px 16px;font-weight:bold;color:${colors.heading}">${productUrl === '' ? logo : anchor(productUrl, logo, colors.heading)}</td>
<td align="right" style="padding:0 8px 16px;font-size:13px;color:${colors.footerText}">${escapeHtml(headerText)}</td>
</tr></table>`;
  const hero =
    logoUrl === ''
      ? ''
      : `<tr><td align="center" style="padding:32px 24px;background-color:${colors.hero}">${image(logoUrl, companyName, 64)}</td></tr>`;
  const accent = colors.accent === '' ? '' : `border-top:4px solid ${colors.accent};`;
  const edge =
    brand.cardStyle === 'elevated'
      ? 'border-radius:12px;box-shadow:0 2px 12px rgba(20,23,30,0.12);'
      : 'border:1px solid rgba(20,23,30,0.16);';
  const button =
    action &&
    `<p style="margin:24px 0"><a href="${escapeHtml(action.url)}" style="display:inline-block;padding:12px 24px;border-radius:8px;background-color:${colors.button};color:${colors.buttonText};font-weight:bold;text-decoration:none">${escapeHtml(action.text)}</a></p>
<p style="margin:16px 0;font-size:13px;color:${colors.text}">${escapeHtml(action.trouble)}<br>${anchor(action.url, escapeHtml(action.url), colors.text)}</p>`;
  const small = `margin:0 0 8px;font-size:13px;color:${colors.footerText}`;
  const footer = [
    brand.tagline,
    [companyName, brand.companyAddress].filter((line) => line !== '').join(', '),
    brand.copyright,
  ]
    .filter((line) => line !== '')
    .map((line) => paragraph(line, small));
  const footerLinks = links.map(({ text, url }) => anchor(url, escapeHtml(text), colors.footerText)).join(' · ');
  return documentOf(
    subject,
    colors.body,
    `${header}
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background-color:${colors.card};overflow:hidden;${edge}${accent}">
${hero}<tr><td style="padding:32px 24px;font-size:16px;line-height:1.5;color:${colors.text}">
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3;color:${colors.heading}">${escapeHtml(subject)}</h1>
${[greeting, ...paragraphs].map((line) => paragraph(line, 'margin:0 0 16px')).join('\n')}
${list(items, colors.text)}
${button ?? ''}
${support === '' ? '' : paragraph(support, 'margin:16px 0 0')}
</td></tr></table>
<div style="padding:24px 8px;text-align:center">
${footer.join('\n')}
${footerLinks === '' ? '' : `<p style="${small}">${footerLinks}</p>`}
</div>`,
  );
}
