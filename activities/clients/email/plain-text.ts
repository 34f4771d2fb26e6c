import type { EmailView } from './content.ts';

/** The mail for programs that show no HTML. */
export function plainText({ greeting, paragraphs, items, action, support, links, brand }: EmailView): string {
  const { tagline, companyName, companyAddress, copyright } = brand;
  return [
    greeting,
    ...paragraphs,
    items.map(({ text, url }) => `- ${text}${url === undefined ? '' : `\n  ${url}`}`).join('\n'),
    ...(action ? [`${action.text}: ${action.url}`] : []),
    support,
    ...links.map(({ text, url }) => `${text}: ${url}`),
    tagline,
    [companyName, companyAddress].filter((line) => line !== '').join('\n'),
    copyright,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
