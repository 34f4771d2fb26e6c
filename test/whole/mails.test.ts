import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../kit/http/browser.ts';
import { mailBrands, mailsOf } from '../kit/mail-previews.ts';
import { recordTried } from '../kit/tried.ts';

const widths = [320, 600] as const;
const schemes = ['light', 'dark'] as const;

/** WCAG 2.2, section 1.4.3, level AA. */
const minContrast = 4.5;

/** Most programs show a mail as a whole up to here. */
const maxBytes = 100_000;

/** Measures the page: what is wider than it, and texts that are hard to read, each with its colours. */
const measure = `(() => {
  const channels = (color) => {
    const [r = 0, g = 0, b = 0, a = 1] = (color.match(/[\\d.]+/g) ?? []).map(Number);
    return { r, g, b, a };
  };
  const over = (front, back) => {
    const mix = (name) => front[name] * front.a + back[name] * (1 - front.a);
    return { r: mix('r'), g: mix('g'), b: mix('b'), a: 1 };
  };
  const backgroundOf = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const layer = channels(getComputedStyle(at).backgroundColor);
      if (layer.a > 0) layers.push(layer);
      if (layer.a === 1) break;
    }
    // What nothing covers is the paper of the program.
    return layers.reduceRight((back, front) => over(front, back), { r: 255, g: 255, b: 255, a: 1 });
  };
  const luminance = ({ r, g, b }) => {
    const [red, green, blue] = [r, g, b].map((part) => part / 255).map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (front, back) => {
    const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = [];
  let count = 0;
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    if (node.textContent.trim() === '' || !element.checkVisibility()) continue;
    count++;
    const back = backgroundOf(element);
    const ratio = contrast(over(channels(getComputedStyle(element).color), back), back);
    if (ratio < ${minContrast}) faint.push(node.textContent.trim().slice(0, 40) + ': ' + ratio.toFixed(2));
  }
  const wide = [...document.body.querySelectorAll('*')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
    .map((element) => element.tagName + ': ' + element.textContent.trim().slice(0, 40));
  return { count, faint, wide, width: document.documentElement.scrollWidth };
})()`;

let browser: Browser | string;
beforeAll(async () => {
  browser = await Browser.start();
});
afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
});

describe.each(mailBrands)('%s mails', (brand) => {
  test('are small', async () => {
    for (const { template, theme, email } of await mailsOf(brand))
      expect(Buffer.byteLength(email.html), `${template} ${theme}`).toBeLessThan(maxBytes);
  });

  test.for(widths.flatMap((width) => schemes.map((scheme) => ({ width, scheme }))))(
    'fit $width pixels and can be read on $scheme screens, in every theme',
    async ({ width, scheme }, context) => {
      const page = typeof browser === 'string' ? context.skip(browser) : browser;
      await page.send('Emulation.setDeviceMetricsOverride', {
        width,
        height: 800,
        deviceScaleFactor: 1,
        mobile: false,
      });
      await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
      const { frameTree } = await page.send('Page.getFrameTree');
      const problems: string[] = [];
      const mails = await mailsOf(brand);
      for (const { template, theme, email } of mails) {
        await page.send('Page.setDocumentContent', { frameId: frameTree.frame.id, html: email.html });
        const { count, faint, wide, width: found } = await page.evaluate(measure);
        const name = `${template} ${theme}`;
        if (count < 2) problems.push(`${name} has ${count} texts`);
        problems.push(...faint.map((what: string) => `${name} is hard to read: ${what}`));
        if (found > width) problems.push(`${name} is ${found} wide: ${wide.join('; ')}`);
      }
      expect(problems).toEqual([]);
      recordTried('mails shown in Chromium', mails.length);
    },
  );
});
